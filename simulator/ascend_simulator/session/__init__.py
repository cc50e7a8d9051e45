"""One rank's session: what happened in the world, on the host and in memory, as one Capture."""
