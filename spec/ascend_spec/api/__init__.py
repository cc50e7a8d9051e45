"""The WebSocket API of MindStudio Insight, as far as it shows one ``visualize_data.bin``."""

from .catalog import LATEST, ApiCatalog
from .model import Command, ErrorCode, Event, Generation

__all__ = [
    "LATEST",
    "ApiCatalog",
    "Command",
    "ErrorCode",
    "Event",
    "Generation",
]
