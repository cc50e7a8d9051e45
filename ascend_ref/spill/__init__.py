"""Columns in temporary files, so that memory does not grow with the length of a recording."""

from .columns import Bytes as Bytes
from .columns import Spill as Spill
from .columns import batches as batches
from .joining import counterparts as counterparts
from .joining import last_begun as last_begun
from .joining import ranks as ranks
from .memory import InMemory as InMemory
from .sorting import first_equal as first_equal
from .sorting import first_of_each as first_of_each
from .sorting import is_ascending as is_ascending
from .sorting import run_begins as run_begins
from .sorting import sorted_rows as sorted_rows
from .table import spilled_column as spilled_column
from .table import spilled_table as spilled_table
