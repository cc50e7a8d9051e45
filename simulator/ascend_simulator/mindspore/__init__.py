"""What MindSpore's profiler leaves of a simulated run, and what is true of it."""
