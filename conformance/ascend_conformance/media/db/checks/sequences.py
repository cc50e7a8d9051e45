"""Checks of row sequences, in one streaming pass over columns.

A window function over millions of tasks sorts them all; real files already lie in time order, so
one vectorised walk with a few carried values gives the same answer. Where the rows are not in
time order, or hold anything but integers, the rule's own SQL (its ``oracle``) decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

import apsw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.db.open import UnreadableDatabase

from ..places import Instance
from ..session import Session
from ..sql import single_row

Integers = npt.NDArray[np.int64]


class NotWalkable(Exception):
    """The rows are not integers in time order; the oracle must judge them."""


def _columns(batch: pa.RecordBatch) -> list[Integers]:
    columns: list[Integers] = []
    for column in batch.columns:
        if not pa.types.is_integer(column.type) or column.null_count:
            raise NotWalkable
        columns.append(integers(column))
    return columns


def walk_streams(batches: Iterator[pa.RecordBatch]) -> Iterator[Integers]:
    """Rowids of tasks that start before the previous task of their stream ends.

    Batches of (rowid, deviceId, streamId, startNs, endNs) in ascending startNs; raises
    :class:`NotWalkable` otherwise. Carries one end time per stream, so memory stays flat.
    """
    last_end: dict[tuple[int, int], int] = {}
    last_start = np.iinfo(np.int64).min
    for batch in batches:
        rowid, device, stream, start, end = _columns(batch)
        if not len(rowid):
            continue
        if start[0] < last_start or np.any(start[1:] < start[:-1]):
            raise NotWalkable
        last_start = int(start[-1])
        order = np.lexsort((np.arange(len(rowid)), stream, device))
        rowid, device, stream, start, end = (
            column[order] for column in (rowid, device, stream, start, end)
        )
        first = np.ones(len(rowid), dtype=bool)
        first[1:] = (device[1:] != device[:-1]) | (stream[1:] != stream[:-1])
        previous = np.empty_like(end)
        previous[1:] = end[:-1]
        starts = np.flatnonzero(first)
        for position in starts:
            key = (int(device[position]), int(stream[position]))
            previous[position] = last_end.get(key, np.iinfo(np.int64).min)
        for position in [*(starts[1:] - 1), len(rowid) - 1]:
            last_end[int(device[position]), int(stream[position])] = int(end[position])
        yield rowid[start < previous]


def walk_order(batches: Iterator[pa.RecordBatch]) -> Iterator[Integers]:
    """Rowids whose value is smaller than that of the row before; batches of (rowid, value)."""
    last: int | None = None
    for batch in batches:
        rowid, value = _columns(batch)
        if not len(rowid):
            continue
        before = np.empty_like(value)
        before[1:] = value[:-1]
        before[0] = value[0] if last is None else last
        last = int(value[-1])
        yield rowid[value < before]


@dataclass(frozen=True, slots=True)
class Walk:
    """The rows that a walk passes, and which of them are bad."""

    query: str
    bad_rows: Callable[[Iterator[pa.RecordBatch]], Iterator[Integers]]


def _overlapping(_instance: Instance) -> Walk:
    query = (
        "SELECT rowid, deviceId, streamId, startNs, endNs FROM TASK "
        "WHERE contextId = 4294967295 ORDER BY rowid"
    )
    return Walk(query, walk_streams)


def _descending(instance: Instance) -> Walk:
    query = f"SELECT rowid, {instance.column} FROM {instance.table} ORDER BY rowid"
    return Walk(query, walk_order)


WALKS: Mapping[str, Callable[[Instance], Walk]] = {
    "stream-overlap": _overlapping,
    "row-order": _descending,
}


NOT_A_WALK = (
    NotWalkable,
    UnreadableDatabase,
    UnicodeDecodeError,
    pa.ArrowInvalid,
    pa.ArrowTypeError,
)
"""What comes of rows that hold anything but integers: the last two where they lie in memory."""


def walk(
    session: Session, instance: Instance, connection: apsw.Connection
) -> tuple[int, int | None]:
    """Number of bad rows and the first of them, by the rule's walk or else by its oracle.

    ``connection`` is the one that the calling thread may use.
    """
    chosen = WALKS[instance.rule.search.code or ""](instance)
    try:
        with closing(session.stream(chosen.query)) as batches:
            found = [rows for rows in chosen.bad_rows(batches) if len(rows)]
    except NOT_A_WALK:
        number, first = single_row(
            connection, f"SELECT count(*), min(row) FROM ({instance.select})"
        )
        return number, first
    return sum(map(len, found)), min((int(rows.min()) for rows in found), default=None)
