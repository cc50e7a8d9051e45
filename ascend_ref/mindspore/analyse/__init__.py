"""What the analysers of MindSpore's viewer answer, from intermediate files."""
