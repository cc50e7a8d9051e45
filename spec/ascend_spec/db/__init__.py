"""The databases of msprof, the PyTorch adapter and the cluster analysis: tables and enums."""

from .catalog import Catalog as Catalog
from .catalog import Schema as Schema
