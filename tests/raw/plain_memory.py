"""Memory of the framework as torch_npu's analysis finds it, event by event.

Facts of _memory_prepare_parser.py; nothing of it is copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plain_operators import PlainOperator, name_at, nest

from ascend_ref.capture import Capture

OF_QUEUE = ("aten::", "npu::", "atb::")
NONE = -1


@dataclass(frozen=True)
class Event:
    """An event of an allocator; kind: 0 a block is taken, 1 given back, 2 back in the pool."""

    time: int
    kind: int
    address: int
    size: int
    totals: tuple[int, int, int]
    thread: int
    component: int = 0
    inner: bool = True
    stream: int = 7
    device: int = 0


@dataclass(frozen=True)
class Entry:
    """Both ends of an entry of the queue: when it was put in, and when it was taken out."""

    entering: tuple[int, int]
    entering_thread: int
    leaving: tuple[int, int]
    leaving_thread: int
    link: int


def plain_memory(capture: Capture) -> Mapping[str, list[dict[str, Any]]]:
    """Blocks, totals and runs of the garbage collector, with texts in place of numbers."""
    texts = capture.texts.all
    found = {}
    for table in ("memory_blocks", "memory_totals", "collections"):
        columns = {
            name: [texts[one] for one in values.tolist()]
            if name in ("name", "component")
            else values.tolist()
            for name, values in getattr(capture, table).columns()
        }
        rows = zip(*columns.values(), strict=True)
        found[table] = [dict(zip(columns, row, strict=True)) for row in rows]
    return found


def blocks_of(
    events: Sequence[Event], operators: list[PlainOperator], entries: Sequence[Entry]
) -> list[dict[str, Any]]:
    """The blocks of events, one after the other."""
    if not operators:
        return []
    nest(operators)
    of_address: dict[int, list[Event]] = {}
    for event in sorted(events, key=lambda one: one.time):
        if event.inner:
            of_address.setdefault(event.address, []).append(event)
    found: list[list[Event]] = []
    for own in of_address.values():
        open_one: list[Event] = []
        for event in own:
            if event.kind == 0:
                open_one = [event]
                found.append(open_one)
            elif open_one and event.kind not in [one.kind for one in open_one]:
                open_one.append(event)
            else:
                open_one = []
    found.sort(key=lambda one: one[0].time)
    return [_row(one, operators, entries) for one in found]


def _row(
    events: Sequence[Event], operators: list[PlainOperator], entries: Sequence[Entry]
) -> dict[str, Any]:
    first = events[0]
    of_kind = {one.kind: one for one in events}
    over = of_kind.get(1, of_kind.get(2))
    names = ("allocated", "reserved", "active")
    return {
        "name": _name(first, operators, entries),
        "size": first.size,
        "allocated": first.time,
        "released": of_kind[1].time if 1 in of_kind else NONE,
        "inactive": of_kind[2].time if 2 in of_kind else NONE,
        **{f"total_{name}": one for name, one in zip(names, first.totals, strict=True)},
        **{
            f"release_total_{name}": NONE if over is None else over.totals[place]
            for place, name in enumerate(names)
        },
        "stream": first.stream,
        "device": first.device,
    }


def _name(event: Event, operators: list[PlainOperator], entries: Sequence[Entry]) -> str:
    left = [
        one
        for one in entries
        if one.leaving_thread == event.thread and one.leaving[0] <= event.time
    ]
    out = max(left, key=lambda one: one.leaving[0], default=None)
    if out is None or event.time >= out.leaving[1]:
        return name_at(event.time, event.thread, operators)
    before = [
        one
        for one in operators
        if one.thread == out.entering_thread
        and one.start <= out.entering[1]
        and one.name not in ("empty_tensor", "malloc_workspace")
    ]
    found = max(before, key=lambda one: one.start, default=None)
    while found is not None and not found.name.startswith(OF_QUEUE):
        found = found.parent
    return "" if found is None else found.name
