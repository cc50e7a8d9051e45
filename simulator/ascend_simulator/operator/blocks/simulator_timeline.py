"""Block 0x02 of a run in the simulator: every instruction of every core, and counters of what MTE2
and MTE3 moved in each microsecond.

A sample stands at the end of its microsecond: viewers drop what lies at 0 (bin-blocks.md 3.2).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ascend_ref.bin import canonical
from ascend_ref.capture import Integers
from ascend_spec import bin_catalog

from ..chip import MEBI
from ..memory import each
from ..program.flags import EVENT_SET, EVENT_WAIT, flag_operands
from ..program.listing import BARRIER, CROSS_SET, CROSS_WAIT, SET, WAIT, Instruction
from ..program.tape import FlagKey, Step
from ..world import World
from .numbers import simulator_address
from .timeline import ORDERED, colour, document, lane_orders, sort_index

VECTOR_CORES = 2
PAIRED = (SET, WAIT, EVENT_SET, EVENT_WAIT, CROSS_SET, CROSS_WAIT)
"""Instructions that are drawn by their two ends, and joined by a flow."""
COUNTED = {
    "MOV_OUT_TO_UB_ALIGN": "GM_TO_UB",
    "MOV_OUT_TO_L1_MULTI_ND2NZ": "GM_TO_L1",
    "MOV_UB_TO_OUT_ALIGN": "UB_TO_GM",
}
"""Counters by instruction; what FIXP moves is in none."""
TOTALS = {"GM_TO_TOTAL": ("GM_TO_UB", "GM_TO_L1"), "TOTAL_TO_GM": ("UB_TO_GM", "L1_TO_GM")}


@dataclass(frozen=True, slots=True)
class _Event:
    """One execution of an instruction; start, end: cycles of the task."""

    step: Step
    core: str
    start: int
    end: int
    detail: str
    bytes: int


def simulator_timeline(world: World) -> bytes:
    """The payload of 0x02."""
    return document(_all(world, _by_core(world)), ORDERED)


def _all(world: World, by_core: dict[str, list[_Event]]) -> Iterator[bytes]:
    for core in by_core:
        yield canonical(sort_index("process_sort_index", core, "NA", _process_order(core)))
    crossing: defaultdict[tuple[int, FlagKey], deque[_Event]] = defaultdict(deque)
    pairs: list[tuple[_Event, _Event]] = []
    texts = _Texts(world)
    for core, events in by_core.items():
        for lane, order in lane_orders().items():
            yield canonical(sort_index("thread_sort_index", core, lane, order))
        for event in events:
            if event.step.instruction.name not in PAIRED:
                yield texts.whole(event)
        yield from _flags(texts, core, events)
    for block, event in _crossings(world, by_core):
        key = event.step.flag
        if key is None:
            continue
        if event.step.sets is not None:
            crossing[block, key].append(event)
        else:
            pairs.append((crossing[block, key].popleft(), event))
    for number, (first, second) in enumerate(pairs):
        yield from texts.pair(first, second, f"intra_{number}")
    yield from map(canonical, _throughput(world))


def _process_order(core: str) -> int:
    number = _core_number(core) * (VECTOR_CORES + 1)
    return number + 1 if core.endswith("cubecore0") else number + 2 + int(core[-1])


def _core_number(core: str) -> int:
    return int(core.partition(".")[0].removeprefix("core"))


def _by_core(world: World) -> dict[str, list[_Event]]:
    """The executions on each core, by their end and then by address; cores by name."""
    found: defaultdict[str, list[_Event]] = defaultdict(list)
    for block in range(world.program.block_dim):
        ran = world.ran(block)
        times = zip(ran.start.tolist(), ran.end.tolist(), strict=True)
        for step, (start, end) in zip(ran.steps, times, strict=True):
            core = world.program.core_name(block, step.unit)
            size = _bytes(step, ran.place)
            found[core].append(_Event(step, core, start, end, _detail(world, step), size))
    for events in found.values():
        events.sort(key=lambda event: (event.end, event.step.instruction.address))
    return dict(sorted(found.items()))


def _bytes(step: Step, place: int) -> int:
    total = 0
    for one in step.transfers:
        size = one.size
        total += size if isinstance(size, int) else int(size[place])
    return total


def _detail(world: World, step: Step) -> str:
    """The operands as the simulator logs them; those of flags with their number."""
    key = step.flag
    if key is None:
        return f"{step.instruction.operands}," if step.instruction.operands else ""
    source_unit, source, target_unit, target, number = key
    if source_unit != target_unit:
        return f"{step.instruction.operands}:{number},"
    return f"{flag_operands(world.chip, source, target, number)},"


def _flags(texts: _Texts, core: str, events: list[_Event]) -> Iterator[bytes]:
    """SETs and WAITs of one core: of each flag the first with the first; every SET is awaited."""
    sets, waits = (
        sorted(
            (event for event in events if event.step.instruction.name in names),
            key=lambda event: event.detail,
        )
        for names in ((SET, EVENT_SET), (WAIT, EVENT_WAIT))
    )
    for number, (first, second) in enumerate(zip(sets, waits, strict=True)):
        yield from texts.pair(first, second, f"{core}_{number}")


def _crossings(world: World, by_core: dict[str, list[_Event]]) -> Iterator[tuple[int, _Event]]:
    """SETs and WAITs between the cores of a block (950), SETs first where both end together."""
    found = [
        event
        for events in by_core.values()
        for event in events
        if event.step.instruction.name in (CROSS_SET, CROSS_WAIT)
    ]
    found.sort(key=lambda event: (event.end, event.step.sets is None, event.core))
    for event in found:
        yield _core_number(event.core), event


class _Texts:
    """Events as text; all that repeats is made once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._time = cache(lambda cycles: canonical(self._world.microseconds(cycles)))
        self._known: dict[tuple[str, int, str, int], tuple[bytes, bytes]] = {}

    def whole(self, event: _Event) -> bytes:
        """An instruction with its duration; a barrier only with its last cycle."""
        code = event.step.instruction
        start = event.end - 1 if code.name == BARRIER else event.start
        before, between = self._around(event)
        duration, begin = self._time(event.end - start), self._time(start)
        return b"".join((before, duration, between, begin, b"}"))

    def pair(self, first: _Event, second: _Event, number: str) -> Iterator[bytes]:
        """A SET and its WAIT by their ends, and the flow from the one to the other."""
        for event in (first, second):
            yield from map(canonical, self._ends(event, number))
        category = f"{first.step.instruction.pipe}To{second.step.instruction.pipe}"
        for phase, event in (("s", first), ("t", second)):
            yield canonical(
                {
                    "cat": category,
                    "id": number,
                    "name": "flow",
                    "ph": phase,
                    "pid": event.core,
                    "tid": event.step.instruction.pipe,
                    "ts": self._world.microseconds(event.end),
                }
            )

    def _ends(self, event: _Event, number: str) -> Iterator[dict[str, Any]]:
        code = event.step.instruction
        # A SET is drawn as its last cycle; those between cores are not.
        start = event.end - 1 if code.name in (SET, EVENT_SET) else event.start
        for phase, cycle in (("B", start), ("E", event.end)):
            crossing = code.name in (CROSS_SET, CROSS_WAIT)
            yield {
                "args": self._args(code, event.detail) if phase == "B" else {},
                "cname": colour(code.pipe if crossing and phase == "B" else code.name),
                "id": number,
                "name": code.name,
                "ph": phase,
                "pid": event.core,
                "tid": code.pipe,
                "ts": self._world.microseconds(cycle),
            }

    def _around(self, event: _Event) -> tuple[bytes, bytes]:
        """What stands before the duration of an instruction, and between it and the start."""
        code = event.step.instruction
        key = (event.core, code.index, event.detail, event.bytes)
        if key not in self._known:
            args = self._args(code, event.detail)
            if event.bytes:
                args["process_bytes"] = str(event.bytes)
            before = canonical({"args": args, "cname": colour(code.pipe)})
            between = canonical({"name": code.name, "ph": "X", "pid": event.core, "tid": code.pipe})
            self._known[key] = (before[:-1] + b',"dur":', b"," + between[1:-1] + b',"ts":')
        return self._known[key]

    def _args(self, code: Instruction, detail: str) -> dict[str, str]:
        return {
            "code": f"{self._world.program.code.source.path}:{code.line}",
            "detail": detail,
            "pc_addr": simulator_address(code.address),
        }


