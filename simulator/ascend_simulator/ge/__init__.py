"""The graph engine's profiling as models that run."""
