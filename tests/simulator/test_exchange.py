"""Algorithms of communication operators, judged by what every rank holds in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from ascend_simulator.world.exchange import BROADCAST_PIECES, Plan, moved, piece_sizes, plan

ALGORITHMS = ("mesh", "ring", "hd", "nhr", "pairwise", "pipeline")
SIZES = (2, 3, 4, 5, 6, 7, 8, 16)
REDUCING = ("allReduce", "reduceScatter", "allGather")
KINDS = (*REDUCING, "alltoallv", "broadcast", "send")
Held = list[list[Counter[int]]]
"""By rank and piece: how often each rank's contribution is in it."""


def known(kind: str, *, confirmed: bool = False) -> Iterator[tuple[str, Plan]]:
    for algorithm in ALGORITHMS:
        for ranks in SIZES:
            if algorithm == "hd" and ranks & (ranks - 1):
                continue
            yield algorithm, plan(kind, algorithm, 2 if kind == "send" else ranks, confirmed)


def played(algorithm: Plan, held: Held) -> Held:
    """Every motion of every round by hand: a sum grows by what the sender held before the round, a
    copy takes its place.
    """
    for turn in algorithm.rounds:
        after = [[piece.copy() for piece in pieces] for pieces in held]
        for lane, peers in enumerate(turn.peer.tolist()):
            for rank, peer in enumerate(peers):
                source, target = (peer, rank) if turn.fetches else (rank, peer)
                for offset in range(int(turn.count[lane, rank])):
                    piece = (int(turn.first[lane, rank]) + offset) % algorithm.pieces
                    if turn.motion == "reduce":
                        after[target][piece] += held[source][piece]
                    else:
                        after[target][piece] = held[source][piece]
        held = after
    return held


def own_data(algorithm: Plan) -> Held:
    return [[Counter([rank]) for _ in range(algorithm.pieces)] for rank in range(algorithm.ranks)]


def test_an_all_reduce_sums_every_contribution_once_on_every_rank() -> None:
    for name, algorithm in known("allReduce"):
        everyone = Counter(range(algorithm.ranks))
        held = played(algorithm, own_data(algorithm))
        assert all(piece == everyone for pieces in held for piece in pieces), name


def test_a_reduce_scatter_leaves_every_rank_its_own_piece() -> None:
    for name, algorithm in known("reduceScatter"):
        everyone = Counter(range(algorithm.ranks))
        held = played(algorithm, own_data(algorithm))
        assert all(held[rank][rank] == everyone for rank in range(algorithm.ranks)), name


def test_an_all_gather_brings_every_piece_from_its_owner() -> None:
    for name, algorithm in known("allGather"):
        ranks = range(algorithm.ranks)
        start = [[Counter([rank] * (piece == rank)) for piece in ranks] for rank in ranks]
        held = played(algorithm, start)
        assert all(held[rank][piece] == Counter([piece]) for rank in ranks for piece in ranks), name


def test_a_broadcast_brings_all_pieces_of_the_first_rank() -> None:
    for _, algorithm in known("broadcast"):
        start = [
            [Counter([0] * (rank == 0)) for _ in range(BROADCAST_PIECES)]
            for rank in range(algorithm.ranks)
        ]
        assert all(piece == {0: 1} for pieces in played(algorithm, start) for piece in pieces)


def test_every_pair_exchanges_its_pieces_in_an_alltoall() -> None:
    for name, algorithm in known("alltoallv"):
        ranks = range(algorithm.ranks)
        told = Counter(
            (peer, rank, piece) if turn.fetches else (rank, peer, piece)
            for turn in algorithm.rounds
            for peers, firsts, counts in zip(turn.peer, turn.first, turn.count, strict=True)
            for rank, (peer, piece, count) in enumerate(
                zip(peers.tolist(), firsts.tolist(), counts.tolist(), strict=True)
            )
            if count
        )
        assert {(source, target) for source, target, _ in told} == {
            (one, other) for one in ranks for other in ranks if one != other
        }, name
        assert set(told.values()) == {1}


@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_who_waits_is_told_on_the_same_lane(kind: str, confirmed: bool) -> None:
    for name, algorithm in known(kind, confirmed=confirmed):
        for turn in algorithm.rounds:
            tells = {
                (lane, rank, told)
                for lane, row in enumerate(turn.notifies.tolist())
                for rank, told in enumerate(row)
                if told >= 0
            }
            waits = {
                (int(turn.heard_lane[lane, rank]), heard, rank)
                for lane, row in enumerate(turn.heard.tolist())
                for rank, heard in enumerate(row)
                if heard >= 0
            }
            assert tells == waits, name


@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_data_move_when_the_receiver_is_ready_and_it_learns_of_them(
    kind: str, confirmed: bool
) -> None:
    """Else a rank would write into a peer that has not begun, or pass on what has not arrived."""
    for name, algorithm in known(kind, confirmed=confirmed):
        for number, turn in enumerate(algorithm.rounds):
            for lane, rank in zip(*np.nonzero(turn.count), strict=True):
                peer = turn.peer[lane, rank]
                assert turn.heard[lane, rank] == peer, name
                assert algorithm.rounds[number + 1].notifies[lane, rank] == peer, name
                if confirmed and kind != "send":
                    assert algorithm.rounds[number + 2].heard[lane, rank] == peer, name


