"""Blocks 0x0A, 0x0B and 0x0E: every access to memory, and what each set of L2 did.

No exporter writes the first two and no viewer reads them (bin-blocks.md 4); they follow the
document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from construct import Construct

from ascend_ref.bin import canonical
from ascend_ref.bin.records import CACHE_DTYPE, TRACE_DTYPE, Records, cache_payload
from ascend_ref.bin.records import memory_trace_payload as trace_payload
from ascend_ref.capture import Integers
from ascend_spec.bin import TRACE_RECORD

from ..memory import Columns, each
from ..program.model import Program
from ..world import World
from .numbers import device_address, ranges, simulator_address, single

MODULE = "kernel.o"
EARLY, LATE = -1, 1 << 60
"""Moments before and after everything that runs."""


def memory_trace(world: World) -> bytes | memoryview:
    """The payload of 0x0A."""
    columns = Columns(list)
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


def _tensors(world: World, columns: Columns) -> None:
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


def _transfers(world: World, columns: Columns) -> None:
    """Each row of each transfer, in pieces; and the whole transfer at the core's end."""
    transfers = world.transfers
    time, _ = world.moments
    most = world.scenario.capture.access_bytes
    owner, address = transfers.pieces()
    size = transfers.row_bytes[owner]
    count = -(-size // most)
    row, number = each(count)
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


def _moves(world: World, columns: Columns) -> None:
    """Copies within a core: a load there, a store here."""
    for tape, timing in zip(world.program.tapes, world.timings, strict=True):
        width, offset = len(tape.blocks), world.starts[tape.blocks]
        for number, step in enumerate(tape.steps):
            if step.move is None:
                continue
            for kind, space in (("LOAD", step.move.source), ("STORE", step.move.target)):
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


def _ordered(world: World, columns: Columns) -> Records:
    program = world.program
    whole = columns.whole()
    order = np.lexsort((whole["unit"], whole["core"], whole["time"]))
    order = order[whole["size"][order] > 0]
    column = {name: values[order] for name, values in whole.items()}
    kinds = np.array([not name.startswith("vector") for name in program.units])
    addresses = np.array([one.address for one in program.code.instructions], np.int64)
    found = np.zeros(len(order), TRACE_DTYPE)
    for field, name in _PLAIN.items():
        found[field] = column[name]
    cores = codes("blockType")
    found["blockType"] = np.where(kinds[column["unit"]], cores["AIC"], cores["AIV"])
    found["recordId"] = np.arange(len(order))
    found["pc"] = addresses[column["code"]]
    return found


_PLAIN = {"type": "type", "space": "space", "coreId": "core", "addr": "address", "memSize": "size"}
"""Fields of a TraceRecord by the column that they show as it is."""


@cache
def codes(field: str) -> dict[str, int]:
    """The numbers that a field of a TraceRecord may have, by name."""
    declared: Construct = next(one for one in TRACE_RECORD.subcons if one.name == field)
    return {str(name): int(number) for name, number in declared.subcon.encmapping.items()}


def cachelines(world: World) -> bytes:
    """The payload of 0x0E as text: a set per record, most of them alike."""
    records = b",".join(_sets(world))
    return b'{"Cacheline Records":[' + records + b"]}"


def _sets(world: World) -> Iterator[bytes]:
    sets, instructions = world.chip.cache.sets, world.program.code.instructions
    fate = world.fate
    code = world.transfers.code[world.lines.transfer]
    hits = np.bincount(fate.set, fate.hit, sets).astype(np.int64)
    totals = np.bincount(fate.set, minlength=sets).astype(np.int64)
    used: dict[tuple[int, bool], list[int]] = {}
    keys = (fate.set * 2 + fate.hit) * len(instructions) + code
    for key in np.unique(keys).tolist():
        rest, one = divmod(key, len(instructions))
        used.setdefault((rest // 2, bool(rest % 2)), []).append(instructions[one].address)
    known: dict[tuple[object, ...], bytes] = {}
    for number in range(sets):
        hit, total = int(hits[number]), int(totals[number])
        parts = tuple(
            (count, tuple(used.get((number, found), ())))
            for count, found in ((hit, True), (total - hit, False))
        )
        if parts not in known:
            known[parts] = _parts(parts, total)
        yield b'{"Cacheline Id":%d,%s' % (number, known[parts])


def _parts(parts: Sequence[tuple[int, Sequence[int]]], total: int) -> bytes:
    """What follows the number of a record, up to its end."""
    value = {
        name: {
            "Address Range": ranges(addresses, device_address),
            "Value": [count, single(count / total) if total else 0.0],
        }
        for name, (count, addresses) in zip(("Hit", "Miss"), parts, strict=True)
    }
    return canonical(value)[1:]
