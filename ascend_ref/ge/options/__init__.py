"""Options of the graph engine's profiling: whether it is on, what is in effect, what follows."""
