"""What stands in blocks in place of figures, and paths whose figures are not what others are."""

from __future__ import annotations

NOT_AVAILABLE = "NA"
"""In place of a figure that is not known."""
NOT_COUNTED = float(1 << 64)
"""In place of cycles that no metric asked for: the greatest number of 64 bits, as a double."""
MAIN_MEMORY = (0, 1)
"""Paths between L2 and main memory: since E3 L2 counts their requests itself, before they were sums
over tables (bin-blocks.md H6).
"""
THEORETICAL = {1: "(theoretical value)"}
"""By number of a path of 910B: what stands behind its figures, which are not counted."""
