"""What the PyTorch adapter records by itself, both ways: the files ``torch.*`` of ``FRAMEWORK``."""
