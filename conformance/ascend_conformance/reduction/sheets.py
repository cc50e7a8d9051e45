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

from .reducible import Integers, Tie, tie_of_times
from .spans import INSTANT, Spans, nanoseconds


class Sheet(Spans):
    """A CSV file; its header stays as long as the file does."""

    def __init__(self, path: Path, name: str) -> None:
        bounds = row_bounds(path)
        super().__init__(path, bounds[1:-1], bounds[2:])
        self.parts = (name,)
        self.part = np.zeros(len(self.begins), np.int64)
        self._name = name

    @property
    def times(self) -> Integers:
        """Of the first column of instants."""
        return self._shown_times[0]

    @property
    def ties(self) -> Sequence[Tie]:
        """The times of its rows."""
        return (tie_of_times(self.times),)

    @property
    def later_times(self) -> Sequence[Tie]:
        """What the further columns of instants show."""
        return [tie_of_times(one) for one in self._shown_times[1:]]

    @cached_property
    def _shown_times(self) -> list[Integers]:
        """Of each column of instants what the rows show; of a file without any, one of nothing."""
        rows = CsvRows(self.path)
        found: list[Integers] = []
        for batch in rows.batches():
            columns = _instants(text_catalog().csv.get(self._name), rows.header)
            found = found or [super(Sheet, self).times for _ in columns]
            offsets = batch["offset"].to_numpy(zero_copy_only=False)
            at = np.searchsorted(self.begins, offsets)
            fits = at < len(self.begins)
            fits[fits] = self.begins[at[fits]] == offsets[fits]
            for times, (place, scale) in zip(found, columns, strict=True):
                values = [nanoseconds(one, scale) for one in batch[str(place)].to_pylist()]
                times[at[fits]] = np.array(values, np.int64)[fits]
        return found or [super().times]


def _instants(known: CsvFile | None, header: tuple[str, ...]) -> list[tuple[int, int]]:
    """The places of the columns of instants, each with its unit in ns."""
    columns = [(place, known and known.column(cell)) for place, cell in enumerate(header)]
    return [
        (place, factor(column.unit, "ns") or 1)
        for place, column in columns
        if column and column.type.startswith(INSTANT)
    ]


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
