"""What was sampled of the host: its processors, memory, disks and network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import Samples
from ascend_ref.capture.records import Records

from ..clocks import LIMIT, OUT_OF_RANGE
from ..context import Context
from ..damage import Damage
from ..host import (
    HUNDREDTHS,
    KIBI,
    PAGE,
    Columns,
    HostFacts,
    byte_rates,
    host_records,
    loads,
    shares,
)
from ..rates import MOST, SECOND, rates
from ..samples import FILES, HOST_TABLES, clock_name
from .session import Session
from .times import times_of

_LARGEST = 1 << 53
"""Greater amounts are damage; a float holds no more of them exactly."""
_UNITS = {unit: Fraction(KIBI) ** at for at, unit in enumerate(("B/s", "K/s", "M/s", "G/s"), -1)}
"""KiB/s by the units of iotop; exporters take others for KiB/s."""

Block: TypeAlias = tuple[int, list[tuple[str, Mapping[str, str]]]]
"""The time of a block of lines, and those behind it."""


def read_host(session: Session) -> tuple[Samples, Records]:
    """The tables of the host by name, and the facts of the machine that text files show with them.

    What info.json or sample.json must state for them and does not is damage.
    """
    context = session.host
    if context is None:
        return {}, {}
    found: dict[str, Columns] = {}
    for name, read in _READERS.items():
        if FILES[name] in context.folder.files:
            table = read(session, context)
            if len(table.get("timestampNs", ())):
                found[name] = table
    cards = _cards(context)
    facts = HostFacts(
        _stated(context, "info", "cpuNums"),
        _stated(context, "info", "memoryTotal"),
        sum(cards.values()),
    )
    return found, host_records(found, facts)


def _processors(session: Session, context: Context) -> Columns:
    """Loads of processors by the threads that ran there last (raw/text host_cpu)."""
    kind = FILES[HOST_TABLES["cpu"]]
    per_second = _stated(context, "info", "sysClockFreq")
    blocks = list(_blocks(session, context, kind))
    if not per_second:
        return _unknown(session, context, kind, "info.json has no sysClockFreq", len(blocks))
    up = [_uptime(lines) for _, lines in blocks]
    length = [
        None if before is None or now is None else (now - before) * per_second
        for before, now in pairwise(up)
    ]
    able = np.array([float(one) if one is not None else 0.0 for one in length])
    able[~(able < _LARGEST)] = 0
    threads = [
        (at, *(min(int(parts[one]), _LARGEST) for one in ("thread", "processor", "user", "system")))
        for at, (_, lines) in enumerate(blocks)
        for line, parts in lines
        if line == "thread"
    ]
    rows = np.array(threads, np.int64).reshape(-1, 5)
    at, thread, processor, total = rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] + rows[:, 4]
    order = np.lexsort((at, thread))
    at, thread, processor, total = at[order], thread[order], processor[order], total[order]
    ticks = np.diff(total)
    seen = (np.diff(thread) == 0) & (np.diff(at) == 1) & (ticks >= 0)
    first = at[:-1][seen]
    ticks = np.minimum(ticks[seen], able[first])
    keys, place = np.unique(np.stack([first, processor[1:][seen]]), axis=1, return_inverse=True)
    ran = np.bincount(place.reshape(-1), ticks, keys.shape[1])
    times = _times(session, context, kind, [time for time, _ in blocks])[keys[0]]
    # Exporters take more than all of the time for a change of the processor.
    right = (able[keys[0]] > 0) & (ran <= able[keys[0]]) & (times != OUT_OF_RANGE)
    return {
        "timestampNs": times[right],
        "cpuId": keys[1][right],
        "usage": shares(ran[right], able[keys[0][right]]),
    }


def _uptime(lines: Sequence[tuple[str, Mapping[str, str]]]) -> Fraction | None:
    return next((Fraction(parts["up"]) for line, parts in lines if line == "uptime"), None)


def _memory(session: Session, context: Context) -> Columns:
    """The second of two samples is the load from the first one on."""
    kind = FILES[HOST_TABLES["mem"]]
    lines = [parts for _, parts in session.lines(context, kind)]
    total = _stated(context, "info", "memoryTotal")
    if not total:
        return _unknown(session, context, kind, "info.json has no memoryTotal", len(lines))
    resident = np.array([min(int(one["resident"]), _LARGEST) for one in lines], np.int64)
    times = _times(session, context, kind, [int(one["time"]) for one in lines])
    right = times[:-1] != OUT_OF_RANGE
    usage = shares(resident[1:] * float(PAGE), total)
    return {"timestampNs": times[:-1][right], "usage": usage[right]}


def _disks(session: Session, context: Context) -> Columns:
    """The file has the time of the first sample; the others follow by their frequency."""
    kind = FILES[HOST_TABLES["disk"]]
    lines = list(session.lines(context, kind))
    rows = [parts for line, parts in lines if line != "start"]
    starts = [int(parts["time"]) for line, parts in lines if line == "start"]
    frequency = _stated(context, "sample", "host_disk_freq")
    if not frequency or not starts:
        lack = "no start_time" if frequency else "sample.json has no host_disk_freq"
        return _unknown(session, context, kind, lack, len(rows))
    ticks = [starts[-1] + at * SECOND // frequency for at in range(len(rows))]
    times = _times(session, context, kind, ticks)
    right = times != OUT_OF_RANGE

    def rate(way: str) -> Integers:
        found = (Fraction(one[way]) * _UNITS.get(one[f"{way}_unit"], Fraction(1)) for one in rows)
        amounts = np.array([float(max(one, Fraction(0)) * HUNDREDTHS) for one in found])
        return byte_rates(amounts[right])

    return {
        "timestampNs": times[right],
        "readRate": rate("read"),
        "writeRate": rate("write"),
        "usage": np.array([max(float(one.get("usage", 0)), 0.0) for one in rows])[right],
    }


def _network(session: Session, context: Context) -> Columns:
    """What the cards that info.json lists moved from one block to the next."""
    kind = FILES[HOST_TABLES["network"]]
    cards = _cards(context)
    blocks = list(_blocks(session, context, kind))
    if not cards:
        text = "info.json has no netCard with a speed"
        return _unknown(session, context, kind, text, len(blocks))
    counted = [
        {
            parts["name"]: tuple(min(int(parts[one]), MOST) for one in ("rx_bytes", "tx_bytes"))
            for line, parts in lines
            if line == "card" and parts["name"] in cards
        }
        for _, lines in blocks
    ]
    grown = [
        [tuple(np.subtract(now[one], before[one]).tolist()) for one in now if one in before]
        for before, now in pairwise(counted)
    ]
    right = [[one for one in each if min(one) >= 0] for each in grown]
    size = np.array([min(sum(map(sum, each)), MOST) for each in right], np.int64)
    number = np.array([len(each) for each in right], np.int64)
    # The load is by the last card that was read, whether or not its counters were right.
    speed = np.array([cards[[*one][-1]] if one else 1 for one in counted[1:]], np.int64)
    times = _times(session, context, kind, [time for time, _ in blocks])
    known = (times[:-1] != OUT_OF_RANGE) & (times[1:] != OUT_OF_RANGE) & (number > 0)
    length, size, number, speed = (one[known] for one in (np.diff(times), size, number, speed))
    return {
        "timestampNs": times[:-1][known],
        "usage": loads(size, length, number, speed),
        "speed": rates(size, length),
    }


def _blocks(session: Session, context: Context, kind: str) -> Iterator[Block]:
    """The blocks of a file; lines before the first are of none."""
    block: Block | None = None
    for line, parts in session.lines(context, kind):
        if line == "time":
            if block is not None:
                yield block
            block = int(parts["time"]), []
        elif block is not None:
            block[1].append((line, parts))
    if block is not None:
        yield block


def _times(session: Session, context: Context, kind: str, ticks: Sequence[int]) -> Integers:
    """Unix ns of the host's monotonic clock."""
    column = np.array([min(one, LIMIT) for one in ticks], np.int64)
    return times_of(session, context, kind, clock_name(kind), column)


def _cards(context: Context) -> dict[str, int]:
    """Speeds of the network cards in Mbit/s, by name, of those whose speed is known."""
    found = context.side.documents.get("info", {}).get("netCard")
    every = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    speeds_of = {str(one.get("netCardName")): one.get("speed") for one in every}
    return {
        name: speed
        for name, speed in speeds_of.items()
        if type(speed) is int and 0 < speed < _LARGEST
    }


def _stated(context: Context, document: str, key: str) -> int:
    """A whole number of a side file, 0 where there is none that can be."""
    found: Any = context.side.documents.get(document, {}).get(key)
    return found if type(found) is int and 0 < found < _LARGEST else 0


def _unknown(session: Session, context: Context, kind: str, lack: str, count: int) -> Columns:
    """No rows, and damage where there would be some."""
    if count:
        text = f"{kind}: {lack}, so its {count:,} samples are not known"
        session.damage.append(Damage(context.folder.path, text, kind=kind))
    return {}


_READERS: Mapping[str, Callable[[Session, Context], Columns]] = {
    HOST_TABLES["cpu"]: _processors,
    HOST_TABLES["mem"]: _memory,
    HOST_TABLES["disk"]: _disks,
    HOST_TABLES["network"]: _network,
}
