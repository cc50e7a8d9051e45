"""What devices, runtime and frameworks write before any exporter: ``PROF_*`` and ``FRAMEWORK``."""

from .catalog import RawCatalog as RawCatalog
from .model import DONE as DONE
from .model import MARKS as MARKS
from .model import Chip as Chip
from .model import Member as Member
from .model import RawFile as RawFile
from .model import Side as Side
from .text import Grammar as Grammar
from .text import TextPart as TextPart
