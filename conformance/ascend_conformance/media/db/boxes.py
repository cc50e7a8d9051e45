"""Which whole numbers a column holds: a box for each between the least and the greatest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from ascend_ref import arrays
from ascend_ref.arrays import Mask
from ascend_ref.capture.batch import Integers

from ...engine.relations.views import MIXED

MOST = 1 << 26
"""Largest span of numbers that is ticked off in memory: 64 MiB."""


@dataclass(slots=True)
class Boxes:
    """The numbers of ``count`` cells. ``ticked``: the first box is that of ``low``."""

    count: int = 0
    low: int = 0
    ticked: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))

    @property
    def repeats(self) -> bool:
        """Whether some number stands in two cells."""
        return int(self.ticked.sum()) < self.count

    def ranges(self) -> list[tuple[int, int]]:
        """The runs of numbers without a gap."""
        edges = np.flatnonzero(np.diff(self.ticked, prepend=False, append=False))
        ends = zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        return [(self.low + start, self.low + end - 1) for start, end in ends]

    def tick(self, numbers: Integers) -> bool:
        """Tick off numbers; ``False`` where they lie too far apart."""
        low, high = int(numbers.min()), int(numbers.max())
        if self.count:
            low, high = min(low, self.low), max(high, self.low + len(self.ticked) - 1)
        if high - low >= MOST:
            return False
        if high - low >= len(self.ticked):
            grown = np.zeros(high - low + 1, np.bool_)
            grown[self.low - low :][: len(self.ticked)] = self.ticked
            self.low, self.ticked = low, grown
        self.ticked[numbers - self.low] = True
        self.count += len(numbers)
        return True


def boxes_of(batches: Iterable[pa.RecordBatch]) -> Boxes | None:
    """The numbers of the only column of some batches, NULL left out.

    ``None`` where SQLite has to find out: a cell is no integer, or they lie too far apart.
    """
    boxes = Boxes()
    try:
        for batch in batches:
            column = batch.column(0).drop_null()
            if not len(column):
                continue
            if not pa.types.is_integer(column.type) or not boxes.tick(arrays.integers(column)):
                return None
    except MIXED:
        return None
    return boxes
