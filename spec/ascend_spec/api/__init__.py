"""The WebSocket API of MindStudio Insight, as far as it shows one ``visualize_data.bin``."""

from .catalog import LATEST as LATEST
from .catalog import ApiCatalog as ApiCatalog
from .model import Command as Command
from .model import ErrorCode as ErrorCode
from .model import Event as Event
from .model import Generation as Generation
