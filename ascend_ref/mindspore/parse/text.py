"""Intermediate files of lines: the form of the spec around columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Cells = Any
"""A column of texts, which pyarrow has no type for."""


def lines_of(form: str, cells: Mapping[str, Cells]) -> memoryview:
    """The bytes of a line for each row: the form with the cells of its columns.

    cells: texts by column, all of one length. Raises ``KeyError`` for a column that is missing.
    """
    pieces: list[pa.Array | pa.Scalar] = []
    for text, name, filled, _ in Formatter().parse(form):
        if text:
            pieces.append(pa.scalar(text))
        if name is not None:
            column = cells[name]
            pieces.append(_filled(column, filled))
    pieces.append(pa.scalar("\n"))
    return _content(pc.binary_join_element_wise(*pieces, ""))


def _filled(column: Cells, filled: str | None) -> Cells:
    """Cells with blanks behind them, or in front of them."""
    if not filled:
        return column
    fill = pc.utf8_rpad if filled[0] == "<" else pc.utf8_lpad
    return fill(column, int(filled[1:]))


def names_in(form: str) -> list[str]:
    """The names in braces of a form."""
    return [name for _, name, _, _ in Formatter().parse(form) if name is not None]


def whole_numbers(column: npt.NDArray[np.integer]) -> Cells:
    """Numbers as texts."""
    return pa.array(column).cast(pa.string())


def shortest(column: Iterable[float]) -> Cells:
    """Numbers as the shortest texts that stand for them, as Python writes them."""
    return pa.array(list(map(repr, column)), pa.string())


def _content(texts: pa.Array) -> memoryview:
    _, offsets, data = texts.buffers()
    if data is None:
        return memoryview(b"")
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(data)[ends[0] : ends[-1]]
