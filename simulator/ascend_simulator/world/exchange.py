"""How a communication operator expands: rounds in which ranks meet and then move data.

In each round a rank notifies others (Notify_Record) and waits for others (Notify_Wait) on every
lane; once it has been notified on all lanes, it moves a piece of the data on each. No rank moves
data to one that has not reported that it is ready, and a rank that has moved data notifies the
receiver in the next round, so that nothing is passed on before it has arrived. This is the order of
the real small tasks (db-schema.md 7.5: on 8 ranks an allReduce by mesh has 28 records, 28 waits, 9
reductions and 9 copies; by ring, two records for each motion). A lane is one plane of the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from ascend_ref.capture import Integers

from .compiled import Flags

Motion = Literal["reduce", "copy", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """One round; arrays have the shape (lanes, ranks), -1 where a rank has no part on a lane.

    notifies: whom a rank notifies. heard: who notifies it; heard_lane: on which of its lanes. peer:
    to whom a rank moves data, or, with ``fetches``, from whom it copies data into its own memory;
    where data move, ``notifies`` is the rank whose data come. first, count: the pieces that move,
    ``count`` from ``first`` on (cyclic); count 0 moves nothing. ``confirms``: receivers report to
    the senders that their data arrived; between ranks of one host this round passes without a task.
    """

    motion: Motion
    notifies: Integers
    heard: Integers
    heard_lane: Integers
    peer: Integers
    first: Integers
    count: Integers
    fetches: bool = False
    confirms: bool = False


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


def piece_sizes(total: int, pieces: int, element: int, alignment: int) -> Integers:
    """Byte of each piece: equal multiples of the alignment, the last one smaller."""
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
def plan(kind: str, algorithm: str, ranks: int, confirmed: bool = False) -> Plan:
    """The plan of an operator (a CollectiveKind) on so many ranks by a known algorithm.

    ``confirmed``: the receiver reports the arrival to the sender, as between hosts. Raises
    ``ValueError`` for an algorithm that cannot do the operator on so many ranks.
    """
    if ranks < 2:
        raise ValueError(f"{kind} needs two ranks or more, not {ranks}")
    if kind in ("send", "receive"):
        other, nothing = np.array([1, 0]), np.zeros(2, np.int64)
        move = _round("copy", other, other, nothing, np.array([1, 0]))  # place 0 sends to place 1
        rounds = _closed([move], confirmed=False)
        return Plan(_NAMES["pairwise"], 2, 1, rounds, before=False, middle=-1)
    if algorithm == "hd" and ranks & (ranks - 1):
        raise ValueError(f"halving-doubling needs a power of two, not {ranks} ranks")
    if kind == "broadcast":
        rounds = _closed(_pipeline(ranks, BROADCAST_PIECES), confirmed)
        return Plan(_NAMES["pipeline"], ranks, BROADCAST_PIECES, rounds, before=False, middle=-1)
    if kind == "alltoallv":
        found = "mesh" if algorithm == "mesh" else "pairwise"
        moves = _pairwise(ranks, "copy", own=False)
        if found == "mesh":
            moves = [replace(turn, fetches=False) for turn in _mesh(ranks, "copy")]
        rounds = _closed(moves, confirmed)
        return Plan(_NAMES[found], ranks, ranks, rounds, before=True, middle=-1)
    reduce, gather = (
        _closed(_MOVES[algorithm](ranks, motion), confirmed) for motion in ("reduce", "copy")
    )
    parts = {
        "allReduce": (*reduce, *gather),
        "reduceScatter": reduce,
        "allGather": gather,
    }[kind]
    middle = len(reduce) if kind == "allReduce" else -1
    return Plan(_NAMES[algorithm], ranks, ranks, parts, before=True, middle=middle)


BROADCAST_PIECES = 4
_NAMES = {
    "mesh": "MESH-RING",
    "ring": "RING-RING",
    "hd": "HD-MESH",
    "nhr": "NA-NHR",
    "pairwise": "PAIRWISE-RING",
    "pipeline": "NA-PIPELINE",
}
"""Algorithm inside of a host, then the one between hosts. NHR and PIPELINE are known between hosts
only (ge-profiling.md 4.7; the first three as in db-schema.md, the others inferred)."""


def _round(
    motion: Motion, peer: Integers, source: Integers, first: Integers, count: int | Integers
) -> Round:
    """A round in which ranks move to ``peer`` and receive from ``source`` on the same lane.

    Arrays without an axis for lanes mean one lane.
    """
    peer, source, first = (
        values.astype(np.int64).reshape(-1, values.shape[-1]) for values in (peer, source, first)
    )
    lane = np.broadcast_to(np.arange(len(peer)).reshape(-1, 1), peer.shape)
    return Round(motion, source, peer, lane, peer, first, np.where(peer >= 0, count, 0))


def _closed(moves: Sequence[Round], confirmed: bool) -> tuple[Round, ...]:
    """After each motion the receivers learn that their data have arrived; where it is confirmed,
    the senders learn that they did.
    """
    rounds: list[Round] = []
    for move in moves:
        arrived = replace(
            move,
            motion="none",
            notifies=move.heard,
            heard=move.notifies,
            count=np.zeros_like(move.count),
        )
        rounds += [move, arrived]
        if confirmed:
            rounds.append(replace(arrived, notifies=move.notifies, heard=move.heard, confirms=True))
    return tuple(rounds)


def _mesh(ranks: int, motion: Motion) -> list[Round]:
    """All meet all; lane l leads to the next rank but l when reducing, to the previous but l when
    copying, as the planes of the real operators do. A copy fetches the peer's piece."""
    lanes = np.arange(ranks - 1, dtype=np.int64).reshape(-1, 1)
    own = np.arange(ranks, dtype=np.int64).reshape(1, -1)
    distance = lanes + 1
    peer = (own + distance) % ranks if motion == "reduce" else (own - distance) % ranks
    heard_lane = np.broadcast_to(ranks - 2 - lanes, peer.shape).copy()
    one = np.ones_like(peer)
    return [Round(motion, peer, peer, heard_lane, peer, peer, one, fetches=motion == "copy")]


