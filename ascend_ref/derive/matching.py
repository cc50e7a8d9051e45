"""Rows by their keys: which belong together, in one table or in two, and figures of those."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers, Reals

NONE = -1
Numbers = TypeVar("Numbers", Integers, Reals)


def groups(*keys: Integers) -> tuple[Integers, Integers]:
    """Rows that are the first with their keys, ascending, and for each row the place among them."""
    order = np.lexsort(keys[::-1])
    changes = np.zeros(max(len(order), 1), np.bool_)[: len(order)]
    changes[:1] = True
    for key in keys:
        changes[1:] |= key[order][1:] != key[order][:-1]
    first = order[changes]
    turn = np.argsort(first)
    place = np.empty(len(first), np.int64)
    place[turn] = np.arange(len(first))
    group = np.empty(len(order), np.int64)
    group[order] = place[np.cumsum(changes) - 1]
    return first[turn], group


def distinct(*columns: npt.NDArray[Any]) -> tuple[list[tuple[Any, ...]], Integers]:
    """The distinct rows of columns in order of appearance, and for each row its place among them.

    As :func:`groups`, by hashes in place of sorting, and with the values.
    """
    place = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = pa.array(column).dictionary_encode()
        place = place * max(len(encoded.dictionary), 1) + integers(encoded.indices)
        place = integers(pa.array(place).dictionary_encode().indices)
    first = np.full(int(place.max(initial=-1)) + 1, 0)
    first[place[::-1]] = np.arange(len(place) - 1, -1, -1)
    return list(zip(*(column[first].tolist() for column in columns), strict=True)), place


class Distinct:
    """Numbers the distinct rows of columns that come batch by batch, in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}

    def numbers(self, *columns: Integers) -> Integers:
        """The numbers of the next rows."""
        found, place = distinct(*columns)
        known = self._numbers
        return np.array([known.setdefault(one, len(known)) for one in found], np.int64)[place]

    def columns(self, count: int) -> list[Integers]:
        """The columns of the distinct rows, of which there are so many."""
        rows = np.array(list(self._numbers), np.int64).reshape(-1, count)
        return [np.ascontiguousarray(column) for column in rows.T]


def values_at(values: Integers, places: Integers) -> Integers:
    """The values at places, and NONE where the place is NONE."""
    return np.append(values, NONE)[places]


def sums(owner: Integers, values: Numbers, count: int) -> Numbers:
    """Sums by owner: of integers exact in 64 bits, of floats one added after the other."""
    if values.dtype == np.float64:
        return np.bincount(owner, values, count).astype(np.float64)
    total: Numbers = np.zeros(count, np.int64)
    np.add.at(total, owner, values)
    return total


def least(owner: Integers, values: Numbers, count: int) -> Numbers:
    """The smallest value of each owner, the greatest of all numbers without one."""
    found: Numbers = np.full(count, _end(values.dtype))
    np.minimum.at(found, owner, values)
    return found


def greatest(owner: Integers, values: Numbers, count: int) -> Numbers:
    """The greatest value of each owner, the smallest of all numbers without one."""
    found: Numbers = np.full(count, -_end(values.dtype))
    np.maximum.at(found, owner, values)
    return found


def _end(kind: np.dtype[Any]) -> float:
    return np.inf if kind.kind == "f" else np.iinfo(kind).max


def divided(
    part: npt.NDArray[Any], whole: npt.NDArray[Any], where: npt.NDArray[np.bool_] | None = None
) -> Reals:
    """Each part by its whole; 0 where that may not be done, by default where the whole is 0."""
    found: Reals = np.zeros(np.broadcast_shapes(part.shape, whole.shape))
    np.divide(part, whole, out=found, where=whole != 0 if where is None else where)
    return found


def ranks(keys: Integers) -> Integers:
    """For each row the number of rows before it with the same key."""
    order = np.argsort(keys, kind="stable")
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = keys[order][1:] != keys[order][:-1]
    places = np.arange(len(keys))
    found = np.empty(len(keys), np.int64)
    found[order] = places - np.maximum.accumulate(np.where(begins, places, 0))
    return found


def counterparts(
    wanted: Integers, rank: Integers | int, having: Integers, *, keep_last: bool = False
) -> Integers:
    """For each wanted key the row that has it, NONE without one.

    The first row of a key belongs to the first place that wants it, and so on; ``rank`` is the
    result of :func:`ranks` for ``wanted``, or 0 where all places want the first row. With
    ``keep_last`` further places share the last row.
    Source: first in, first out, as the exporters match counters to tasks (text-outputs.md 3.2).
    """
    order = np.argsort(having, kind="stable")
    keys = having[order]
    first = np.searchsorted(keys, wanted, side="left")
    end = np.searchsorted(keys, wanted, side="right")
    place = first + rank
    if keep_last:
        place = np.minimum(place, end - 1)
    known = (first < end) & (place < end)
    return np.where(known, np.append(order, NONE)[np.where(known, place, -1)], NONE)


def pairs(wanted: Integers, having: Integers, *, none: int) -> tuple[Integers, Integers]:
    """Rows of two tables with the same key: each wanted row with all that have it, in their order.

    A wanted row without any, or with the key ``none``, stands once, with NONE. So does a row whose
    key an earlier row wanted: keys are unique, and rows that break this must not multiply.
    """
    order = np.argsort(having, kind="stable")
    keys = having[order]
    first = np.searchsorted(keys, wanted, side="left")
    count = np.searchsorted(keys, wanted, side="right") - first
    count[(wanted == none) | (ranks(wanted) > 0)] = 0
    rows = np.repeat(np.arange(len(wanted)), np.maximum(count, 1))
    before = np.cumsum(np.maximum(count, 1)) - np.maximum(count, 1)
    place = first[rows] + np.arange(len(rows)) - before[rows]
    found = count[rows] > 0
    return rows, np.where(found, np.append(order, NONE)[np.where(found, place, -1)], NONE)
