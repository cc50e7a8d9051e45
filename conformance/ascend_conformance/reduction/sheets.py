"""CSV files without some of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from ascend_ref.text.rows import LF, QUOTE, CsvRows
from ascend_spec import text_catalog
from ascend_spec.core.units import factor
from ascend_spec.text import CsvFile

from .reducible import NEVER, Integers, Tie, tie_of_times
from .spans import INSTANT, Spans, nanoseconds


class Sheet(Spans):
    """A CSV file; its header stays as long as the file does."""

    def __init__(self, path: Path, name: str) -> None:
        bounds = row_bounds(path)
        super().__init__(path, bounds[1:-1], bounds[2:])
        self.parts = (name,)
        self.part = np.zeros(len(self.begins), np.int64)
        self._name = name

    @cached_property
    def times(self) -> Integers:
        """Of the first column of instants."""
        found = np.full(len(self.begins), NEVER)
        rows = CsvRows(self.path)
        for batch in rows.batches():
            column = _time_column(text_catalog().csv.get(self._name), rows.header)
            if column is None:
                break
            place, scale = column
            values = [nanoseconds(one, scale) for one in batch[str(place)].to_pylist()]
            offsets = batch["offset"].to_numpy(zero_copy_only=False)
            at = np.searchsorted(self.begins, offsets)
            fits = at < len(self.begins)
            fits[fits] = self.begins[at[fits]] == offsets[fits]
            found[at[fits]] = np.array(values, np.int64)[fits]
        return found

    @property
    def ties(self) -> Sequence[Tie]:
        """The times of its rows."""
        return (tie_of_times(self.times),)


def _time_column(known: CsvFile | None, header: tuple[str, ...]) -> tuple[int, int] | None:
    """The place of the first column of instants, and its unit in ns."""
    for place, cell in enumerate(header):
        column = known and known.column(cell)
        if column and column.type.startswith(INSTANT):
            return place, factor(column.unit, "ns") or 1
    return None


def row_bounds(path: Path) -> Integers:
    """Where the header of a CSV file begins, each row below it, and the byte behind the last.

    A row ends where a line ends outside of quotes; where quotes are not closed, with each line.
    Raises ``OSError``.
    """
    text = np.fromfile(path, np.uint8)
    lines = np.flatnonzero(text == LF)
    quotes = np.flatnonzero(text == QUOTE)
    if len(quotes) % 2 == 0:
        lines = lines[np.searchsorted(quotes, lines) % 2 == 0]
    ends = lines + 1
    if not len(ends) or ends[-1] != len(text):
        ends = np.append(ends, len(text))
    return np.concatenate([[0], ends]).astype(np.int64)
