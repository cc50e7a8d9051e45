"""Columns in temporary files, so that memory does not grow with the length of a recording."""

from .columns import Spill as Spill
from .columns import batches as batches
from .sorting import first_equal as first_equal
from .sorting import first_of_each as first_of_each
from .sorting import is_ascending as is_ascending
from .sorting import sorted_rows as sorted_rows
from .table import spilled_table as spilled_table
