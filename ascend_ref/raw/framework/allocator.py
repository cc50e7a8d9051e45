"""``torch.memory_usage``: what the adapter's allocators take and give back, and what they hold.

A record is one event: a block is taken, given back, or back in the pool. Which events are of one
block follows from its address, and its name from the operator around the moment it is taken
(upstream-torch-npu _memory_prepare_parser).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Batch, Capture, Integers, MemoryBlocks, MemoryTotals, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.derive.matching import groups, values_at
from ascend_ref.derive.memory_operators import MemoryOperators

from ..clocks import Clock
from ..damage import Damage
from .files import Files, write_records

RECORD = "MEMORY_USAGE"
FRAMEWORK, ENGINE, WORKSPACE = "PTA", "GE", "WORKSPACE"
CACHING, OF_WORKSPACES = 0, 1
TAKEN, GIVEN_BACK, INACTIVE = range(3)
"""What an event does with a block."""
NPU = 20
"""Type of devices whose memory is meant."""
INNER, OTHER = 0, 1
"""The adapter's own allocator, and another, whose events are no blocks."""
LARGEST_DEVICE = 127


@dataclass(frozen=True, slots=True)
class Events(Batch):
    """Events in order of time, each with what its allocator holds after it.

    component: :data:`CACHING` or :data:`OF_WORKSPACES`. kind: :data:`TAKEN`, :data:`GIVEN_BACK` or
    :data:`INACTIVE`. address: equal for the events of one block. size: negative where it goes back.
    """

    time: Integers
    component: Integers
    kind: Integers
    allocator: Integers
    address: Integers
    size: Integers
    allocated: Integers
    reserved: Integers
    active: Integers
    stream: Integers
    device: Integers
    thread: Integers


def read_events(files: Files) -> Events:
    """The events of a folder; those of other devices than NPUs are left out."""
    records, (time,) = files.times(files.read(RECORD), "time_ns")
    kind = records.numbers("data_type")
    known = (kind >= TAKEN) & (kind <= INACTIVE)
    if not known.all():
        text = f"{int(np.sum(~known)):,} events of an unknown kind; expected 0, 1 or 2"
        first = int(records.tagged.offset[np.flatnonzero(~known)[0]])
        files.damage.append(Damage(records.path, text, first))
    rows = np.flatnonzero(known & (records.numbers("device_type") == NPU))
    rows = rows[np.argsort(time[rows], kind="stable")]
    records = records.take(rows)
    return Events(
        time=time[rows],
        component=np.where(
            records.numbers("component_type") == OF_WORKSPACES, OF_WORKSPACES, CACHING
        ),
        kind=records.numbers("data_type"),
        allocator=records.numbers("allocator_type"),
        address=records.numbers("ptr"),
        size=records.numbers("alloc_size"),
        allocated=records.numbers("total_allocated"),
        reserved=records.numbers("total_reserved"),
        active=records.numbers("total_active"),
        stream=records.numbers("stream_ptr"),
        device=records.numbers("device_index"),
        thread=records.numbers("thread_id"),
    )


def write_events(events: Events, process: int, folder: Path, clock: Clock) -> None:
    """Write events. Raises ``OSError``."""
    columns: dict[str, npt.NDArray[np.int64] | int] = {
        "ptr": events.address,
        "time_ns": clock.ticks(events.time),
        "alloc_size": events.size,
        "total_allocated": events.allocated,
        "total_reserved": events.reserved,
        "total_active": events.active,
        "stream_ptr": events.stream,
        "device_type": NPU,
        "device_index": np.minimum(events.device, LARGEST_DEVICE),
        "component_type": events.component,
        "data_type": events.kind,
        "allocator_type": events.allocator,
        "thread_id": events.thread,
        "process_id": process,
    }
    write_records(folder, RECORD, columns, Texts())


def with_memory(capture: Capture, events: Events) -> Capture:
    """The capture with the blocks and totals that follow from events.

    ``capture`` has the operators that blocks are named after, without which there are no blocks,
    and the events of the graph engine, whose totals come after the framework's of the same moment.
    A machine with one device has all memory there.
    """
    if len(capture.origin.devices) == 1:
        only = np.full(len(events), capture.origin.devices[0])
        events = replace(events, device=only)
    return replace(
        capture, memory_blocks=_blocks(capture, events), memory_totals=_totals(capture, events)
    )


def _blocks(capture: Capture, events: Events) -> MemoryBlocks:
    """Blocks in order of time: a block is taken, and one or two events of other kinds follow."""
    operators = MemoryOperators(capture.activities, capture.texts)
    own = events.take(events.allocator == INNER)
    if not len(own) or not len(operators.rows):
        return MemoryBlocks.empty()
    _, turn = groups(own.address)
    order = np.argsort(turn, kind="stable")
    address, kind = own.address[order], own.kind[order]
    begin = np.flatnonzero(kind == TAKEN)
    second = _following(begin, 1, address, kind)
    third = np.where(second == NONE, NONE, _following(begin, 2, address, kind))
    third[(third != NONE) & (values_at(kind, third) == values_at(kind, second))] = NONE

    def of_kind(wanted: int) -> Integers:
        """The event of each block that is of a kind."""
        place = np.where(values_at(kind, second) == wanted, second, third)
        return values_at(order, np.where(values_at(kind, place) == wanted, place, NONE))

    taken, released, inactive = order[begin], of_kind(GIVEN_BACK), of_kind(INACTIVE)
    over = np.where(released == NONE, inactive, released)
    # Of blocks taken at one moment that comes first whose address does.
    first = np.argsort(own.time[taken], kind="stable")
    taken, released, inactive, over = (one[first] for one in (taken, released, inactive, over))
    row = operators.at(own.time[taken], own.thread[taken])
    name = values_at(capture.activities.name, row)
    return MemoryBlocks(
        name=np.where(row == NONE, capture.texts.number(""), name),
        size=own.size[taken],
        allocated=own.time[taken],
        released=values_at(own.time, released),
        inactive=values_at(own.time, inactive),
        total_allocated=own.allocated[taken],
        total_reserved=own.reserved[taken],
        total_active=own.active[taken],
        release_total_allocated=values_at(own.allocated, over),
        release_total_reserved=values_at(own.reserved, over),
        release_total_active=values_at(own.active, over),
        stream=own.stream[taken],
        device=own.device[taken],
    )


def _following(begin: Integers, distance: int, address: Integers, kind: Integers) -> Integers:
    """The event so far behind, NONE where it is of another block."""
    place = begin + distance
    inside = np.minimum(place, len(address) - 1)
    same = (place < len(address)) & (address[inside] == address[begin]) & (kind[inside] != TAKEN)
    return np.where(same, place, NONE)


def _totals(capture: Capture, events: Events) -> MemoryTotals:
    texts, engine = capture.texts, capture.workspace_events
    names = texts.numbers((FRAMEWORK, WORKSPACE))
    parts = [
        MemoryTotals(
            component=names[events.component],
            time=events.time,
            allocated=events.allocated,
            reserved=events.reserved,
            active=events.active,
            stream=events.stream,
            device=events.device,
        )
    ]
    if len(engine):
        own = MemoryTotals(
            component=np.full(len(engine), texts.number(ENGINE)),
            time=engine.time,
            allocated=engine.total_allocated,
            reserved=engine.total_reserved,
            active=np.zeros(len(engine), np.int64),
            stream=np.full(len(engine), NONE),
            device=engine.device,
        )
        parts.append(own)
    every = MemoryTotals.joined(parts)
    return every.take(np.argsort(every.time, kind="stable"))
