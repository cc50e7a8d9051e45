"""How a communication operator expands: rounds in which ranks meet and then move data.

In each round a rank tells its peers that it is ready (Notify_Record), waits for theirs
(Notify_Wait) on every lane, and once all lanes have been told, moves a piece of the data on each.
This is the order of the real small tasks (db-schema.md 7.5: on 8 ranks an allReduce has 28 records,
28 waits, 9 reductions and 9 copies). A lane is one plane of the operator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from ascend_ref.capture import Integers

Motion = Literal["reduce", "copy", "none"]
ALIGNMENT = 16_384
"""Real pieces are multiples of so many Byte, but for the last one."""


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One round; arrays have the shape (lanes, ranks), -1 where a rank has no part on a lane.

    peer: whom a rank tells, and moves to. heard: who tells it. heard_lane: on which of its lanes.
    first, count: the pieces that move, ``count`` from ``first`` on (cyclic); count 0 moves nothing.
    """

    motion: Motion
    peer: Integers
    heard: Integers
    heard_lane: Integers
    first: Integers
    count: Integers


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An algorithm for so many ranks. The total is cut into ``pieces``.

    before, middle: whether a rank copies its own piece within its memory, before the first round
    and before the round ``middle`` (-1: never).
    name: COMMUNICATION_OP.algType.
    """

    name: str
    ranks: int
    pieces: int
    rounds: tuple[Round, ...]
    before: bool
    middle: int
    lanes: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the lanes of the widest round."""
        object.__setattr__(self, "lanes", max(len(item.peer) for item in self.rounds))


