"""The graph engine's profiling: what options collect, and what is inserted into graphs."""
