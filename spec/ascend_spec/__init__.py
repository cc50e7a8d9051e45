"""The formats of Ascend NPU profiles, written down once, as data."""

from .db import Catalog, Schema
from .spec import Spec, catalog, current, load_spec, packaged, per_spec, using

__all__ = [
    "Catalog",
    "Schema",
    "Spec",
    "catalog",
    "current",
    "load_spec",
    "packaged",
    "per_spec",
    "using",
]
