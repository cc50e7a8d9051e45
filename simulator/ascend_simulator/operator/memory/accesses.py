"""All accesses to global memory of a kernel, in the order in which L2 sees them.

It is the order of the program, not that of time: when each access happens depends on its hits, and
these depend on the order.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..columns import Booleans, Integers
from ..program.model import Program
from ..program.tape import Tape

REQUEST_BYTES = 128
"""Of a request to main memory (bin-blocks.md O2)."""


@dataclass(frozen=True, slots=True)
class Transfers:
    """One row per transfer and block, in the order of the program.

    tape, step, place: where it is executed; place: of the block among those of the tape. moment:
    the same number for what the blocks do at the same time. code: index of the instruction. rows,
    row_bytes, pitch, address: as in the program. listed: first of its own offsets, or -1.
    """

    tape: Integers
    step: Integers
    place: Integers
    block: Integers
    moment: Integers
    unit: Integers
    code: Integers
    store: Booleans
    address: Integers
    rows: Integers
    row_bytes: Integers
    pitch: Integers
    listed: Integers
    offsets: Integers

    def __len__(self) -> int:
        return len(self.tape)

    @property
    def size(self) -> Integers:
        """Byte of each."""
        return self.rows * self.row_bytes

    def pieces(self) -> tuple[Integers, Integers]:
        """Number of the transfer and address of every row."""
        owner = np.repeat(np.arange(len(self)), self.rows)
        first = np.cumsum(self.rows) - self.rows
        number = np.arange(len(owner)) - first[owner]
        address = self.address[owner] + number * self.pitch[owner]
        listed = self.listed[owner]
        if len(self.offsets):
            chosen = self.offsets[np.where(listed >= 0, listed + number, 0)]
            address += np.where(listed >= 0, chosen, 0)
        return owner, address.astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True)
class Lines:
    """Accesses to lines of L2, in order. transfer: whose. requests: of 128 Byte that it takes."""

    transfer: Integers
    line: Integers
    size: Integers
    requests: Integers


def transfers_of(program: Program) -> Transfers:
    """All transfers of a program."""
    parts = [_of_tape(number, tape, program.cores) for number, tape in enumerate(program.tapes)]
    offsets = [one for _, listed in parts for one in listed]
    columns: dict[str, list[Integers]] = {}
    shift = 0
    for own, listed in parts:
        for name, values in own.items():
            moved = np.where(values >= 0, values + shift, -1) if name == "listed" else values
            columns.setdefault(name, []).append(moved)
        shift += sum(len(one) for one in listed)
    whole = {name: np.concatenate(values) for name, values in columns.items()}
    order = np.lexsort([whole[name] for name in ("block", "number", "step", "stage", "wave")])
    moments = [whole[name][order] for name in ("wave", "stage", "step", "number")]
    changes = np.any([np.diff(one, prepend=-1) != 0 for one in moments], axis=0)
    whole["moment"] = np.zeros(len(order), np.int64)
    whole["moment"][order] = np.cumsum(changes)
    for name in ("number", "stage", "wave"):
        del whole[name]
    kept = {name: values[order] for name, values in whole.items()}
    return Transfers(
        store=kept.pop("store").astype(np.bool_),
        offsets=np.concatenate(offsets) if offsets else np.zeros(0, np.int64),
        **kept,
    )


def _of_tape(number: int, tape: Tape, cores: int) -> tuple[dict[str, Integers], list[Integers]]:
    """Its columns, and the offsets that its transfers list."""
    width = len(tape.blocks)
    rows: defaultdict[str, list[Integers]] = defaultdict(list)
    listed: list[Integers] = []
    used = 0
    for place, step in enumerate(tape.steps):
        for order, transfer in enumerate(step.transfers):
            values = {
                "number": order,
                "tape": number,
                "step": place,
                "place": np.arange(width),
                "block": tape.blocks,
                "stage": step.stage,
                "wave": tape.blocks // cores,
                "unit": step.unit,
                "code": step.instruction.index,
                "store": int(transfer.store),
                "address": transfer.address,
                "rows": transfer.rows,
                "row_bytes": transfer.row_bytes,
                "pitch": transfer.pitch,
                "listed": -1,
            }
            if transfer.offsets is not None:
                values["listed"] = used + np.arange(width) * transfer.offsets.shape[1]
                listed.append(transfer.offsets.ravel())
                used += transfer.offsets.size
            for name, value in values.items():
                rows[name].append(np.broadcast_to(np.asarray(value, np.int64), width))
    return {name: np.concatenate(values) for name, values in rows.items()}, listed


def lines_of(transfers: Transfers, line_bytes: int) -> Lines:
    """The lines that every row of every transfer touches, in the order in which L2 sees them."""
    owner, address = transfers.pieces()
    size = transfers.row_bytes[owner]
    first, last = address // line_bytes, (address + size - 1) // line_bytes
    count = np.where(size > 0, last - first + 1, 0)
    row = np.repeat(np.arange(len(owner)), count)
    number = np.arange(len(row)) - (np.cumsum(count) - count)[row]
    line = first[row] + number
    begin = np.maximum(address[row], line * line_bytes)
    end = np.minimum(address[row] + size[row], (line + 1) * line_bytes)
    of = owner[row]
    order = _turns(transfers, of)
    return Lines(
        transfer=of[order],
        line=line[order],
        size=(end - begin)[order],
        requests=((end - 1) // REQUEST_BYTES - begin // REQUEST_BYTES + 1)[order],
    )


def _turns(transfers: Transfers, of: Integers) -> Integers:
    """Blocks that copy at the same time take turns, line by line, and nobody is always first."""
    if not len(of):
        return np.zeros(0, np.int64)
    counts = np.bincount(of, minlength=len(transfers))
    rank = np.arange(len(of)) - (np.cumsum(counts) - counts)[of]
    blocks = int(transfers.block.max()) + 1
    turn = (transfers.block[of] - rank) % blocks
    longest = int(counts.max())
    return np.argsort((transfers.moment[of] * longest + rank) * blocks + turn, kind="stable")
