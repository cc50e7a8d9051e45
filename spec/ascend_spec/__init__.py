"""The formats of Ascend NPU profiles, written down once, as data."""

from .db import Catalog, Schema
from .spec import Spec, catalog, load_spec, packaged

__all__ = ["Catalog", "Schema", "Spec", "catalog", "load_spec", "packaged"]
