"""The texts that the graph engine writes about the host, both ways (ge-profiling 5.10)."""

from .forms import side_of as side_of
from .made import Scope as Scope
from .made import dump_of_scopes as dump_of_scopes
from .read import BadLine as BadLine
from .read import is_dump as is_dump
from .read import read_dump_lines as read_dump_lines
from .read import read_dumps as read_dumps
from .records import DumpRecord as DumpRecord
from .records import TextDump as TextDump
from .show import show_dumps as show_dumps
from .write import dump_lines as dump_lines
