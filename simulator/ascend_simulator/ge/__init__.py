"""What the graph engine's profiling leaves of a simulated run."""
