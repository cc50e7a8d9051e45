"""Files that appear complete, cut into slices and named as the exporters do (text-outputs.md 2.2).

The names of the slices depend on how many rows follow, so every slice has a hidden name until the
last row is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ascend_ref.atomic import Drafts, Naming
from ascend_spec.text.model import Slicing


def slice_numbers(rows: int, slicing: Slicing | None) -> list[int | None]:
    """The numbers of the slices that so many rows are cut into; ``None`` where there is but one."""
    if slicing is None or rows < slicing.suffix_from:
        return [None]
    return list(range(-(-rows // slicing.rows)))


class SlicedFile:
    """Writes blocks of rows to one file or several, each beginning with the same header.

    ``slicing`` is ``None`` where a file is never cut.
    """

    def __init__(
        self, folder: Path, header: bytes, naming: Naming, slicing: Slicing | None
    ) -> None:
        self._drafts = Drafts(folder, naming)
        self._header, self._slicing = header, slicing
        self._file: BinaryIO = BytesIO()
        self._rows = 0

    def fitting(self, rows: int) -> int:
        """How many of so many rows fit into the current slice."""
        if self._slicing is None:
            return rows
        return min(rows, self._slicing.rows - self._rows % self._slicing.rows)

    def write(self, rows: int, blocks: Iterable[memoryview]) -> None:
        """Append so many rows, which must fit into the current slice."""
        if not self._rows or (self._slicing and self._rows % self._slicing.rows == 0):
            self._file.close()
            self._file = self._drafts.open()
            self._file.write(self._header)
        for block in blocks:
            self._file.write(block)
        self._rows += rows

    def finish(self) -> list[Path]:
        """Give the slices their names and return them; none where no row was written."""
        if not self._rows:
            return []
        return self._drafts.keep(slice_numbers(self._rows, self._slicing))

    def discard(self) -> None:
        """Remove what has not been finished."""
        self._drafts.discard()
