"""What the folders and files of a profile are called: names that are written and recognised.

One document for each producer, ``parts.yaml`` for what changes in names.
"""

from .catalog import Layout, Match, NamedFile, NamedFolder
from .names import Name, Part

__all__ = ["Layout", "Match", "Name", "NamedFile", "NamedFolder", "Part"]
