"""Raw files of CANN's profiler: the record streams of a host and of devices, judged together."""
