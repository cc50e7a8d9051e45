"""Amounts of communication against sums formed task by task."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_ref.derive import matrix, transit

Task = tuple[int, int, int, int, int, int, bool, bool, bool]

tasks = st.lists(
    st.tuples(
        st.integers(0, 2),  # operator
        st.integers(0, 50),  # length
        st.sampled_from([transit.HCCS, transit.SIO, transit.RDMA, transit.SDMA, transit.LOCAL]),
        st.integers(0, 1),  # source
        st.integers(0, 2),  # target
        st.sampled_from([4_096, 600_000, 40_000_000]),
        st.booleans(),  # on the master plane
        st.booleans(),  # moves
        st.booleans(),  # waits
    ),
    max_size=12,
)


def small(rows: list[Task]) -> transit.SmallTasks:
    """Tasks one after the other, 7 ns apart."""
    table = np.array([row[:6] for row in rows], np.int64).reshape(-1, 6)
    owner, length, link, source, target, size = table.T
    flags = np.array([row[6:] for row in rows], np.bool_).reshape(-1, 3)
    start = np.cumsum(length + 7) - length
    moves = flags[:, 1]
    return transit.SmallTasks(
        owner, start, start + length, link, source, target, size,
        flags[:, 0], moves, flags[:, 2] & ~moves,
    )  # fmt: skip


def each(found: transit.SmallTasks) -> list[dict[str, int]]:
    names = transit.SmallTasks.__slots__
    return [
        {name: int(getattr(found, name)[row]) for name in names} for row in range(len(found.owner))
    ]


@given(tasks)
def test_time_divides_as_it_is_spent_on_the_master_plane(rows: list[Task]) -> None:
    shown = small(rows)
    end = np.array([3, 5, 10**6])
    found = transit.division(shown, end * 0, end)
    for operator in range(3):
        moved = waited = synchronized = 0
        seen = False
        for task in each(shown):
            if task["owner"] != operator or not task["on_master"]:
                continue
            length = task["end"] - task["start"]
            if task["moves"] and task["link"] != transit.LOCAL:
                moved, seen = moved + length, True
            if task["waits"]:
                waited += length
                synchronized += 0 if seen else length
        expected = (end[operator], moved, waited, synchronized, end[operator] - moved - waited)
        names = ("elapsed", "transit", "wait", "synchronization", "idle")
        assert tuple(getattr(found, name)[operator] for name in names) == expected


@given(tasks)
def test_packets_and_their_sums_are_counted_one_by_one(rows: list[Task]) -> None:
    shown = small(rows)
    sizes: dict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0])
    links: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for task in each(shown):
        if not task["moves"] or task["link"] == transit.LOCAL:
            continue
        owner, link, size = task["owner"], task["link"], task["size"]
        length = task["end"] - task["start"]
        large = size > {transit.RDMA: 5e5, transit.SDMA: 0}.get(link, 32e6)
        for place, value in enumerate((1, length)):
            sizes[owner, link, size][place] += value
        for place, value in enumerate((size, length, 1, int(large))):
            links[owner, link][place] += value
        if link != transit.RDMA:
            sums[owner][0] += size
            sums[owner][1] += length
    found = transit.packets(shown)
    names = ("owner", "link", "size", "count", "duration", "transit_size", "transit_time")
    rows_found = [
        tuple(int(getattr(found, name)[row]) for name in (*names, "packets", "large"))
        for row in range(len(found.owner))
    ]
    assert sorted(rows_found) == sorted(
        (*key, *value, *links[key[:2]]) for key, value in sizes.items()
    )
    total = transit.link_sums(found)
    assert {
        int(owner): [int(size), int(time)]
        for owner, size, time in zip(
            total.owner, total.transit_size, total.transit_time, strict=True
        )
    } == sums


@given(tasks)
def test_flows_add_up_pair_by_pair(rows: list[Task]) -> None:
    shown = small(rows)
    expected: dict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0])
    for task in each(shown):
        if task["moves"]:
            pair = expected[task["owner"], task["source"], task["target"]]
            pair[0] += task["size"]
            pair[1] += task["end"] - task["start"]
    found = transit.flows(shown)
    columns = (found.owner, found.source, found.target, found.size, found.duration)
    told = [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]
    assert told == [(*key, *value) for key, value in expected.items()]


def test_the_matrix_shows_the_fastest_the_middle_and_the_slowest() -> None:
    size = np.array([10, 40, 20, 30, 7]) * 1_000_000
    none = np.zeros(5, np.int64)
    flows = transit.Flows(np.arange(5), none, none, none, size, none + 1_000_000)
    found = matrix.choices(flows, np.array([0, 0, 0, 0, 1]))
    told = {
        (int(flows.owner[flow]) == 4, matrix.CHOICES[choice]): (int(flow), int(amount) // 1_000_000)
        for flow, choice, amount in zip(found.flow, found.choice, found.size, strict=True)
    }
    assert told == {
        (False, "top1"): (1, 40),
        (False, "middle"): (2, 20),
        (False, "bottom1"): (0, 10),
        (False, "bottom2"): (2, 20),
        (False, "bottom3"): (3, 30),
        (False, "total"): (1, 100),
        (True, "top1"): (4, 7),
        (True, "middle"): (4, 7),
        (True, "bottom1"): (4, 7),
        (True, "total"): (4, 7),
    }


def test_a_rate_is_rounded_to_four_decimals_and_0_without_time() -> None:
    assert matrix.rate(np.array([10**6, 5]), np.array([3 * 10**6, 0])).tolist() == [0.3333, 0.0]


@pytest.mark.parametrize(
    ("operator", "kind", "paired"),
    [
        ("hcom_allReduce__865_0_1", "allreduce", False),
        ("hcom_reduceScatter__865_0_1", "reduce", False),
        ("hcom_alltoallv__865_0_1", "alltoall", False),
        ("hcom_batchSendRecv__865_0_1", "batchsendrecv", True),
        ("hcom_send__865_0_1", "send", True),
        ("hcom_unheard__865_0_1", "hcom_unheard", False),
    ],
)
def test_an_operator_counts_under_the_first_kind_in_its_name(
    operator: str, kind: str, paired: bool
) -> None:
    assert matrix.matrix_kind(operator) == kind
    assert matrix.is_point_to_point(operator) is paired


@given(tasks)
def test_packets_without_a_link_stand_in_the_sum(rows: list[Task]) -> None:
    shown = small(rows)
    by_link = transit.packets(shown)
    sums = transit.link_sums(by_link)
    of_owner = {
        int(owner): (int(size), int(time))
        for owner, size, time in zip(sums.owner, sums.transit_size, sums.transit_time, strict=True)
    }
    found = transit.rows_of_links(by_link)
    combined = found.link == transit.SDMA
    assert not found.large[combined].any()
    assert {int(one) for one in found.owner[combined]} == of_owner.keys()
    for owner, size, time in zip(
        found.owner[combined],
        found.transit_size[combined],
        found.transit_time[combined],
        strict=True,
    ):
        assert (int(size), int(time)) == of_owner[int(owner)]
    # Each packet stands once, and a sum has a row of its own only where nothing else is in it.
    kept = found.count > 0
    for name in ("owner", "link", "size", "count", "duration", "packets"):
        assert (getattr(found, name)[kept] == getattr(by_link, name)).all()
    unnamed = {int(one) for one in by_link.owner[by_link.link == transit.SDMA]}
    assert {int(one) for one in found.owner[~kept]} == of_owner.keys() - unnamed