@pytest.mark.parametrize(
    ("algorithm", "motions"),
    [("mesh", 1), ("ring", 7), ("hd", 3), ("nhr", 3), ("pairwise", 7), ("pipeline", 7)],
)
def test_rounds_in_which_eight_ranks_move_data(algorithm: str, motions: int) -> None:
    for kind, share in (("allReduce", 2), ("reduceScatter", 1), ("allGather", 1)):
        found = plan(kind, algorithm, 8)
        assert sum(bool(turn.count.any()) for turn in found.rounds) == motions * share
    six = plan("allGather", "nhr", 6)
    assert sum(bool(turn.count.any()) for turn in six.rounds) == 3
    chain = plan("broadcast", algorithm, 8)
    assert sum(bool(turn.count.any()) for turn in chain.rounds) == BROADCAST_PIECES + 8 - 2


@pytest.mark.parametrize("kind", [*REDUCING, "alltoallv"])
def test_every_pair_meets_on_a_mesh(kind: str) -> None:
    for ranks in SIZES:
        for turn in plan(kind, "mesh", ranks).rounds:
            assert len(turn.peer) == ranks - 1
            for rank in range(ranks):
                assert set(turn.peer[:, rank].tolist()) == set(range(ranks)) - {rank}


def test_eight_ranks_on_a_mesh_have_the_small_tasks_of_the_real_operator() -> None:
    algorithm = plan("allReduce", "mesh", 8)
    records = sum(int((turn.notifies[:, 0] >= 0).sum()) for turn in algorithm.rounds)
    waits = sum(int((turn.heard[:, 0] >= 0).sum()) for turn in algorithm.rounds)
    moves = [int((turn.count[:, 0] > 0).sum()) for turn in algorithm.rounds]
    assert (records, waits, moves) == (28, 28, [7, 0, 7, 0])


def test_names_tell_the_algorithm_that_ran() -> None:
    """Inside of a host, then between hosts; mesh and ring as in real files (db-schema.md 7.5)."""
    names = {name: plan("allReduce", name, 4).name for name in ALGORITHMS}
    assert names == {
        "mesh": "MESH-RING",
        "ring": "RING-RING",
        "hd": "HD-MESH",
        "nhr": "NA-NHR",
        "pairwise": "PAIRWISE-RING",
        "pipeline": "NA-PIPELINE",
    }
    for algorithm in ALGORITHMS:
        assert plan("broadcast", algorithm, 4).name == "NA-PIPELINE"
        assert plan("send", algorithm, 2).name == "PAIRWISE-RING"
    assert plan("alltoallv", "hd", 4).name == "PAIRWISE-RING"
    assert plan("alltoallv", "mesh", 4).name == "MESH-RING"


@pytest.mark.parametrize(
    ("kind", "share"), [("allReduce", 2), ("reduceScatter", 1), ("allGather", 1), ("alltoallv", 1)]
)
def test_ranks_send_what_the_operator_needs(kind: str, share: int) -> None:
    """(n - 1) / n of the data for each half of an allReduce, whatever the algorithm; along a chain
    the ranks in the middle pass on more than the others.
    """
    for name, algorithm in known(kind):
        sizes = np.full(algorithm.pieces, 4096)
        sent = sum(moved(turn, sizes).sum(axis=0) for turn in algorithm.rounds)
        each = share * (algorithm.ranks - 1) * 4096
        assert np.asarray(sent).sum() == each * algorithm.ranks, name
        if name != "pipeline":
            assert set(np.asarray(sent).tolist()) == {each}, name


@pytest.mark.parametrize("total", [4, 28, 4096, 16_388_000, 9_878_784, 67_125_248])
@pytest.mark.parametrize("pieces", [2, 3, 7, 8])
@pytest.mark.parametrize("alignment", [128, 16_384])
def test_pieces_make_up_the_whole(total: int, pieces: int, alignment: int) -> None:
    sizes = piece_sizes(total, pieces, 4, alignment)
    assert sizes.sum() == total
    assert (sizes >= 0).all()


def test_pieces_of_a_real_operator() -> None:
    """hcom_allReduce of 4,097,000 and of 2,469,696 floats on 8 ranks, on 910B (level1_rank1) and on
    910A (db_910a_2024_level1_rank0: 2,048,512 Byte are copied between reducing and gathering).
    """
    total = 4_097_000 * 4
    assert piece_sizes(total, 8, 4, 16_384).tolist() == [2_064_384] * 7 + [1_937_312]
    assert piece_sizes(total, 8, 4, 128).tolist() == [2_048_512] * 7 + [2_048_416]
    assert piece_sizes(2_469_696 * 4, 8, 4, 128).tolist() == [1_234_944] * 7 + [1_234_176]


def test_algorithms_refuse_what_they_cannot_do() -> None:
    with pytest.raises(ValueError, match="power of two, not 6"):
        plan("allReduce", "hd", 6)
    with pytest.raises(ValueError, match="two ranks or more, not 1"):
        plan("allReduce", "ring", 1)
