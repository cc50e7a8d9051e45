"""Samples of amounts since the sample before: links, caches, memory, dies, the network card."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers, Texts
from ascend_spec import catalog

from ..amounts import (
    ACCESSES,
    EVENTS,
    HCCS,
    HITS,
    LINE,
    NO_MASTER,
    PASSED,
    SIO,
    Columns,
    counter_of,
    ddr_event,
    dies_of,
    hit_rates,
    network_rates,
    since,
)
from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..fields import numbers
from ..rates import MOST, rates
from ..samples import SOC, clock_name, soc_record
from ..traffic import directions
from ..vocabulary import named
from .session import Session
from .times import timed, times_of

_LARGEST = 1 << 53
"""Greater amounts are damage; a float holds no more of them exactly."""


def read_links(session: Session, context: Context) -> Columns:
    """HCCS, in Byte per second; a total that shrinks begins anew and gives no row."""
    time, totals = _totals(session, context, "hccs", tuple(HCCS))
    grown = {HCCS[part]: np.diff(total) for part, total in totals.items()}
    right = np.logical_and.reduce([one >= 0 for one in grown.values()])
    length = np.diff(time)
    return {
        "timestampNs": time[1:][right],
        **{column: rates(one[right], length[right]) for column, one in grown.items()},
    }


def read_network(session: Session, context: Context) -> Columns:
    """NETDEV_STATS: growth since the sample before, 0 where a counter shrinks."""
    columns = catalog().tables["NETDEV_STATS"].columns.keys() - {"deviceId", "timestampNs"}
    counters = {one: part for one in columns if (part := counter_of(one)) is not None}
    time, totals = _totals(session, context, "netdev_stats", tuple(counters.values()))
    length = np.diff(time)
    grown = {one: np.maximum(np.diff(totals[part]), 0) for one, part in counters.items()}
    table = {one: grown.get(one, np.zeros(len(length), np.int64)) for one in sorted(columns)}
    return {"timestampNs": time[1:], **table, **network_rates(table, length)}


def _totals(
    session: Session, context: Context, kind: str, parts: tuple[str, ...]
) -> tuple[Integers, dict[str, Integers]]:
    """Times and totals of the lines of a file that have a time, in order of time."""
    lines = [found for line, found in session.lines(context, kind) if line == "sample"]
    ticks = np.array([min(int(one["time"]), LIMIT) for one in lines], np.int64)
    time = times_of(session, context, kind, clock_name(kind), ticks)
    totals = {
        part: np.array([min(int(one[part]), _LARGEST) for one in lines], np.int64) for part in parts
    }
    order = np.argsort(time, kind="stable")
    order = order[time[order] != OUT_OF_RANGE]
    return time[order], {part: total[order] for part, total in totals.items()}


def read_memory(session: Session, context: Context) -> Columns:
    """DDR, in Byte per second; the first sample has no interval."""
    known, time = timed(session, context, "ddr")
    moments, place = np.unique(time, return_inverse=True)
    length = since(moments, np.zeros(len(moments), np.int64))
    table: dict[str, Integers] = {"timestampNs": moments}
    each = ddr_event(context.side.chip) if context.side.chip is not None else 0
    for event, column in enumerate(directions()):
        # Records of one master are of amounts that these have, too (erratum U21).
        own = (known["eventType"] == event) & (known["masterId"] == NO_MASTER)
        count = np.bincount(place[own], known["count"][own], len(moments))
        table[column] = rates(count.astype(np.int64), length, each)
    return table


def read_caches(session: Session, context: Context, texts: Texts) -> Columns:
    """LLC: percent of accesses that hit and Byte per second, cache after cache.

    Which events were counted is stated by sample.json alone.
    """
    known, time = timed(session, context, "llc", right=lambda some: some["count"] < _LARGEST)
    mode = str(context.side.documents.get("sample", {}).get("llc_profiling", ""))
    if len(known) and mode not in EVENTS:
        text = f"llc: sample.json has no llc_profiling of {', '.join(EVENTS)}, so nobody knows "
        session.damage.append(Damage(context.folder.path, text + "what its events are"))
        known, time = known[:0], time[:0]
    cache = known["l3tId"].astype(np.int64)
    keys, place = np.unique(np.stack([cache, time]), axis=1, return_inverse=True)
    place = place.reshape(-1)
    caches, moments = keys[0], keys[1]

    def total(events: tuple[int, ...]) -> Integers:
        numbers = [EVENTS[mode][one] for one in events] if len(known) else []
        own = np.isin(known["eventId"], numbers)
        count = np.bincount(place[own], known["count"][own], len(moments))
        return np.minimum(count, MOST).astype(np.int64)

    length = since(moments, caches)
    return {
        "llcId": caches,
        "timestampNs": moments,
        "hitRate": hit_rates(total(HITS), total(ACCESSES)),
        "throughput": rates(total(PASSED), length, LINE),
        "mode": np.full(len(moments), texts.number(mode) if len(known) else 0, np.int64),
    }


def read_dies(session: Session, context: Context, texts: Texts) -> Columns:
    """SIO, in Byte per second, die after die; the first record of a die is a base alone."""
    record = soc_record("SIO", context.side.chip)
    if record is None:
        return {}
    declaration = session.declaration(SOC, record)
    place, values = dies_of(declaration)
    known = named(values)
    rows, time = timed(
        session,
        context,
        SOC,
        record,
        right=lambda some: np.isin(numbers(declaration, place, some), list(known)),
    )
    die = numbers(declaration, place, rows)
    order = np.lexsort((time, die))
    rows, time, die = rows[order], time[order], die[order]
    length = since(time, die)
    shown = length > 0
    distinct, at = np.unique(die[shown], return_inverse=True)
    return {
        "name": texts.numbers(known[one] for one in distinct.tolist())[at],
        "timestampNs": time[shown],
        **{column: rates(rows[field][shown], length[shown]) for field, column in SIO.items()},
    }
