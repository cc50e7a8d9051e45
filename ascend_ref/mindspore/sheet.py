"""Files of values between commas as columns of texts, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.raw.damage import Damage, Damaged
from ascend_ref.text.rows import CsvRows

Texts = Any
"""An array of texts, which pyarrow has no type for."""

Flags: TypeAlias = npt.NDArray[np.bool_]
Indexes: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = npt.NDArray[Any]

WHOLE = r"^-?[0-9]{1,18}$"
DECIMAL = r"^-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]{1,3})?$"
"""Texts of which pyarrow makes the number that Python makes."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a file that could be read. ``lines``: where they stand, from 1."""

    path: Path
    columns: Mapping[str, Texts]
    lines: Indexes

    def first(self, names: Iterable[str]) -> Texts | None:
        """The first of some columns that the file has."""
        return next((self.columns[one] for one in names if one in self.columns), None)

    def taken(self, rows: Indexes) -> Cells:
        """The same with some rows."""
        wanted = indexes(rows)
        columns = {name: one.take(wanted) for name, one in self.columns.items()}
        return Cells(self.path, columns, self.lines[rows])


def read_cells(path: Path, kind: str, damage: Damaged) -> Cells | None:
    """A file of values between commas; ``None`` for one with nothing in it. ``damage`` takes what
    of it cannot be read.
    """
    rows = CsvRows(path)
    names = ["row", "line", "offset"]
    batches = list(rows.batches())
    for fault in rows.faults.values():
        more = f", and {fault.count - 1:,} more" if fault.count > 1 else ""
        text = f"line {fault.first.line}: {fault.fault.replace('-', ' ')}{more}"
        damage.append(Damage(path, text, kind=kind))
    if rows.header_damage is not None:
        damage.append(Damage(path, f"line 1: {rows.header_damage}", kind=kind))
    if not rows.header:
        return None
    header = [one.strip() for one in rows.header]
    if not batches:
        nothing = pa.array([], pa.string())
        return Cells(path, dict.fromkeys(header, nothing), np.zeros(0, np.int64))
    every = pa.Table.from_batches(batches)
    columns = {
        name: every.column(len(names) + place).combine_chunks()
        for place, name in reversed(list(enumerate(header)))
    }
    return Cells(path, columns, every.column("line").to_numpy())


def parse_numbers(texts: Texts, *, whole: bool = False) -> tuple[Numbers, Flags]:
    """Texts as numbers, and which are none; those are 0."""
    plain = flags(pc.match_substring_regex(texts, WHOLE if whole else DECIMAL))
    kind = "int64" if whole else "float64"
    if plain.all():
        return pc.cast(texts, kind).to_numpy(zero_copy_only=False), np.zeros(len(plain), np.bool_)
    numbers = np.zeros(len(plain), np.dtype(kind))
    bad = np.zeros(len(plain), np.bool_)
    for place, text in enumerate(texts.to_pylist()):
        try:
            number = int(text) if whole else float(text)
            numbers[place] = number
            bad[place] = not np.isfinite(numbers[place])
        except (ValueError, OverflowError):
            bad[place] = True
    numbers[bad] = 0
    return numbers, bad


def flags(array: Any) -> Flags:
    """Of pyarrow."""
    found: Flags = array.to_numpy(zero_copy_only=False).astype(np.bool_)
    return found


def indexes(rows: Indexes) -> Any:
    """For pyarrow, without ``pa.array``, which imports pandas."""
    buffer = pa.py_buffer(np.ascontiguousarray(rows, np.int64))
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, buffer])
