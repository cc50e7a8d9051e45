"""Checks of row sequences, in one streaming pass over columns.

A window function over millions of tasks sorts them all; real files already lie in time order, so
one vectorised walk with a few carried values gives the same answer. Where the rows are not in
time order, or hold anything but integers, the rule's own SQL (its ``oracle``) decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..engine.session import Session
from ..places import Instance, fill
from ..ruleset import Rule
from . import Check, Fault

Integers = npt.NDArray[np.int64]


class NotWalkable(Exception):
    """The rows are not integers in time order; the oracle must judge them."""


def _columns(batch: pa.RecordBatch) -> list[Integers]:
    columns: list[Integers] = []
    for column in batch.columns:
        if not pa.types.is_integer(column.type) or column.null_count:
            raise NotWalkable
        columns.append(column.to_numpy().astype(np.int64, copy=False))
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


def _judge(
    session: Session, rule: Rule, instance: Instance, query: str, walk: object
) -> tuple[int, int | None]:
    """Number of bad rows and the first of them, by the walk or else by the oracle."""
    assert callable(walk)
    try:
        found = [rows for rows in walk(session.stream(query)) if len(rows)]
    except NotWalkable:
        oracle = fill(rule.oracle or "", instance.place)
        number, first = session.connection.execute(
            f"SELECT count(*), min(row) FROM ({oracle})"
        ).fetchone()
        return number, first
    return sum(map(len, found)), int(min(map(np.min, found))) if found else None


def _stream_overlap(session: Session, rule: Rule, places: Sequence[Instance]) -> Iterator[Fault]:
    needed = ("startNs", "endNs", "deviceId", "streamId", "contextId")
    for instance in places:
        if not all(session.layout.holds(f"TASK.{column}") for column in needed):
            continue
        query = (
            "SELECT rowid, deviceId, streamId, startNs, endNs FROM TASK "
            "WHERE contextId = 4294967295 ORDER BY rowid"
        )
        number, first = _judge(session, rule, instance, query, walk_streams)
        if number:
            what = f"{rule.summary.rstrip('.')}: {number:,} of {session.rows['TASK']:,} rows"
            yield Fault(rule, "TASK", instance.column, what, count=number, first_rowid=first)


def _row_order(session: Session, rule: Rule, places: Sequence[Instance]) -> Iterator[Fault]:
    for instance in places:
        table, column = instance.table or "", instance.column or ""
        if not session.layout.holds(f"{table}.{column}"):
            continue
        query = f"SELECT rowid, {column} FROM {table} ORDER BY rowid"
        number, first = _judge(session, rule, instance, query, walk_order)
        if number:
            what = f"{rule.summary.rstrip('.')}: {number:,} of {session.rows[table]:,} rows"
            yield Fault(rule, table, column, what, count=number, first_rowid=first)


CHECKS: Mapping[str, Check] = {"stream-overlap": _stream_overlap, "row-order": _row_order}
