"""Chips as a kernel sees them: buffers, widths, bandwidths, L2."""

from .load import chip, chip_names
from .model import CacheShape, KernelChip

__all__ = ["CacheShape", "KernelChip", "chip", "chip_names"]
