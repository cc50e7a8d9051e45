"""What options of the graph engine's profiling record, asked on the command line."""
