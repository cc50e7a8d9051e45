"""The WebSocket API of MindStudio Insight, as far as it shows one ``visualize_data.bin``."""

from .catalog import LATEST, InsightCatalog, insight_catalog
from .model import Command, ErrorCode, Event, Generation
from .schema import erratum_at

__all__ = [
    "LATEST",
    "Command",
    "ErrorCode",
    "Event",
    "Generation",
    "InsightCatalog",
    "erratum_at",
    "insight_catalog",
]
