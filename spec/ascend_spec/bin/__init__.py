"""``visualize_data.bin``: what the file of MindStudio Insight's operator pages is made of."""

from .catalog import BinCatalog as BinCatalog
from .container import ALIGNMENT as ALIGNMENT
from .container import FILE as FILE
from .container import FILLER as FILLER
from .container import HEADER as HEADER
from .container import HEADER_SIZE as HEADER_SIZE
from .container import LEGACY_VERSION as LEGACY_VERSION
from .container import PATH_SECTION as PATH_SECTION
from .container import PATH_SECTION_SIZE as PATH_SECTION_SIZE
from .container import PATH_TYPE as PATH_TYPE
from .container import VERSIONED_TYPE as VERSIONED_TYPE
from .model import BlockType as BlockType
from .model import Epoch as Epoch
from .records import CACHE_RECORD as CACHE_RECORD
from .records import CACHE_RECORDS as CACHE_RECORDS
from .records import MEMORY_TRACE as MEMORY_TRACE
from .records import SECTION_LENGTH as SECTION_LENGTH
from .records import TRACE_RECORD as TRACE_RECORD
