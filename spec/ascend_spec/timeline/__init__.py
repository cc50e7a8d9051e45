"""Chrome-trace timelines: what msprof and the PyTorch adapter write into their JSON files."""

from .catalog import TimelineCatalog as TimelineCatalog
from .model import Arg as Arg
from .model import EventKey as EventKey
from .model import EventKind as EventKind
from .model import FlowEnd as FlowEnd
from .model import FlowId as FlowId
from .model import FlowIdPart as FlowIdPart
from .model import FlowKind as FlowKind
from .model import Layer as Layer
from .model import MetadataEvent as MetadataEvent
from .model import Phase as Phase
from .model import PidRule as PidRule
from .model import Thread as Thread
from .model import TimelineFile as TimelineFile
from .model import WriterForm as WriterForm
from .schema import document_schema as document_schema
from .schema import event_schema as event_schema
