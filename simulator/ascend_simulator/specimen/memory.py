"""Memory of operators: blocks of the framework, workspaces of the graph engine, their totals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ascend_ref.capture.model import NONE

from ..draws import Draws
from .shape import Shape
from .world import World

PAGE_BYTES = 512
STREAM_POINTERS = (897_461_056, 897_462_528)
FIRST_ADDRESS = 20_617_629_794_304
POOL_BYTES = 2 << 20
FRAMEWORK, ENGINE, WORKSPACE = "PTA", "GE", "WORKSPACE"
FIRST_ALLOCATED = {FRAMEWORK: 981_462_016, ENGINE: 65_536}
FIRST_RESERVED = {FRAMEWORK: 1_522_532_352, ENGINE: 78_381_056}
FIRST_ACTIVE = {FRAMEWORK: FIRST_ALLOCATED[FRAMEWORK], ENGINE: 0}


class Allocation(NamedTuple):
    """A block of device memory that an operator held; NONE where it was never given back.

    thread: of the graph engine's operators, which know no streams.
    """

    component: str
    name: str
    size: int
    start: int
    end: int
    inactive: int
    stream: int = NONE
    address: int = NONE
    thread: int = NONE


class Totals(NamedTuple):
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


NOTHING = Totals(NONE, NONE, NONE)


class Event(NamedTuple):
    """A change of one block: allocation, release, or return to the pool."""

    time: int
    component: str
    block: int
    kind: str
    allocated: int
    active: int


def take_memory(world: World, shape: Shape) -> None:
    """Add what the operators of a played world took: blocks, totals and events of workspaces."""
    draws = Draws(shape.seed, "memory")
    blocks = [*_blocks(world, draws), *_workspaces(world, draws)]
    events = sorted(
        event for number, block in enumerate(blocks) for event in _events(number, block)
    )
    device = world.busy_devices[0]
    after: dict[tuple[int, str], Totals] = {}
    current = {
        name: Totals(FIRST_ALLOCATED[name], FIRST_RESERVED[name], FIRST_ACTIVE[name])
        for name in FIRST_ALLOCATED
    }
    for event in events:
        block, component = blocks[event.block], event.component
        totals = current[component].change(event.allocated, event.active)
        current[component] = totals
        if component == ENGINE and event.kind == "release":
            # In real files levels and events state what was held until then.
            totals = totals.change(block.size, 0)
        after[event.block, event.kind] = totals
        place = {"time": event.time, "stream": block.stream, "device": device}
        world.add("memory_totals", component=component, **place, **totals._asdict())
        if component == ENGINE:
            world.add(
                "workspace_events",
                name=block.name,
                address=block.address,
                allocate=int(event.kind == "allocate"),
                size=block.size,
                time=event.time,
                thread=block.thread,
                device=device,
                total_allocated=totals.allocated,
                total_reserved=totals.reserved,
            )
        elif event.kind == "allocate" and event.block % 4 == 0:
            held = Totals(block.size, block.size, block.size)
            world.add("memory_totals", component=WORKSPACE, **place, **held._asdict())
    for number, block in enumerate(blocks):
        if block.component == FRAMEWORK:
            row = world.add("memory_blocks", name=block.name, size=block.size, device=device)
            row |= {"allocated": block.start, "released": block.end, "inactive": block.inactive}
            row["stream"] = block.stream
            for kind, prefix in (("allocate", "total"), ("release", "release_total")):
                held = after.get((number, kind), NOTHING)
                row |= {f"{prefix}_{name}": value for name, value in held._asdict().items()}


def _blocks(world: World, draws: Draws) -> Iterator[Allocation]:
    end = world.rows["steps"][-1]["end"]
    activities = world.rows["activities"]
    operators = [row for row in activities if row["kind"] == "op" and "shapes" in row]
    for place, row in enumerate(operators):
        released = NONE if place % 3 == 2 else row["end"] + draws.one(60_000, 200_000, 10)
        if released > end - 1_000:
            released = NONE
        inactive = NONE if released == NONE else released + draws.one(10, 400, 10)
        size = draws.one(PAGE_BYTES, 4 << 20, PAGE_BYTES)
        stream = STREAM_POINTERS[place % 5 == 4]
        start = row["start"] + 150
        yield Allocation(FRAMEWORK, row["name"], size, start, released, inactive, stream)


def _workspaces(world: World, draws: Draws) -> Iterator[Allocation]:
    kernels = sorted(world.rows["kernels"], key=lambda one: one["task"]["start"])
    for place, kernel in enumerate(kernels):
        if kernel["task"]["device"] != world.busy_devices[0]:
            continue
        call = kernel["task"]["connection"]
        size = draws.one(PAGE_BYTES, 1 << 20, PAGE_BYTES)
        start, length = call["start"] + 310, draws.one(2_000, 9_000, 10)
        yield Allocation(
            *(ENGINE, kernel["kind"]["name"], size, start, start + length, NONE),
            address=FIRST_ADDRESS + place * (1 << 21),
            thread=call["thread"],
        )


def _events(number: int, block: Allocation) -> Iterator[Event]:
    active = block.size if block.component == FRAMEWORK else 0
    yield Event(block.start, block.component, number, "allocate", block.size, active)
    if block.end != NONE:
        yield Event(block.end, block.component, number, "release", -block.size, 0)
    if block.inactive != NONE:
        yield Event(block.inactive, block.component, number, "return", 0, -block.size)
