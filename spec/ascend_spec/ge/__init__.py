"""The graph engine's profiling: options, calls, inserted tasks, events, and what reports what."""

from .catalog import GeCatalog as GeCatalog
from .options import Entry as Entry
from .options import EntryOption as EntryOption
from .options import Metric as Metric
from .options import Option as Option
from .options import OptionError as OptionError
from .options import ProfilingType as ProfilingType
from .options import SwitchBit as SwitchBit
from .options import Variable as Variable
