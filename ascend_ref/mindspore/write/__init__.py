"""From a capture to the raw files that MindSpore's profiler leaves of it, of any day."""