def _ring(ranks: int, motion: Motion) -> list[Round]:
    own = np.arange(ranks, dtype=np.int64)
    after, before = (own + 1) % ranks, (own - 1) % ranks
    start = own - 1 if motion == "reduce" else own
    return [_round(motion, after, before, (start - turn) % ranks, 1) for turn in range(ranks - 1)]


def _halving(ranks: int, motion: Motion) -> list[Round]:
    """Each round of a reduction exchanges half of what the last one left, down to the own piece; a
    copy doubles what a rank holds, the other way round."""
    own = np.arange(ranks, dtype=np.int64)
    halves = [1 << bit for bit in range(ranks.bit_length() - 1)]
    rounds = []
    for half in reversed(halves) if motion == "reduce" else halves:
        peer = own ^ half
        owner = peer if motion == "reduce" else own
        rounds.append(_round(motion, peer, peer, owner // half * half, half))
    return rounds


def _nhr(ranks: int, motion: Motion) -> list[Round]:
    """Halving along a ring, for any number of ranks: distances 1, 2, 4, … and the rest."""
    own = np.arange(ranks, dtype=np.int64)
    spans, held = [], 1
    while held < ranks:
        spans.append((held, min(held, ranks - held)))
        held += spans[-1][1]
    rounds = []
    for distance, count in reversed(spans) if motion == "reduce" else spans:
        way = -distance if motion == "reduce" else distance
        first = own + 1 - count + min(way, 0)
        rounds.append(_round(motion, (own + way) % ranks, (own - way) % ranks, first, count))
    return rounds


def _pairwise(ranks: int, motion: Motion, *, own: bool = True) -> list[Round]:
    """Each round another distance; a rank gives each peer the peer's piece, or its ``own``."""
    places = np.arange(ranks, dtype=np.int64)
    moves = []
    for turn in range(1, ranks):
        peer = (places + turn) % ranks
        piece = places if own and motion == "copy" else peer
        moves.append(_round(motion, peer, (places - turn) % ranks, piece, 1))
    return moves


def _chain(ranks: int, motion: Motion) -> list[Round]:
    """Pieces pass along the ranks, on lane 0 upwards and on lane 1 downwards, away from their
    owners; when reducing, all steps the other way round.
    """
    own = np.arange(ranks, dtype=np.int64)
    way = np.array([[1], [-1]])
    moves = []
    for turn in range(ranks - 1):
        turns = turn if motion == "copy" else ranks - 2 - turn
        piece = own - way * turns if motion == "copy" else own - way * (1 + turns)
        ahead = own + (way if motion == "copy" else -way)
        sends = (piece >= 0) & (piece < ranks) & (ahead >= 0) & (ahead < ranks)
        moves.append(_along(motion, ahead, 2 * own - ahead, sends, piece))
    return moves


def _pipeline(ranks: int, pieces: int) -> list[Round]:
    """Rank 0 sends piece after piece down the chain; a rank passes on what it just received."""
    own = np.arange(ranks, dtype=np.int64).reshape(1, -1)
    moves = []
    for turn in range(pieces + ranks - 2):
        piece = turn - own
        sends = (piece >= 0) & (piece < pieces) & (own < ranks - 1)
        moves.append(_along("copy", own + 1, own - 1, sends, piece))
    return moves


_MOVES: Mapping[str, Callable[[int, Motion], list[Round]]] = {
    "mesh": _mesh,
    "ring": _ring,
    "hd": _halving,
    "nhr": _nhr,
    "pairwise": _pairwise,
    "pipeline": _chain,
}
"""The motions of each algorithm: to reduce pieces to their owners, or to copy from these."""


def _along(
    motion: Motion, ahead: Integers, behind: Integers, sends: Flags, piece: Integers
) -> Round:
    """A round in which some ranks of a chain send one piece to the rank ahead of them."""
    ranks = ahead.shape[-1]
    inside = (behind >= 0) & (behind < ranks)
    receives = inside & np.take_along_axis(sends, np.where(inside, behind, 0), axis=1)
    peer, source = np.where(sends, ahead, -1), np.where(receives, behind, -1)
    return _round(motion, peer, source, np.where(sends, piece, 0), 1)
