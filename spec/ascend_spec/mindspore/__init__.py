"""What MindSpore's profiler writes: raw files, and what its parsers make of them."""

from .analysers import Analyser as Analyser
from .analysers import AnswerColumn as AnswerColumn
from .analysers import AnswerSwitch as AnswerSwitch
from .catalog import MindSporeCatalog as MindSporeCatalog
from .framework import TAGGED_RECORDS as TAGGED_RECORDS
from .life_cycle import Transition as Transition
from .life_cycle import transition_on as transition_on
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
from .openapi import openapi_document as openapi_document
from .openapi import refusals_of as refusals_of
from .openapi import row_analysers as row_analysers
from .proposals import Proposal as Proposal
from .requests import Argument as Argument
from .requests import Refusal as Refusal
from .requests import Request as Request
