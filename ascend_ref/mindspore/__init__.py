"""MindSpore's profiler: its raw files both ways, and the intermediate files that parsers make."""
