"""Defects of CSV files and JSON documents, by what they are about."""

from . import cells as cells
from . import clocks as clocks
from . import documents as documents
from . import files as files
from . import kernels as kernels
from . import memory as memory
from . import others as others
from . import statistics as statistics
from . import steps as steps
