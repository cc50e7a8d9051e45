"""Files that appear complete, cut into slices and named as the exporters do (text-outputs.md 2.2).

The names of the slices depend on how many rows follow, so every slice has a hidden name until the
last row is written.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TypeAlias

from ascend_spec.text.model import Slicing

Naming: TypeAlias = Callable[[int | None], str]
"""File name of a slice, counted from 0; of the whole for ``None``."""


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
        self._folder, self._header, self._naming = folder, header, naming
        self._slicing = slicing
        self._drafts: list[Path] = []
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
            self._file = self._next()
        for block in blocks:
            self._file.write(block)
        self._rows += rows

    def finish(self) -> list[Path]:
        """Give the slices their names and return them; none where no row was written."""
        self._file.close()
        if not self._rows:
            return []
        numbers = slice_numbers(self._rows, self._slicing)
        paths = [self._folder / self._naming(number) for number in numbers]
        for draft, path in zip(self._drafts, paths, strict=True):
            os.replace(draft, path)
        return paths

    def discard(self) -> None:
        """Remove what has not been finished."""
        self._file.close()
        for draft in self._drafts:
            draft.unlink(missing_ok=True)

    def _next(self) -> BinaryIO:
        self._file.close()
        draft = self._folder / f".{self._naming(None)}.{secrets.token_hex(4)}.partial"
        file = draft.open("xb")
        self._drafts.append(draft)
        file.write(self._header)
        return file
