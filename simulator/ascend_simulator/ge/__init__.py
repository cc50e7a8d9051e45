"""The graph engine's profiling as models that run, and graphs on the streams of a device."""
