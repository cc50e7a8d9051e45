"""Graphs of the graph engine with the tasks of their training trace, as text and as a picture."""
