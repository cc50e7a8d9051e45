"""Columns in temporary files, so that memory does not grow with the length of a recording."""

from .columns import Spill, batches
from .sorting import first_equal, first_of_each, is_ascending, sorted_rows
from .table import spilled_table

__all__ = [
    "Spill",
    "batches",
    "first_equal",
    "first_of_each",
    "is_ascending",
    "sorted_rows",
    "spilled_table",
]
