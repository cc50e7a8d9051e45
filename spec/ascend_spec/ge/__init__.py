"""The graph engine's profiling: options, calls, inserted tasks, events, and what reports what."""

from .catalog import GeCatalog as GeCatalog
from .components import Component as Component
from .components import ComponentLayer as ComponentLayer
from .life_cycle import ArgumentCheck as ArgumentCheck
from .life_cycle import CallTransition as CallTransition
from .life_cycle import DataType as DataType
from .life_cycle import FunctionArgument as FunctionArgument
from .life_cycle import GeFunction as GeFunction
from .life_cycle import Mode as Mode
from .life_cycle import ProfilingState as ProfilingState
from .life_cycle import Reading as Reading
from .life_cycle import ReturnCode as ReturnCode
from .life_cycle import StateName as StateName
from .life_cycle import commanded_bits as commanded_bits
from .life_cycle import effective_bits as effective_bits
from .life_cycle import supported_mask as supported_mask
from .life_cycle import transition_in as transition_in
from .options import Entry as Entry
from .options import EntryOption as EntryOption
from .options import Metric as Metric
from .options import Option as Option
from .options import OptionError as OptionError
from .options import ProfilingType as ProfilingType
from .options import SwitchBit as SwitchBit
from .options import Variable as Variable
