"""Raw captures of MindSpore's profiler, and the intermediate files that are made of them."""
