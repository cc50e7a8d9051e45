"""What all families of formats share: sources, grades, errata, bounds in time and value types."""

from .bounds import DAYS, Axis, Bounds, bounds_of
from .facts import Decision, Erratum, Grade, Source, Switch, best_grade, decisions
from .folder import Document, Folder, SpecError, packaged, parse
from .loader import Loader
from .products import Capability, DataSet, Product, Products, WithoutValue
from .values import StorageClass, ValueType

__all__ = [
    "DAYS",
    "Axis",
    "Bounds",
    "Capability",
    "DataSet",
    "Decision",
    "Document",
    "Erratum",
    "Folder",
    "Grade",
    "Loader",
    "Product",
    "Products",
    "Source",
    "SpecError",
    "StorageClass",
    "Switch",
    "ValueType",
    "WithoutValue",
    "best_grade",
    "bounds_of",
    "decisions",
    "packaged",
    "parse",
]
