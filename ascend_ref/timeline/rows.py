"""Rows of text made of columns, some thousands at a time and never one by one.

A row is a sequence of *fragments*: a ``str`` is the same in every row, an Arrow array of strings
has one text for each, a dictionary array one for each that is made from few. NULL is no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import integers, joined
from ascend_ref.capture.batch import Integers

Fragment: TypeAlias = "str | pa.Array"

ROWS_AT_ONCE = 1 << 14
"""Rows that are joined at once: their fragments stay in the processor's cache."""
BYTES_AT_ONCE = 1 << 26
"""Bytes that are joined at once, however long the texts; a single row may be longer."""
WORTH_FUSING = 4
"""A constant joins the texts of a dictionary when so many rows share each of them."""


def row_texts(fragments: Sequence[Fragment], rows: int) -> Iterator[memoryview]:
    """The bytes of the rows, one after the other."""
    start = 0
    for stop in _stops(fragments, rows):
        part = [
            one if isinstance(one, str) else one.slice(start, stop - start) for one in fragments
        ]
        yield _joined(_fused(part, stop - start), stop - start)
        start = stop


def _fused(fragments: Sequence[Fragment], rows: int) -> list[Fragment]:
    """Neighbouring constants as one, and those next to a small dictionary as part of its texts."""
    found: list[Fragment] = []
    for fragment in fragments:
        last = found[-1] if found else ""
        if isinstance(fragment, str):
            if isinstance(last, str):
                found[-1:] = [last + fragment]
            elif _is_small(last, rows):
                found[-1] = _with_dictionary(last, joined(last.dictionary, fragment))
            else:
                found.append(fragment)
        elif isinstance(last, str) and _is_small(fragment, rows):
            found[-1:] = [_with_dictionary(fragment, joined(last, fragment.dictionary))]
        else:
            found.append(fragment)
    return found


def _is_small(array: pa.Array, rows: int) -> bool:
    """Whether constants may join the texts of an array; where it is NULL it must stay no text."""
    return (
        pa.types.is_dictionary(array.type)
        and not array.null_count
        and len(array.dictionary) * WORTH_FUSING <= rows
    )


def _with_dictionary(array: pa.DictionaryArray, texts: pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(array.indices, texts)


def _joined(fragments: Sequence[Fragment], rows: int) -> memoryview:
    columns = [_plain(one) for one in fragments]
    if all(isinstance(one, str) for one in columns):
        return memoryview("".join(columns).encode() * rows)
    texts = joined(*columns, null_is_nothing=True)
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32, rows + 1, texts.offset * 4)
    return memoryview(data)[bounds[0] : bounds[-1]]


def _plain(fragment: Fragment) -> Fragment:
    if not isinstance(fragment, str) and pa.types.is_dictionary(fragment.type):
        return fragment.dictionary_decode()
    return fragment


def _stops(fragments: Sequence[Fragment], rows: int) -> Iterator[int]:
    """Ends of batches; only where texts are long are the bytes of each row counted."""
    longest = sum(_longest(one) for one in fragments)
    if longest * ROWS_AT_ONCE <= BYTES_AT_ONCE:
        yield from range(ROWS_AT_ONCE, rows, ROWS_AT_ONCE)
    else:
        ends = np.cumsum(sum((_lengths(one) for one in fragments), np.zeros(rows, np.int64)))
        start = 0
        while start < rows:
            before = ends[start - 1] if start else 0
            fitting = int(np.searchsorted(ends, before + BYTES_AT_ONCE, side="right"))
            start = min(max(fitting, start + 1), start + ROWS_AT_ONCE)
            if start < rows:
                yield start
    if rows:
        yield rows


def _longest(fragment: Fragment) -> int:
    if isinstance(fragment, str):
        return len(fragment.encode())
    texts = fragment.dictionary if pa.types.is_dictionary(fragment.type) else fragment
    return pc.max(pc.binary_length(texts)).as_py() or 0


def _lengths(fragment: Fragment) -> Integers:
    """The bytes of each row, or of all."""
    if isinstance(fragment, str):
        return np.array([len(fragment.encode())])
    if pa.types.is_dictionary(fragment.type):
        lengths = pc.binary_length(fragment.dictionary).take(fragment.indices)
    else:
        lengths = pc.binary_length(fragment)
    return integers(lengths, 0)
