"""The WebSocket API of MindStudio Insight, as far as it shows one ``visualize_data.bin``."""

from .catalog import LATEST, InsightCatalog, insight_catalog
from .model import Command, ErrorCode, Event, Generation

__all__ = [
    "LATEST",
    "Command",
    "ErrorCode",
    "Event",
    "Generation",
    "InsightCatalog",
    "insight_catalog",
]
