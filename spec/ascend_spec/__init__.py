"""The formats of Ascend NPU profiles, written down once, as data."""

from .catalog import Catalog, Schema, catalog

__all__ = ["Catalog", "Schema", "catalog"]
