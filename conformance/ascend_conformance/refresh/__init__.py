"""What the public sources of exporters and viewers state of their formats, read from a checkout.

Sources are read, never run: constants of C++ headers by a small reader of initialisers, those of
Python by its syntax tree.
"""

from .stated import Stated as Stated
from .stated import StatedColumn as StatedColumn
from .stated import StatedTable as StatedTable
from .stated import Unreadable as Unreadable
