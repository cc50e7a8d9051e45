"""Units of cells in those of the recording: whole ns, Byte, Byte/s, percent."""

from __future__ import annotations

from collections.abc import Mapping

FACTORS: Mapping[tuple[str | None, str | None], int] = {
    ("us", "ns"): 1_000,
    ("ms", "ns"): 1_000_000,
    ("s", "ns"): 1_000_000_000,
    ("KiB", "Byte"): 1 << 10,
    ("KB", "Byte"): 1 << 10,
    ("MiB", "Byte"): 1 << 20,
    ("kKiB", "Byte"): 1000 << 10,
    ("KB/s", "Byte/s"): 1 << 10,
    ("MB/s", "Byte/s"): 1 << 20,
    ("GB/s", "Byte/s"): 1_000_000_000,
}
"""How many of the second unit are one of the first. Exporters' KB and MB are 1024 and 1024 * 1024,
their GB of a transfer 10 to the 9 (ascend_ref.derive.traffic, ascend_ref.text)."""


def factor(cell: str | None, value: str | None) -> int | None:
    """How many units of the recording one of the cell is; ``None`` where they do not convert."""
    return 1 if cell == value or cell is None or value is None else FACTORS.get((cell, value))
