"""Algorithms of communication operators, judged by what every rank holds in the end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from ascend_simulator.world.exchange import Plan, moved, piece_sizes, plan

ONE_LANE = ("ring", "hd", "nhr", "pairwise")
SIZES = (2, 3, 4, 5, 6, 7, 8, 16)
Held = list[list[set[int]]]
"""By rank and piece: whose contributions the rank holds."""


def known(kind: str, algorithms: tuple[str, ...] = ONE_LANE) -> Iterator[Plan]:
    for algorithm in algorithms:
        for ranks in SIZES:
            if algorithm == "hd" and ranks & (ranks - 1):
                continue
            yield plan(kind, algorithm, ranks)


def played(algorithm: Plan, held: Held) -> Held:
    """Every motion of every round by hand: the peer receives what the sender held before it."""
    for turn in algorithm.rounds:
        after = [[set(piece) for piece in pieces] for pieces in held]
        for lane, peers in enumerate(turn.peer.tolist()):
            for rank, peer in enumerate(peers):
                for offset in range(int(turn.count[lane, rank]) if peer >= 0 else 0):
                    piece = (int(turn.first[lane, rank]) + offset) % algorithm.pieces
                    after[peer][piece] |= held[rank][piece]
        held = after
    return held


def own_data(algorithm: Plan) -> Held:
    return [[{rank} for _ in range(algorithm.pieces)] for rank in range(algorithm.ranks)]


def test_an_all_reduce_brings_every_contribution_to_every_rank() -> None:
    for algorithm in known("allReduce"):
        everyone = set(range(algorithm.ranks))
        held = played(algorithm, own_data(algorithm))
        assert all(piece == everyone for pieces in held for piece in pieces), algorithm.name


def test_a_reduce_scatter_leaves_every_rank_its_own_piece() -> None:
    for algorithm in known("reduceScatter"):
        everyone = set(range(algorithm.ranks))
        held = played(algorithm, own_data(algorithm))
        assert all(held[rank][rank] == everyone for rank in range(algorithm.ranks))


def test_an_all_gather_brings_every_piece_from_its_owner() -> None:
    for algorithm in known("allGather"):
        ranks = range(algorithm.ranks)
        start = [[{rank} if piece == rank else set() for piece in ranks] for rank in ranks]
        held = played(algorithm, start)
        assert all(held[rank][piece] == {piece} for rank in ranks for piece in ranks)


def test_a_broadcast_brings_all_pieces_of_the_first_rank() -> None:
    for ranks in SIZES:
        algorithm = plan("broadcast", "pipeline", ranks)
        start: Held = [[{0} if rank == 0 else set() for _ in range(4)] for rank in range(ranks)]
        assert all(piece == {0} for pieces in played(algorithm, start) for piece in pieces)


@pytest.mark.parametrize("kind", ["allReduce", "reduceScatter", "allGather", "alltoallv"])
def test_every_pair_meets_on_a_mesh_and_lanes_match(kind: str) -> None:
    for algorithm in known(kind, ("mesh",)):
        for turn in algorithm.rounds:
            lanes, ranks = turn.peer.shape
            assert lanes == algorithm.ranks - 1
            for rank in range(ranks):
                others = set(range(ranks)) - {rank}
                assert set(turn.peer[:, rank].tolist()) == others
            for lane in range(lanes):
                for rank in range(ranks):
                    heard, heard_lane = (
                        int(turn.heard[lane, rank]),
                        int(turn.heard_lane[lane, rank]),
                    )
                    assert int(turn.peer[heard_lane, heard]) == rank


def test_who_hears_is_whom_the_other_tells() -> None:
    for kind in ("allReduce", "allGather", "alltoallv", "broadcast", "send"):
        algorithms = ("pairwise",) if kind in ("alltoallv", "send") else ONE_LANE
        for algorithm in known(kind, algorithms):
            for turn in algorithm.rounds:
                for rank, heard in enumerate(turn.heard[0].tolist()):
                    assert heard < 0 or int(turn.peer[0, heard]) == rank


def test_eight_ranks_on_a_mesh_have_the_small_tasks_of_the_real_operator() -> None:
    algorithm = plan("allReduce", "mesh", 8)
    records = sum(int((turn.peer[:, 0] >= 0).sum()) for turn in algorithm.rounds)
    moves = [int((turn.count[:, 0] > 0).sum()) for turn in algorithm.rounds]
    assert (records, moves) == (28, [7, 0, 7, 0])
    assert algorithm.name == "MESH-RING"


@pytest.mark.parametrize(
    ("kind", "share"), [("allReduce", 2), ("reduceScatter", 1), ("allGather", 1), ("alltoallv", 1)]
)
def test_ranks_send_what_the_operator_needs(kind: str, share: int) -> None:
    """(n - 1) / n of the data for each half of an allReduce, whatever the algorithm."""
    algorithms = ("mesh", "ring", "pairwise") if kind != "alltoallv" else ("mesh", "pairwise")
    for algorithm in known(kind, algorithms):
        sizes = np.full(algorithm.pieces, 4096)
        sent = sum(moved(turn, sizes).sum(axis=0) for turn in algorithm.rounds)
        assert set(np.asarray(sent).tolist()) == {share * (algorithm.ranks - 1) * 4096}


@pytest.mark.parametrize("total", [4, 28, 4096, 16_388_000, 9_878_784, 67_125_248])
@pytest.mark.parametrize("pieces", [2, 3, 7, 8])
def test_pieces_make_up_the_whole(total: int, pieces: int) -> None:
    sizes = piece_sizes(total, pieces, 4)
    assert sizes.sum() == total
    assert (sizes >= 0).all()


def test_pieces_of_a_real_operator() -> None:
    """hcom_allReduce of 4,097,000 floats on 8 ranks (level1_rank1)."""
    assert piece_sizes(4_097_000 * 4, 8, 4).tolist() == [2_064_384] * 7 + [1_937_312]


def test_algorithms_refuse_what_they_cannot_do() -> None:
    with pytest.raises(ValueError, match="power of two, not 6"):
        plan("allReduce", "hd", 6)
    with pytest.raises(ValueError, match="two ranks or more, not 1"):
        plan("allReduce", "ring", 1)
