"""Memory of compiled graphs, as the graph engine planned it (raw-prof 4.4, ge-profiling 5.4)."""

from __future__ import annotations

KIND = "static_op_mem"
"""The kind of files, and their record of the recording."""
TOTAL = "TOTAL"
"""What exporters call the memory of a whole graph, which has no name (upstream-msprof
StaticOpMemParser)."""
WHOLE = "0"
"""In place of the name of a part of a graph."""
TO_THE_END = (1 << 32) - 2
"""Number of the operator at the end of what is kept as long as the graph (upstream-msprof
StaticOpMemBean)."""
