"""What MindSpore's profiler writes: raw files, and what its parsers make of them."""

from .analysers import Analyser as Analyser
from .analysers import AnswerColumn as AnswerColumn
from .analysers import AnswerSwitch as AnswerSwitch
from .catalog import MindSporeCatalog as MindSporeCatalog
from .model import REDUCTION_BEGIN as REDUCTION_BEGIN
from .model import REDUCTION_END as REDUCTION_END
from .model import TICKS as TICKS
from .model import CaptureFile as CaptureFile
from .model import DatedName as DatedName
from .model import Generation as Generation
from .model import IntermediateFile as IntermediateFile
from .model import LineEnd as LineEnd
from .model import LineKind as LineKind
from .model import Method as Method
from .model import TableColumn as TableColumn
from .proposals import Proposal as Proposal
