"""The REST interface of MindSpore's viewer, for a folder with intermediate files."""
