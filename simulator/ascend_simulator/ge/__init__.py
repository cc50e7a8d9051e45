"""The graph engine's profiling as models that run, graphs on a device, and texts of a run."""
