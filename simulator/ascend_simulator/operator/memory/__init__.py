"""Global memory as the blocks of a kernel access it, and the L2 cache before it."""

from .accesses import Lines, Transfers, lines_of, transfers_of
from .cache import Cached, cached

__all__ = ["Cached", "Lines", "Transfers", "cached", "lines_of", "transfers_of"]
