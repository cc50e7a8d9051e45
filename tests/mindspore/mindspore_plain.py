"""The operator chain once more, record by record: slow, and made of nothing but the documents."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

TYPES = ("Start of task", "End of task", "Start of block", "End of block", "Block PMU")


@dataclass(frozen=True)
class Log:
    """One record of the log that is no PMU of a block with a warning."""

    kind: int
    count: int
    core: int
    block: int
    task: int
    stream: int
    tick: int | None
    key: str = ""


def logs(content: bytes, day: str) -> Iterator[Log]:
    """The records of known kinds, with the keys of the day."""
    last: dict[int, int] = {}
    flips = 0
    for start in range(0, len(content) - 63, 64):
        head, core, _, block, task, tick, stream = struct.unpack_from("<BBHHHQI", content, start)
        kind = head & 7
        if kind > 4:
            continue
        number: int | None = tick
        if kind == 4:
            (number,) = struct.unpack_from("<Q", content, start + 24)
            number = None if head & 8 else number
        if day >= "2022-09-19":
            before = last.get(stream, 0)
            flips += before > 65_000 and task < before
            last[stream] = task
        if day < "2022-06-28":
            key = f"{task}" if task >= 25_000 else f"{stream}_{task}"
        else:
            key = f"{stream}_{task + 65_536 * flips}"
        yield Log(kind, head >> 4, core, block, task, stream, number, key)


def format_data(found: Iterable[Log]) -> str:
    """``output_format_data_hwts``."""
    lines = [
        "====================45 HWTS data====================",
        "Type           cnt  Core_ID  Block_ID  Task_ID  Cycle_counter   Stream_ID",
    ]
    for one in found:
        cells = (TYPES[one.kind], one.count, one.core, one.block, one.key, one.tick)
        widths = (14, 4, 8, 9, 8, 15)
        texts = (f"{cell!s:<{width}} " for cell, width in zip(cells, widths, strict=True))
        lines.append(f"{''.join(texts)}{one.stream}")
    return "\n".join([*lines, "", ""])


Execution = tuple[str, Log, Log]
"""An operator, and the records of the start and the end of one execution."""


def adjacent(known: Sequence[tuple[str, Log]]) -> list[Execution]:
    """Pairs of a start and an end right behind it."""
    found = []
    place = 0
    while place + 1 < len(known):
        (name, start), (other, end) = known[place], known[place + 1]
        if start.kind == 0 and end.kind == 1 and name == other:
            found.append((name, start, end))
            place += 2
        else:
            place += 1
    return found


def last_start(known: Sequence[tuple[str, Log]]) -> list[Execution]:
    """Pairs of an end and the last start of its operator."""
    begun: dict[str, Log] = {}
    found = []
    for name, one in known:
        if one.kind == 0:
            begun[name] = one
        elif name in begun:
            found.append((name, begun.pop(name), one))
    return found


def executions(found: Iterable[Log], names: Mapping[str, str], day: str) -> list[Execution]:
    """The executions of operators in order."""
    known = [(names[one.key], one) for one in found if one.kind < 2 and one.key in names]
    return adjacent(known) if day < "2023-04-12" else last_start(known)


def compute_time(found: Sequence[Execution], day: str) -> str:
    """``output_op_compute_time`` as from 2020-06-18 on."""
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    first: dict[str, Log] = {}
    for name, start, end in found:
        duration = (float(end.tick or 0) - float(start.tick or 0)) / 1e5
        sums[name] = sums[name] + duration if name in sums else duration
        first.setdefault(name, start)
        is_counted = day >= "2023-02-28" or start.key == first[name].key
        counts[name] = counts.get(name, 0) + is_counted
    total: float = 0
    counted = " execution_times" if day >= "2023-02-28" else ""
    lines = [
        "====================op compute time====================",
        f"op_name       compute_time(ms) stream_id{counted}",
        "------------  ---------------  ---------",
    ]
    for name, time in sums.items():
        average = time / counts[name]
        total += average
        stream = first[name].stream
        row = (
            f"{name} {average} {stream} {counts[name]}"
            if counted
            else f"{name} {average}  {stream}"
        )
        lines.append(row)
    return "\n".join([*lines, f"total op  {total} 0", ""])


def timeline(found: Sequence[Execution]) -> str:
    """``output_timeline_data`` as from 2020-07-01 on."""
    order: dict[str, list[tuple[str, int, str, str]]] = {}
    for name, start, end in found:
        duration = (float(end.tick or 0) - float(start.tick or 0)) / 1e5
        stream = order[name][0][1] if name in order else start.stream
        row = (name, stream, str(float(start.tick or 0) / 1e5), str(duration))
        order.setdefault(name, []).append(row)
    rows = sorted((row for rows in order.values() for row in rows), key=lambda row: float(row[2]))
    lines = ["op_name, stream_id, start_time(ms), duration(ms)"]
    return "\n".join([*lines, *(",".join(map(str, row)) for row in rows), ""])
