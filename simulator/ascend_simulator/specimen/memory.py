"""Memory of operators: blocks of the framework, workspaces of the graph engine, their totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ascend_ref.db.encode.habits import Habits

from ..draws import Draws
from .shape import Shape
from .tasks import Row, Rows, global_tid
from .world import Allocation, Workspace, World

PAGE_BYTES = 512
STREAM_POINTERS = (897_461_056, 897_462_528)
FIRST_ADDRESS = 20_617_629_794_304
POOL_BYTES = 2 << 20
FIRST_ALLOCATED = {"PTA": 981_462_016, "GE": 65_536}
FIRST_RESERVED = {"PTA": 1_522_532_352, "GE": 78_381_056}


class CannText(str):
    """A text that the framework's tables take from CANN's strings instead of their own."""


@dataclass(slots=True)
class Totals:
    """What a component holds, at one moment."""

    allocated: int
    reserved: int
    active: int

    def change(self, allocated: int, active: int) -> Totals:
        """The totals after an event; the pool grows by whole chunks when it must."""
        held = self.allocated + allocated, self.active + active
        chunks = -(-max(*held, self.reserved) // POOL_BYTES)
        reserved = self.reserved if max(held) <= self.reserved else chunks * POOL_BYTES
        return Totals(held[0], reserved, held[1])


class Event(NamedTuple):
    """A change of one block: allocation, release, or return to the pool."""

    time: int
    component: str
    block: int
    kind: str
    allocated: int
    active: int


def allocate(world: World, shape: Shape) -> None:
    """Let the operators of a played world take memory; adds allocations and workspaces."""
    draws = Draws(shape.seed, "memory")
    end = world.steps[-1][1]
    operators = [row for row in world.activities if row.kind == "op" and row.shapes]
    for place, row in enumerate(operators):
        start = row.start + 150
        released = None if place % 3 == 2 else row.end + draws.one(60_000, 200_000, 10)
        if released is not None and released > end - 1_000:
            released = None
        inactive = None if released is None else released + draws.one(10, 400, 10)
        size = draws.one(PAGE_BYTES, 4 << 20, PAGE_BYTES)
        world.allocations.append(
            Allocation(row.name, size, start, released, inactive, STREAM_POINTERS[place % 5 == 4])
        )
    for place, task in enumerate(task for task in world.tasks if task.kernel and task.call):
        if task.kernel is None or task.call is None or task.device != world.busy_devices[0]:
            continue
        size = draws.one(PAGE_BYTES, 1 << 20, PAGE_BYTES)
        start, length = task.call.start + 310, draws.one(2_000, 9_000, 10)
        address = FIRST_ADDRESS + place * (1 << 21)
        world.workspaces.append(
            Workspace(task.kernel.name, size, start, start + length, address, task.call.thread)
        )


def memory_tables(world: World, habits: Habits) -> dict[str, Rows]:
    """Rows of NPU_OP_MEM, OP_MEMORY and MEMORY_RECORD."""
    if not world.allocations:
        return {"NPU_OP_MEM": [], "OP_MEMORY": [], "MEMORY_RECORD": []}
    events = sorted(_framework_events(world) + _engine_events(world))
    after = _totals(events)
    return {
        "NPU_OP_MEM": _npu_op_mem(world, events, after),
        "OP_MEMORY": _op_memory(world, events, after),
        "MEMORY_RECORD": _memory_record(world, events, after, habits),
    }


def _framework_events(world: World) -> list[Event]:
    events = []
    for number, block in enumerate(world.allocations):
        events.append(Event(block.start, "PTA", number, "allocate", block.size, block.size))
        if block.end is not None and block.inactive is not None:
            events.append(Event(block.end, "PTA", number, "release", -block.size, 0))
            events.append(Event(block.inactive, "PTA", number, "return", 0, -block.size))
    return events


def _engine_events(world: World) -> list[Event]:
    events = []
    for number, block in enumerate(world.workspaces):
        events.append(Event(block.start, "GE", number, "allocate", block.size, 0))
        events.append(Event(block.end, "GE", number, "release", -block.size, 0))
    return events


def _totals(events: list[Event]) -> list[Totals]:
    """Totals of the event's own component after each event."""
    current = {
        name: Totals(FIRST_ALLOCATED[name], FIRST_RESERVED[name], 0) for name in FIRST_ALLOCATED
    }
    current["PTA"].active = FIRST_ALLOCATED["PTA"]
    after = []
    for event in events:
        current[event.component] = current[event.component].change(event.allocated, event.active)
        after.append(current[event.component])
    return after


