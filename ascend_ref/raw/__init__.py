"""Raw ``PROF_*`` folders and the files of ``FRAMEWORK``: read in bulk, shown readable."""

from .damage import Damage as Damage
from .damage import Unreadable as Unreadable
from .tree import find_folders as find_folders
from .tree import kind_of as kind_of