def piece_sizes(total: int, pieces: int, element: int) -> Integers:
    """Byte of each piece: equal multiples of the alignment, the last one smaller."""
    alignment = ALIGNMENT
    while True:
        size = -(-total // (pieces * alignment)) * alignment
        last = total - size * (pieces - 1)
        if last > 0 or alignment <= element:
            break
        alignment = max(alignment // 2, element)
    if last <= 0:
        sizes = np.full(pieces, total // (pieces * element) * element, np.int64)
        sizes[0] += total - int(sizes.sum())
        return sizes
    sizes = np.full(pieces, size, np.int64)
    sizes[-1] = last
    return sizes


def moved(plan_round: Round, sizes: Integers) -> Integers:
    """Byte that each rank moves on each lane in a round; shape (lanes, ranks)."""
    pieces = len(sizes)
    bounds = np.concatenate([[0], np.cumsum(np.concatenate([sizes, sizes]))])
    first = plan_round.first % pieces
    result: Integers = bounds[first + plan_round.count] - bounds[first]
    return np.where(plan_round.peer >= 0, result, 0)


@lru_cache(maxsize=256)
def plan(kind: str, algorithm: str, ranks: int) -> Plan:
    """The plan of an operator (a CollectiveKind) on so many ranks by a known algorithm.

    Raises ``ValueError`` for an algorithm that cannot do the operator on so many ranks.
    """
    if ranks < 2:
        raise ValueError(f"{kind} needs two ranks or more, not {ranks}")
    if kind in ("send", "receive"):
        return Plan("PAIRWISE", 2, 1, _point_to_point(), before=False, middle=-1)
    if algorithm == "hd" and ranks & (ranks - 1):
        raise ValueError(f"halving-doubling needs a power of two, not {ranks} ranks")
    if kind == "broadcast":
        return Plan("PIPELINE", ranks, 4, _pipeline(ranks, 4), before=False, middle=-1)
    if kind == "alltoallv":
        rounds = _mesh(ranks, "copy") if algorithm == "mesh" else _pairwise(ranks)
        return Plan(_NAMES[algorithm], ranks, ranks, rounds, before=True, middle=-1)
    reduce, gather = {
        "mesh": (_mesh(ranks, "reduce"), _mesh(ranks, "copy")),
        "ring": (_ring(ranks, "reduce"), _ring(ranks, "copy")),
        "hd": (_halving(ranks), _doubling(ranks)),
        "nhr": (_nhr(ranks, "reduce"), _nhr(ranks, "copy")),
        "pairwise": (_pairwise(ranks, "reduce"), _pairwise(ranks, "copy", own=True)),
    }["ring" if algorithm == "pipeline" else algorithm]
    parts = {
        "allReduce": (*reduce, *gather),
        "reduceScatter": reduce,
        "allGather": gather,
    }[kind]
    middle = len(reduce) if kind == "allReduce" else -1
    return Plan(_NAMES[algorithm], ranks, ranks, parts, before=True, middle=middle)


_NAMES = {
    "mesh": "MESH-RING",
    "ring": "RING-RING",
    "hd": "HD-MESH",
    "nhr": "NHR-RING",
    "pairwise": "PAIRWISE-RING",
    "pipeline": "PIPELINE-RING",
}


def _line(values: Integers) -> Integers:
    return values.astype(np.int64).reshape(1, -1)


def _round(
    motion: Motion, peer: Integers, heard: Integers, first: Integers, count: int | Integers
) -> Round:
    """A round of one lane."""
    counts = np.where(peer >= 0, count, 0) if motion != "none" else np.zeros_like(peer)
    return Round(
        motion, _line(peer), _line(heard), _line(np.zeros_like(peer)), _line(first), _line(counts)
    )


def _meeting(last: Round) -> Round:
    """The round after the last motion: everybody learns that its data has arrived."""
    nothing = np.zeros_like(last.count)
    return Round("none", last.peer, last.heard, last.heard_lane, last.first, nothing)


def _mesh(ranks: int, motion: Motion) -> tuple[Round, ...]:
    """All meet all; lane l leads to the next rank but l when reducing, to the previous but l when
    copying, as the planes of the real operators do. A copy fetches the peer's piece."""
    lanes = np.arange(ranks - 1, dtype=np.int64).reshape(-1, 1)
    own = np.arange(ranks, dtype=np.int64).reshape(1, -1)
    distance = lanes + 1
    peer = (own + distance) % ranks if motion == "reduce" else (own - distance) % ranks
    heard_lane = np.broadcast_to(ranks - 2 - lanes, peer.shape).copy()
    move = Round(motion, peer, peer, heard_lane, peer, np.ones_like(peer))
    return move, _meeting(move)


def _ring(ranks: int, motion: Motion) -> tuple[Round, ...]:
    own = np.arange(ranks, dtype=np.int64)
    after, before = (own + 1) % ranks, (own - 1) % ranks
    start = own - 1 if motion == "reduce" else own
    moves = [_round(motion, after, before, (start - turn) % ranks, 1) for turn in range(ranks - 1)]
    return *moves, _meeting(moves[-1])


def _halving(ranks: int) -> tuple[Round, ...]:
    """Each round exchanges half of what the last one left; ends with the own piece."""
    own = np.arange(ranks, dtype=np.int64)
    rounds, half = [], ranks // 2
    while half:
        peer = own ^ half
        rounds.append(_round("reduce", peer, peer, peer // half * half, half))
        half //= 2
    return *rounds, _meeting(rounds[-1])


def _doubling(ranks: int) -> tuple[Round, ...]:
    own = np.arange(ranks, dtype=np.int64)
    rounds, held = [], 1
    while held < ranks:
        peer = own ^ held
        rounds.append(_round("copy", peer, peer, own // held * held, held))
        held *= 2
    return *rounds, _meeting(rounds[-1])


def _nhr(ranks: int, motion: Motion) -> tuple[Round, ...]:
    """Halving along a ring, for any number of ranks: distances 1, 2, 4, … and the rest."""
    own = np.arange(ranks, dtype=np.int64)
    spans, held = [], 1
    while held < ranks:
        spans.append((held, min(held, ranks - held)))
        held += spans[-1][1]
    if motion == "copy":
        moves = [
            _round("copy", (own + held) % ranks, (own - held) % ranks, (own - count + 1), count)
            for held, count in spans
        ]
    else:
        moves = [
            _round(
                "reduce",
                (own - held) % ranks,
                (own + held) % ranks,
                (own - held - count + 1),
                count,
            )
            for held, count in reversed(spans)
        ]
    return *moves, _meeting(moves[-1])


def _pairwise(ranks: int, motion: Motion = "copy", *, own: bool = False) -> tuple[Round, ...]:
    """Each round another distance; a rank gives each peer the peer's piece, or all its ``own``."""
    places = np.arange(ranks, dtype=np.int64)
    moves = []
    for turn in range(1, ranks):
        peer = (places + turn) % ranks
        moves.append(_round(motion, peer, (places - turn) % ranks, places if own else peer, 1))
    return *moves, _meeting(moves[-1])


def _pipeline(ranks: int, pieces: int) -> tuple[Round, ...]:
    """Rank 0 sends piece after piece down the chain; a rank passes on what it just received."""
    own = np.arange(ranks, dtype=np.int64)
    moves = []
    for turn in range(pieces + ranks - 2):
        piece = turn - own
        sends = (piece >= 0) & (piece < pieces) & (own < ranks - 1)
        hears = np.concatenate([[False], sends[:-1]])
        peer, heard = np.where(sends, own + 1, -1), np.where(hears, own - 1, -1)
        moves.append(_round("copy", peer, heard, np.maximum(piece, 0), 1))
    after = (own + 1) % ranks
    last = _round("copy", after, (own - 1) % ranks, own * 0, 1)
    return *moves, _meeting(last)


def _point_to_point() -> tuple[Round, ...]:
    """Place 0 sends to place 1; both tell each other before and after."""
    other = np.array([1, 0], np.int64)
    count = np.array([1, 0], np.int64)
    move = _round("copy", other, other, np.zeros(2, np.int64), count)
    return move, _meeting(move)