def _npu_op_mem(world: World, events: list[Event], after: list[Totals]) -> Rows:
    rows: Rows = []
    for event, totals in zip(events, after, strict=True):
        if event.component != "GE":
            continue
        block = world.workspaces[event.block]
        rows.append(
            {
                "operatorName": block.name,
                "addr": block.address,
                "type": event.kind,
                "size": block.size,
                "timestampNs": event.time,
                "globalTid": global_tid(block.thread),
                "totalAllocate": totals.allocated,
                "totalReserve": totals.reserved,
                "component": "GE",
                "deviceId": world.busy_devices[0],
            }
        )
    return rows


def _op_memory(world: World, events: list[Event], after: list[Totals]) -> Rows:
    """Framework blocks first, those of the graph engine after them, each in order of time."""
    found = {
        (event.component, event.block, event.kind): totals
        for event, totals in zip(events, after, strict=True)
    }
    rows: Rows = []
    for number, block in enumerate(world.allocations):
        times = (block.start, block.end, block.inactive)
        first, last = found["PTA", number, "allocate"], found.get(("PTA", number, "release"))
        row = _block_row(times, first, last, block.stream)
        rows.append({"name": block.name, "size": block.size, **row})
    rows.sort(key=lambda row: (row["allocationTime"],))
    for number, space in enumerate(world.workspaces):
        first, last = found["GE", number, "allocate"], found["GE", number, "release"]
        times = (space.start, space.end, None)
        row = _block_row(times, first, last, None)
        rows.append({"name": CannText(space.name), "size": space.size, **row})
    return [{**row, "deviceId": world.busy_devices[0]} for row in rows]


def _block_row(
    times: tuple[int, int | None, int | None],
    first: Totals,
    last: Totals | None,
    stream: int | None,
) -> Row:
    """The moments of one OP_MEMORY row; the graph engine (no stream) knows no active memory."""
    start, end, inactive = times
    engine = stream is None
    return {
        "allocationTime": start,
        "releaseTime": end,
        "activeReleaseTime": inactive,
        "duration": None if end is None else end - start,
        "activeDuration": None if inactive is None else inactive - start,
        "allocationTotalAllocated": first.allocated,
        "allocationTotalReserved": first.reserved,
        "allocationTotalActive": None if engine else first.active,
        "releaseTotalAllocated": last.allocated if last else None,
        "releaseTotalReserved": last.reserved if last else None,
        "releaseTotalActive": last.active if last and not engine else None,
        "streamPtr": stream,
    }


def _memory_record(world: World, events: list[Event], after: list[Totals], habits: Habits) -> Rows:
    """Each PTA or GE row is followed by the sum with the other component's last row (I34)."""
    rows: Rows = []
    last: dict[str, Totals] = {}
    stream: int | None = None
    for event, totals in zip(events, after, strict=True):
        framework = event.component == "PTA"
        if framework:
            stream = world.allocations[event.block].stream
        last[event.component] = totals
        both = [last[name] for name in ("PTA", "GE") if name in last]
        sums = Totals(
            sum(item.allocated for item in both),
            sum(item.reserved for item in both),
            sum(item.active for item in both),
        )
        own_stream = stream if framework else None
        rows.append(_record_row(world, event.component, event.time, totals, own_stream))
        rows.append(_record_row(world, "PTA+GE", event.time, sums, stream))
        if habits.workspace and framework and event.kind == "allocate" and event.block % 4 == 0:
            size = world.allocations[event.block].size
            rows.append(
                _record_row(world, "WORKSPACE", event.time, Totals(size, size, size), stream)
            )
    return rows


def _record_row(world: World, component: str, time: int, totals: Totals, stream: int | None) -> Row:
    return {
        "component": component,
        "timestamp": time,
        "totalAllocated": totals.allocated,
        "totalReserved": totals.reserved,
        "totalActive": totals.active,
        "streamPtr": stream,
        "deviceId": world.busy_devices[0],
    }
