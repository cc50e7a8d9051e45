"""The databases of msprof, the PyTorch adapter and the cluster analysis: tables and enums."""

from .catalog import Catalog, Schema
from .model import (
    CARRIERS,
    Carrier,
    Column,
    Enum,
    ForeignObject,
    Member,
    Presence,
    Reading,
    Revision,
    Table,
)

__all__ = [
    "CARRIERS",
    "Carrier",
    "Catalog",
    "Column",
    "Enum",
    "ForeignObject",
    "Member",
    "Presence",
    "Reading",
    "Revision",
    "Schema",
    "Table",
]
