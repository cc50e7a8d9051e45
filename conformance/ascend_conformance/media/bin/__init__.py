"""The referee of ``visualize_data.bin``: facts of a file, rules over them, and their self-test."""
