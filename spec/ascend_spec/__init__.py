"""The formats of Ascend NPU profiles, written down once, as data."""

from .db import Catalog, Schema
from .spec import (
    Spec,
    api_catalog,
    bin_catalog,
    catalog,
    current,
    document_catalog,
    layout_catalog,
    load_spec,
    packaged,
    per_spec,
    recording_catalog,
    text_catalog,
    timeline_catalog,
    using,
)

__all__ = [
    "Catalog",
    "Schema",
    "Spec",
    "api_catalog",
    "bin_catalog",
    "catalog",
    "current",
    "document_catalog",
    "layout_catalog",
    "load_spec",
    "packaged",
    "per_spec",
    "recording_catalog",
    "text_catalog",
    "timeline_catalog",
    "using",
]
