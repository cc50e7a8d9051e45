"""What the folders and files of a profile are called: names that are written and recognised.

One document for each producer, ``parts.yaml`` for what changes in names.
"""

from .catalog import Layout as Layout
from .catalog import Match as Match
from .catalog import NamedFile as NamedFile
from .catalog import NamedFolder as NamedFolder