def _throughput(world: World) -> Iterator[dict[str, Any]]:
    """Events of all counters, microsecond by microsecond, and a last one that closes them."""
    begin, end, size, name = _copies(world)
    if not len(begin):
        return
    points = int(end.max()) // world.frequency + 1
    moved = {counter: np.zeros(points) for counter in _counters()}
    for counter in set(COUNTED.values()):
        own = name == counter
        moved[counter] += _spread(world, begin[own], end[own], size[own], points)
    for total, parts in TOTALS.items():
        moved[total] = sum((moved[part] for part in parts), np.zeros(points))
    for point in range(points + 1):
        for counter in _counters():
            value = float(moved[counter][point]) * 1e6 / MEBI if point < points else 0.0
            yield {
                "args": {"throughput(MB/s)": value},
                "name": counter,
                "ph": "C",
                "pid": "MTE Throughput",
                "tid": 0,
                "ts": point + 1,
            }


def _counters() -> list[str]:
    return [str(one.value) for one in bin_catalog().enums["counters"].members]


def _copies(world: World) -> tuple[Integers, Integers, Integers, Any]:
    """First and last cycle, Byte and counter of every copy."""
    transfers = world.transfers
    begin, end = world.moments
    names = [COUNTED.get(one.name, "") for one in world.program.code.instructions]
    name = np.array(names)[transfers.code]
    counted = name != ""
    return begin[counted], end[counted], transfers.size[counted], name[counted]


def _spread(world: World, begin: Integers, end: Integers, size: Integers, points: int) -> Any:
    """Byte in each microsecond, when copies run evenly."""
    width = world.frequency
    first, last = begin // width, (end - 1) // width
    owner, number = each(last - first + 1)
    point = first[owner] + number
    low = np.maximum(begin[owner], point * width)
    high = np.minimum(end[owner], (point + 1) * width)
    share = size[owner] * (high - low) / (end - begin)[owner]
    return np.bincount(point, share, points)
