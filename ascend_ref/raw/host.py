"""Samples of the host: what they are in raw files and in tables.

Its files hold what the kernel counts: processor time in ticks, memory in pages, bytes of cards; and
what iotop prints of disks. Each row is of the time from its own to the next sample.

What is quantised so is quantised here, as the tables show it: see :func:`held_of_host`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Capture, Integers, Reals
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import Records

from .amounts import PERIOD
from .clocks import Clock
from .rates import MOST, SECOND, least_amounts, rates
from .samples import HOST_TABLES

Columns = Mapping[str, npt.NDArray[Any]]

TICKS = 100
"""Ticks of processor time per second; ``/proc/uptime`` has as many decimals."""
KIBI = 1 << 10
PAGE = 4
"""KiB of a page."""
MEGABIT = 125_000
"""Byte/s of 1 Mbit/s."""
DISK_FREQUENCY = SECOND // PERIOD
HUNDREDTHS = 100
"""Decimals of what iotop prints."""
_PARTS = 1_000_000
"""Readers round percents to six decimals."""
_WHOLE = 100 * _PARTS


class HostFacts(NamedTuple):
    """The host of a capture: logical processors, memory in KiB, speed of its card in Mbit/s."""

    processors: int
    memory: int
    speed: int


_USUAL = HostFacts(64, 512 << 20, 10_000)
"""What is written of a host of which nothing is recorded; files cannot be read without."""


def host_facts(capture: Capture) -> HostFacts:
    """The facts that are recorded of the host, else those of a usual one."""

    def fact(record: str, column: str, each: int) -> int:
        found = capture.records.get(record, {}).get(column, np.zeros(0, np.int64)).tolist()
        return found[0] // each if found else 0

    processors = capture.samples.get(HOST_TABLES["cpu"], {}).get("cpuId", np.zeros(0, np.int64))
    highest = int(processors.max(initial=NONE))
    return HostFacts(
        fact("host_cpu_usage", "processors", 1) or max(_USUAL.processors, highest + 1),
        fact("host_mem_usage", "total", KIBI) or _USUAL.memory,
        fact("host_network_usage", "speed", MEGABIT) or _USUAL.speed,
    )


def host_records(tables: Mapping[str, Columns], facts: HostFacts) -> Records:
    """The facts as records, of those tables that there are."""
    every = {
        HOST_TABLES["cpu"]: ("host_cpu_usage", "processors", facts.processors),
        HOST_TABLES["mem"]: ("host_mem_usage", "total", facts.memory * KIBI),
        HOST_TABLES["network"]: ("host_network_usage", "speed", facts.speed * MEGABIT),
    }
    return {
        record: {"device": np.array([NONE]), column: np.array([value], np.int64)}
        for table, (record, column, value) in every.items()
        if table in tables
    }


def lengths(time: Integers) -> Integers:
    """ns from each of these ascending times to the next; behind the last one a usual interval."""
    return np.diff(ends(time)).astype(np.int64)


def shares(part: npt.NDArray[Any], whole: npt.NDArray[Any] | int) -> Reals:
    """Percent as exporters round it."""
    return np.rint(part / whole * _WHOLE) / _PARTS


def uptime(time: Integers, clock: Clock) -> Integers:
    """Hundredths of a second for which the machine has been up."""
    return clock.ticks(time) // (SECOND // TICKS)


class Worked(NamedTuple):
    """Rows of CPU_USAGE in order of processor and time: what each is of.

    row: in the table. at: which of the moments; the next one ends it. ticks: processor time.
    """

    moments: Integers
    row: Integers
    at: Integers
    ticks: Integers


def worked(table: Columns, clock: Clock) -> Worked:
    """Processor time as the kernel counts it: what was begun is counted when half of it is over."""
    moments, at = np.unique(table["timestampNs"], return_inverse=True)
    row = np.lexsort((at.reshape(-1), table["cpuId"]))
    at = at.reshape(-1)[row]
    load = np.rint(np.clip(table["usage"][row], 0, 100) * _PARTS).astype(np.int64)
    # In parts of a tick; whole ticks stay whole, so that no interval has more than it is long.
    amount = load * np.diff(uptime(ends(moments), clock))[at]
    after = np.cumsum(amount)
    before = after - amount
    first = np.append(True, np.diff(table["cpuId"][row]) != 0)[: len(row)]
    base = np.repeat(before[first], np.diff(np.append(np.flatnonzero(first), len(row))))
    half = _WHOLE // 2
    ticks = (after - base + half) // _WHOLE - (before - base + half) // _WHOLE
    return Worked(moments, row, at, ticks)


def ends(moments: Integers) -> Integers:
    """The moments and the one at which the last interval ends."""
    return np.append(moments, moments[-1:] + PERIOD)


def pages(table: Columns, facts: HostFacts) -> Integers:
    """Pages that the process has in memory."""
    return np.rint(table["usage"] / 100 * facts.memory / PAGE).astype(np.int64)


def loads(size: Integers, length: Integers, cards: Integers, speed: Integers) -> Reals:
    """Percent of what the last card can carry in one direction, of the mean of the cards."""
    able = cards * (speed * float(MEGABIT)) * np.maximum(length, 1) / SECOND
    return np.where(length > 0, shares(size, able), 0.0)


def disk_rates(rate: npt.NDArray[Any]) -> Integers:
    """Hundredths of KiB/s, which iotop prints."""
    return np.rint(rate * (HUNDREDTHS / KIBI)).astype(np.int64)


def in_order(table: Columns) -> Columns:
    """The rows in order of time."""
    order = np.argsort(table["timestampNs"], kind="stable")
    return {name: column[order] for name, column in table.items()}


def _of_processors(table: Columns, _: HostFacts, clock: Clock) -> Columns:
    found = worked(table, clock)
    length = np.diff(uptime(ends(found.moments), clock))[found.at]
    # Between samples of one hundredth of a second nothing can be seen.
    order = np.lexsort((table["cpuId"][found.row], found.at))
    order = order[length[order] > 0]
    return {
        "timestampNs": found.moments[found.at[order]],
        "cpuId": table["cpuId"][found.row[order]],
        "usage": shares(found.ticks[order], length[order]),
    }


def _of_memory(table: Columns, facts: HostFacts, _: Clock) -> Columns:
    return {**table, "usage": shares(pages(table, facts) * PAGE, facts.memory)}


def _of_disks(table: Columns, _: HostFacts, __: Clock) -> Columns:
    """The file states the time of the first sample alone."""
    table = in_order(table)
    time = table["timestampNs"]
    return {
        "timestampNs": time[:1] + np.arange(len(time)) * PERIOD,
        "readRate": byte_rates(disk_rates(table["readRate"])),
        "writeRate": byte_rates(disk_rates(table["writeRate"])),
        "usage": np.rint(table["usage"] * HUNDREDTHS) / HUNDREDTHS,
    }


def byte_rates(hundredths: npt.NDArray[Any]) -> Integers:
    """Byte/s of hundredths of KiB/s."""
    return np.minimum(np.rint(hundredths * (KIBI / HUNDREDTHS)), MOST).astype(np.int64)


def _of_network(table: Columns, facts: HostFacts, _: Clock) -> Columns:
    """The load follows from the speed."""
    table = in_order(table)
    length = lengths(table["timestampNs"])
    size = least_amounts(table["speed"], length)
    one = np.ones(len(size), np.int64)
    return {
        "timestampNs": table["timestampNs"],
        "usage": loads(size, length, one, one * facts.speed),
        "speed": rates(size, length),
    }


_HELD: Mapping[str, Callable[[Columns, HostFacts, Clock], Columns]] = {
    HOST_TABLES["cpu"]: _of_processors,
    HOST_TABLES["mem"]: _of_memory,
    HOST_TABLES["disk"]: _of_disks,
    HOST_TABLES["network"]: _of_network,
}


def held_of_host(capture: Capture, name: str, table: Columns, clock: Clock) -> Columns:
    """A table of the host with what raw files hold of it.

    clock: the host's monotonic clock. No sample is taken after the end of the session.
    """
    found = _HELD[name](table, host_facts(capture), clock)
    if capture.origin.end is None:
        return found
    before = found["timestampNs"] <= capture.origin.end
    return {column: values[before] for column, values in found.items()}
