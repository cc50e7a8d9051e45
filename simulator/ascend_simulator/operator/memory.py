"""Global memory as the blocks of a kernel access it, and the L2 cache before it.

Accesses are in the order in which L2 sees them. It is the order of the program, not that of time:
when each access happens depends on its hits, and these depend on the order. L2 is set-associative,
write-back and write-allocate; the least recently used line goes first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ascend_ref.arrays import Mask
from ascend_ref.capture import Integers
from ascend_ref.derive.matching import ranks

from .chip import CacheShape
from .program.model import Program
from .program.tape import Quantity

REQUEST_BYTES = 128
"""Of a request to main memory (bin-blocks.md O2)."""
_FOLD = (13, 26)
"""The number of a line is folded into that of its set by these shifts, so that a power of two
between rows does not crowd a few sets."""


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
    store: Mask
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
        owner, number = each(self.rows)
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
    requests: Integers


class Columns(defaultdict[str, list[Integers]]):
    """Columns of a table that grows, in pieces."""

    def add(self, count: int, **values: object) -> None:
        """More rows; a single number stands in all of them."""
        for name, value in values.items():
            self[name].append(np.broadcast_to(np.asarray(value, np.int64), count))

    def whole(self) -> dict[str, Integers]:
        """Each column in one piece."""
        return {name: np.concatenate(pieces) for name, pieces in self.items()}


def each(count: Integers) -> tuple[Integers, Integers]:
    """Of so many things for each row: the row of each thing, and its number there, from 0."""
    row = np.repeat(np.arange(len(count)), count)
    return row, np.arange(len(row)) - (np.cumsum(count) - count)[row]


def transfers_of(program: Program) -> Transfers:
    """All transfers of a program."""
    columns, offsets = Columns(list), [np.zeros(0, np.int64)]
    used = 0
    for number, tape in enumerate(program.tapes):
        width = len(tape.blocks)
        for place, step in enumerate(tape.steps):
            for turn, transfer in enumerate(step.transfers):
                listed: Quantity = -1
                if transfer.offsets is not None:
                    listed = used + np.arange(width) * transfer.offsets.shape[1]
                    offsets.append(transfer.offsets.ravel())
                    used += transfer.offsets.size
                columns.add(
                    width,
                    number=turn,
                    tape=number,
                    step=place,
                    place=np.arange(width),
                    block=tape.blocks,
                    stage=step.stage,
                    wave=tape.blocks // program.cores,
                    unit=step.unit,
                    code=step.instruction.index,
                    store=transfer.store,
                    address=transfer.address,
                    rows=transfer.rows,
                    row_bytes=transfer.row_bytes,
                    pitch=transfer.pitch,
                    listed=listed,
                )
    whole = columns.whole()
    order = np.lexsort([whole[name] for name in ("block", "number", "step", "stage", "wave")])
    moments = [whole.pop(name)[order] for name in ("wave", "stage", "number")]
    changes = np.any([np.diff(one, prepend=-1) != 0 for one in (*moments, whole["step"][order])], 0)
    kept = {name: values[order] for name, values in whole.items()}
    return Transfers(
        store=kept.pop("store").astype(np.bool_),
        offsets=np.concatenate(offsets),
        moment=np.cumsum(changes),
        **kept,
    )


def lines_of(transfers: Transfers, line_bytes: int) -> Lines:
    """The lines that every row of every transfer touches, in the order in which L2 sees them."""
    owner, address = transfers.pieces()
    size = transfers.row_bytes[owner]
    first, last = address // line_bytes, (address + size - 1) // line_bytes
    count = np.where(size > 0, last - first + 1, 0)
    row, number = each(count)
    line = first[row] + number
    begin = np.maximum(address[row], line * line_bytes)
    end = np.minimum(address[row] + size[row], (line + 1) * line_bytes)
    of = owner[row]
    order = _in_turns(transfers, of)
    return Lines(
        transfer=of[order],
        line=line[order],
        requests=((end - 1) // REQUEST_BYTES - begin // REQUEST_BYTES + 1)[order],
    )


def _in_turns(transfers: Transfers, of: Integers) -> Integers:
    """Blocks that copy at the same time take turns, line by line, and nobody is always first."""
    rank = ranks(of)
    blocks, longest = (int(one.max(initial=0)) + 1 for one in (transfers.block, rank))
    turn = (transfers.block[of] - rank) % blocks
    return np.argsort((transfers.moment[of] * longest + rank) * blocks + turn, kind="stable")


@dataclass(frozen=True, slots=True)
class Cached:
    """What L2 did with each access. set: of its line. written, dropped: it evicted a line with or
    without writing it back.
    """

    set: Integers
    hit: Mask
    written: Mask
    dropped: Mask


def cached(line: Integers, store: Mask, shape: CacheShape, hit_rate: int | None = None) -> Cached:
    """The fate of accesses in their order; L2 begins empty.

    hit_rate: thousandths of the accesses that hit, whatever the lines are; then the cache counts as
    full, and what is missing evicts.
    """
    folded = line.copy()
    for shift in _FOLD:
        folded ^= line >> shift
    chosen = folded % shape.sets
    if hit_rate is not None:
        return _forced(chosen, store, hit_rate)
    hit = np.zeros(len(line), np.bool_)
    written, dropped = hit.copy(), hit.copy()
    tags = np.full((shape.sets, shape.ways), -1, np.int64)
    used = np.zeros((shape.sets, shape.ways), np.int32)
    dirty = np.zeros((shape.sets, shape.ways), np.bool_)
    for turn, now in enumerate(_turns(chosen), start=1):
        at, wanted = chosen[now], line[now]
        held = tags[at]
        same = held == wanted[:, None]
        way = same.argmax(axis=1)
        found = same[np.arange(len(now)), way]
        way = np.where(found, way, used[at].argmin(axis=1))
        evicts = ~found & (tags[at, way] >= 0)
        was_dirty = dirty[at, way]
        hit[now] = found
        written[now] = evicts & was_dirty
        dropped[now] = evicts & ~was_dirty
        tags[at, way] = wanted
        used[at, way] = turn
        dirty[at, way] = store[now] | (found & was_dirty)
    return Cached(chosen, hit, written, dropped)


def _turns(chosen: Integers) -> list[Integers]:
    """Accesses that can be looked at together: the first of every set, the second, and so on."""
    rank = ranks(chosen)
    by_rank = np.argsort(rank, kind="stable")
    return np.split(by_rank, np.cumsum(np.bincount(rank))[:-1])


def _forced(chosen: Integers, store: Mask, hit_rate: int) -> Cached:
    count = np.arange(1, len(chosen) + 1, dtype=np.int64)
    hit = count * hit_rate // 1000 > (count - 1) * hit_rate // 1000
    misses = np.cumsum(~hit)
    stores = int(store.sum())
    total = max(len(chosen), 1)
    turn = misses * stores // total > (misses - 1) * stores // total
    return Cached(chosen, hit, ~hit & turn, ~hit & ~turn)
