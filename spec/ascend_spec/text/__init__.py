"""Text deliverables: the CSV files of msprof and of the PyTorch adapter, column by column."""

from .catalog import TextCatalog as TextCatalog
from .csv_file import CsvFile as CsvFile
from .model import Condition as Condition
from .model import CsvColumn as CsvColumn
from .model import NumberFormat as NumberFormat
from .model import Output as Output
from .model import Scene as Scene
from .model import SortKey as SortKey
from .model import Writer as Writer
from .pmu import PmuGroup as PmuGroup
from .pmu import PmuMetric as PmuMetric
