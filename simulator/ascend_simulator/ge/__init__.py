"""Graphs with the tasks of their training trace, executed on the streams of a device."""
