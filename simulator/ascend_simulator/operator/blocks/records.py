"""Blocks 0x0A and 0x0B: every access to memory, and what each set of L2 did.

No exporter writes them and no viewer reads them (bin-blocks.md 4); they follow the document.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from construct import Construct

from ascend_ref.bin import canonical
from ascend_ref.bin.records import CACHE_DTYPE, TRACE_DTYPE, Records, cache_payload
from ascend_ref.bin.records import memory_trace_payload as trace_payload
from ascend_spec.bin import TRACE_RECORD

from ..columns import Integers
from ..program.model import Program
from ..program.tape import Move
from ..world import World
from .addresses import simulator_address

MODULE = "kernel.o"
EARLY, LATE = -1, 1 << 60
"""Moments before and after everything that runs."""


@dataclass(slots=True)
class _Columns:
    """Records before they are put in order. time: cycles of the task; core, unit: who did it."""

    time: list[Integers]
    core: list[Integers]
    unit: list[Integers]
    type: list[Integers]
    space: list[Integers]
    address: list[Integers]
    size: list[Integers]
    code: list[Integers]

    def add(self, count: int, **values: object) -> None:
        """More records; a single number stands in all of them."""
        for name, value in values.items():
            column = np.broadcast_to(np.asarray(value, np.int64), count)
            getattr(self, name).append(column)


def memory_trace(world: World) -> bytes | memoryview:
    """The payload of 0x0A."""
    columns = _Columns(*([] for _ in range(8)))
    _tensors(world, columns)
    _transfers(world, columns)
    _moves(world, columns)
    return trace_payload(_ordered(world, columns), canonical(call_stacks(world.program)))


def call_stacks(program: Program) -> list[dict[str, object]]:
    """Where in the source each instruction comes from, by address."""
    path = program.code.source.path
    return [
        {
            "Address": simulator_address(one.address),
            "ModuleName": MODULE,
            "Symbol": [
                {
                    "Column": 0,
                    "FileName": path,
                    "FunctionName": program.kernel,
                    "Line": one.line,
                }
            ],
        }
        for one in program.code.instructions
    ]


def cache_records(world: World) -> bytes | memoryview:
    """The payload of 0x0B: one record per set of L2."""
    sets, fate = world.chip.cache.sets, world.fate
    stores = world.transfers.store[world.lines.transfer]
    found = np.zeros(sets, CACHE_DTYPE)
    found["cacheLineId"] = np.arange(sets)
    for name, chosen in (
        ("loadCount", ~stores),
        ("storeCount", stores),
        ("hit", fate.hit),
        ("miss", ~fate.hit),
        ("allocate", ~fate.hit),
        ("evictAndWrite", fate.written),
        ("evictWithoutWrite", fate.dropped),
    ):
        found[name] = np.bincount(fate.set[chosen], minlength=sets)
    return cache_payload(found)


def _tensors(world: World, columns: _Columns) -> None:
    """Operands come before the first access, and go after the last."""
    program = world.program
    first, last = program.code.instructions[0], program.code.instructions[-1]
    for name, time, code in (("MALLOC", EARLY, first.index), ("FREE", LATE, last.index)):
        columns.add(
            len(program.tensors),
            time=time,
            core=0,
            unit=0,
            type=codes("type")[name],
            space=codes("space")["GM"],
            address=[one.address for one in program.tensors],
            size=[one.size for one in program.tensors],
            code=code,
        )


def _transfers(world: World, columns: _Columns) -> None:
    """Each row of each transfer, in pieces; and the whole transfer at the core's end."""
    transfers = world.transfers
    time = _starts(world)
    most = world.scenario.capture.access_bytes
    owner, address = transfers.pieces()
    size = transfers.row_bytes[owner]
    count = -(-size // most)
    row = np.repeat(np.arange(len(owner)), count)
    number = np.arange(len(row)) - (np.cumsum(count) - count)[row]
    of = owner[row]
    load, store = codes("type")["LOAD"], codes("type")["STORE"]
    columns.add(
        len(row),
        time=time[of],
        core=transfers.block[of] % world.program.cores,
        unit=transfers.unit[of],
        type=np.where(transfers.store[of], store, load),
        space=codes("space")["GM"],
        address=address[row] + number * most,
        size=np.minimum(size[row] - number * most, most),
        code=transfers.code[of],
    )
    space = _locals(world)
    columns.add(
        len(transfers),
        time=time,
        core=transfers.block % world.program.cores,
        unit=transfers.unit,
        type=np.where(transfers.store, load, store),
        space=space,
        address=_halves(world, space),
        size=transfers.size,
        code=transfers.code,
    )


def _starts(world: World) -> Integers:
    """Cycle of the task at which each transfer starts."""
    transfers = world.transfers
    found = np.zeros(len(transfers), np.int64)
    for number, timing in enumerate(world.timings):
        own = np.flatnonzero(transfers.tape == number)
        at = timing.start[transfers.step[own], transfers.place[own]]
        found[own] = world.starts[transfers.block[own]] + at
    return found


def _locals(world: World) -> Integers:
    """The space of the core that each transfer ends or begins in."""
    spaces = np.zeros(len(world.program.code.instructions), np.int64)
    for tape in world.program.tapes:
        for step in tape.steps:
            for one in step.transfers:
                spaces[step.instruction.index] = codes("space")[one.local]
    return spaces[world.transfers.code]


def _halves(world: World, space: Integers) -> Integers:
    """Where in that space: by turns at its beginning and behind, if there is room for two."""
    room = np.zeros(max(codes("space").values()) + 1, np.int64)
    for name, size in world.chip.buffers.items():
        room[codes("space")[name]] = size
    transfers = world.transfers
    return np.where(2 * transfers.size <= room[space], transfers.moment % 2, 0) * transfers.size


def _moves(world: World, columns: _Columns) -> None:
    """Copies within a core: a load there, a store here."""
    for tape, timing in zip(world.program.tapes, world.timings, strict=True):
        width, offset = len(tape.blocks), world.starts[tape.blocks]
        for number, step in enumerate(tape.steps):
            if step.move is None:
                continue
            for kind, space in _ends(step.move):
                columns.add(
                    width,
                    time=offset + timing.start[number],
                    core=tape.blocks % world.program.cores,
                    unit=step.unit,
                    type=codes("type")[kind],
                    space=codes("space")[space],
                    address=0,
                    size=step.move.size,
                    code=step.instruction.index,
                )


def _ends(move: Move) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("LOAD", move.source), ("STORE", move.target)


def _ordered(world: World, columns: _Columns) -> Records:
    program = world.program
    time, core, unit = (np.concatenate(getattr(columns, name)) for name in ("time", "core", "unit"))
    size = np.concatenate(columns.size)
    order = np.lexsort((unit, core, time))
    order = order[size[order] > 0]
    kinds = np.array([not name.startswith("vector") for name in program.units])
    addresses = np.array([one.address for one in program.code.instructions], np.int64)
    found = np.zeros(len(order), TRACE_DTYPE)
    found["type"] = np.concatenate(columns.type)[order]
    found["space"] = np.concatenate(columns.space)[order]
    found["coreId"] = core[order]
    found["blockType"] = np.where(
        kinds[unit[order]], codes("blockType")["AIC"], codes("blockType")["AIV"]
    )
    found["recordId"] = np.arange(len(order))
    found["addr"] = np.concatenate(columns.address)[order]
    found["memSize"] = size[order]
    found["pc"] = addresses[np.concatenate(columns.code)[order]]
    return found


@cache
def codes(field: str) -> dict[str, int]:
    """The numbers that a field of a TraceRecord may have, by name."""
    declared: Construct = next(one for one in TRACE_RECORD.subcons if one.name == field)
    return {str(name): int(number) for name, number in declared.subcon.encmapping.items()}
