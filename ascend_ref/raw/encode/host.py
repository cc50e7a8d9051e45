"""Samples of the host: its processors, memory, disks and network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from ascend_ref.capture import Capture

from ..host import (
    DISK_FREQUENCY,
    HUNDREDTHS,
    TICKS,
    Columns,
    HostFacts,
    disk_rates,
    ends,
    host_facts,
    in_order,
    lengths,
    pages,
    uptime,
    worked,
)
from ..lines import Entry
from ..rates import SECOND, least_amounts
from ..samples import FILES, HOST_TABLES
from .tree import RawTree

_PROGRAM = "python"
_CARD = "eth0"


def host_settings(capture: Capture) -> dict[str, Any]:
    """What sample.json has to say for readers of the disks."""
    return {"host_disk_freq": DISK_FREQUENCY} if HOST_TABLES["disk"] in capture.samples else {}


def host_machine(capture: Capture) -> dict[str, Any]:
    """What info.json has to say for readers of the samples; nothing where there are none."""
    if not capture.samples.keys() & set(HOST_TABLES.values()):
        return {}
    facts = host_facts(capture)
    return {
        "cpuNums": facts.processors,
        "sysClockFreq": TICKS,
        "memoryTotal": facts.memory,
        "netCard": [{"netCardName": _CARD, "speed": facts.speed}],
    }


def write_host(capture: Capture, tree: RawTree) -> None:
    """Write the samples of the host that there are."""
    facts = host_facts(capture)
    for name, lines in _LINES.items():
        table = capture.samples.get(name)
        if table is not None and len(table["timestampNs"]) and tree.writes(FILES[name]):
            tree.write_lines(FILES[name], lines(table, tree, facts))


def _line(kind: str, **parts: object) -> Entry:
    return Entry(kind, parts)


def _processors(table: Columns, tree: RawTree, facts: HostFacts) -> Iterator[Entry]:
    """A thread for each processor, another one where it was not sampled in between."""
    clock = tree.host.monotonic
    found = worked(table, clock)
    processor = table["cpuId"][found.row]
    first = np.append(True, (np.diff(processor) != 0) | (np.diff(found.at) != 1))
    run = np.cumsum(first) - 1
    after = np.cumsum(found.ticks)
    total = after - (after - found.ticks)[first][run]
    sample = np.concatenate([found.at[first], found.at + 1])
    columns = (
        sample,
        np.concatenate([run[first], run]),
        np.concatenate([0 * run[first], total]),
        np.concatenate([processor[first], processor]),
    )
    order = np.lexsort((columns[1], sample))
    rows = zip(*(one[order].tolist() for one in columns), strict=True)
    moments = ends(found.moments)
    times, up = clock.ticks(moments).tolist(), uptime(moments, clock).tolist()
    for at, threads in groupby(rows, key=itemgetter(0)):
        yield _line("time", time=times[at])
        yield _line("uptime", up=_decimal(up[at]), idle=_decimal(0))
        for _, thread, ticks, number in threads:
            yield _line(
                "thread",
                thread=thread + 1,
                name=_PROGRAM,
                state=" ".join(["R", *"0" * 10]),
                user=ticks,
                system=0,
                others=" ".join("0" * 23),
                processor=number,
                rest=" ".join("0" * 13),
            )


def _memory(table: Columns, tree: RawTree, facts: HostFacts) -> Iterator[Entry]:
    table = in_order(table)
    size = pages(table, facts)
    times = tree.host.monotonic.ticks(ends(table["timestampNs"])).tolist()
    for time, resident in zip(times, np.append(size[:1], size).tolist(), strict=True):
        yield _line(
            "sample",
            time=time,
            size=resident,
            resident=resident,
            **dict.fromkeys(("shared", "text", "libraries", "data", "dirty"), 0),
        )


def _disks(table: Columns, tree: RawTree, facts: HostFacts) -> Iterator[Entry]:
    table = in_order(table)
    times = tree.host.monotonic.ticks(table["timestampNs"]).tolist()
    yield _line("start", time=times[0])
    rates = (disk_rates(table[name]).tolist() for name in ("readRate", "writeRate"))
    usage = np.rint(table["usage"] * HUNDREDTHS).astype(np.int64).tolist()
    for time, read, written, share in zip(times, *rates, usage, strict=True):
        seconds = time // SECOND % 86_400
        yield _line(
            "sample",
            clock=f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}",
            pid=1,
            priority="be/4",
            user="root",
            read=_decimal(read),
            read_unit="K/s",
            write=_decimal(written),
            write_unit="K/s",
            swap=_decimal(0),
            usage=_decimal(share),
            command=_PROGRAM,
        )


def _network(table: Columns, tree: RawTree, facts: HostFacts) -> Iterator[Entry]:
    """All of the traffic as received by one card."""
    table = in_order(table)
    size = least_amounts(table["speed"], lengths(table["timestampNs"]))
    times = tree.host.monotonic.ticks(ends(table["timestampNs"])).tolist()
    nothing = dict.fromkeys(("rx_packets", "rx_errors", "tx_bytes", "tx_packets", "tx_errors"), 0)
    others = dict.fromkeys(("rx_others", "tx_others"), " ".join("0" * 5))
    for time, total in zip(times, np.append(0, np.cumsum(size)).tolist(), strict=True):
        yield _line("time", time=time)
        yield _line("card", name=_CARD, rx_bytes=total, **nothing, **others)


def _decimal(hundredths: int) -> str:
    return f"{hundredths // HUNDREDTHS}.{hundredths % HUNDREDTHS:02}"


_LINES: Mapping[str, Callable[[Columns, RawTree, HostFacts], Iterator[Entry]]] = {
    HOST_TABLES["cpu"]: _processors,
    HOST_TABLES["mem"]: _memory,
    HOST_TABLES["disk"]: _disks,
    HOST_TABLES["network"]: _network,
}
