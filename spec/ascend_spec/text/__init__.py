"""Text deliverables: the CSV files of msprof and of the PyTorch adapter, column by column."""

from .catalog import TextCatalog
from .csv_file import CsvFile
from .model import (
    Circumstances,
    Condition,
    CsvColumn,
    NumberFormat,
    Output,
    PmuPlace,
    Rename,
    Scene,
    Slicing,
    SortKey,
    Writer,
)
from .pmu import PmuGroup, PmuGroups, PmuMetric

__all__ = [
    "Circumstances",
    "Condition",
    "CsvColumn",
    "CsvFile",
    "NumberFormat",
    "Output",
    "PmuGroup",
    "PmuGroups",
    "PmuMetric",
    "PmuPlace",
    "Rename",
    "Scene",
    "Slicing",
    "SortKey",
    "TextCatalog",
    "Writer",
]
