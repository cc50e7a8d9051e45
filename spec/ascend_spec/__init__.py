"""The formats of Ascend NPU profiles, written down once, as data.

What a family of formats needs is imported when it is asked for: a short command uses one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from .db import Catalog, Schema

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


def __getattr__(name: str) -> object:
    """``Catalog`` and ``Schema``, from :mod:`ascend_spec.db`."""
    if name in {"Catalog", "Schema"}:
        from . import db

        return getattr(db, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
