"""What profiles of several ranks must share, and what they must not."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from ascend_conformance.compare.ranks import (
    COMMUNICATOR,
    FEWEST,
    Collective,
    RankProfile,
    collectives_of,
    groups_of,
    judge_profiles,
)
from ascend_conformance.media.db.checks.ranks import RankFacts, judge_ranks
from ascend_conformance.ruleset import EVERYTHING
from ascend_ref.derive.group_hash import group_hash

GROUP = "10.0.0.1%eth0_60000_0_1736408883701385"
NAME = "hcom_allReduce__305_0_1"
FIRST = RankProfile(
    "rank0.db",
    0,
    frozenset({0}),
    ("TASK", 100, 1_000, 9_000, 77),
    {(NAME, GROUP): Collective(1024, "FP32", 2_000, 3_000)},
    {GROUP: (0, 1), "group_name_1": (0,)},
    2,
)
SECOND = replace(
    FIRST,
    file="rank1.db",
    rank=1,
    devices=frozenset({1}),
    starts=("TASK", 100, 1_001, 9_001, 78),
    collectives={(NAME, GROUP): Collective(1024, "FP32", 2_500, 3_010)},
    groups={GROUP: (0, 1), "group_name_1": (1,)},
)


def found(*profiles: RankProfile) -> dict[str, list[str]]:
    """The rules that find something, by file."""
    judged = judge_profiles(profiles, EVERYTHING)
    return {file: [one.rule for one in some] for file, some in judged.items()}


def test_two_ranks_of_one_job_agree() -> None:
    assert found(FIRST, SECOND) == {}


def test_a_copy_is_one_finding_only() -> None:
    copy = replace(FIRST, file="rank1.db", rank=1)
    assert found(FIRST, copy) == {"rank1.db": ["XLR921"]}


def test_the_same_profile_twice_is_no_copy_of_a_rank() -> None:
    assert found(FIRST, replace(FIRST, file="again.db")) == {}


def test_few_equal_starts_are_chance() -> None:
    one, other = (
        replace(some, starts=("TASK", FEWEST - 1, 1_000, 9_000, 77)) for some in (FIRST, SECOND)
    )
    assert found(one, other) == {}


def test_another_count_or_type_in_one_collective() -> None:
    for wrong in (Collective(2048, "FP32", 2_500, 3_010), Collective(1024, "BF16", 2_500, 3_010)):
        other = replace(SECOND, collectives={(NAME, GROUP): wrong})
        assert found(FIRST, other) == {"rank1.db": ["XLR922"]}


def test_names_count_anew_in_each_capture_and_sizes_differ_by_rank() -> None:
    later = replace(SECOND, collectives={(NAME, GROUP): Collective(2048, "FP32", 4_000, 5_000)})
    assert found(FIRST, later) == {}
    key = ("hcom_alltoallv__305_0_1", GROUP)
    sizes = [
        replace(one, collectives={key: Collective(count, "FP32", 2_000, 3_000)})
        for one, count in ((FIRST, 1), (SECOND, 2))
    ]
    assert found(*sizes) == {}


def test_one_rank_on_two_devices_at_once() -> None:
    assert found(FIRST, replace(SECOND, rank=0)) == {"rank1.db": ["XLR923"]}
    later = replace(SECOND, collectives={(NAME, GROUP): Collective(1024, "FP32", 4_000, 5_000)})
    assert found(FIRST, replace(later, rank=0)) == {}, "another capture of the rank"


def captured(one: RankProfile, counts: list[int], first: int, late: int = 0) -> RankProfile:
    """Operators that end a millisecond and more apart, numbered from the first one captured."""
    work: dict[tuple[str, str], Collective] = {}
    end = 0
    for at, count in enumerate(counts):
        end += 1_000_000 + 50_000 * (at * at % 7)
        if at >= first:
            name = f"hcom_allReduce__409_{at - first}_1"
            work[name, GROUP] = Collective(count, "FP32", end - 900_000 + late, end + late)
    return replace(one, collectives=work)


def test_a_capture_that_begins_an_operator_later_numbers_others() -> None:
    """``hccl_calculator.cpp`` counts from the first one that the device began in the capture."""
    counts = [1024, 2048, 512, 4096, 256, 8192]
    late = 30_000  # the clocks of two devices are so far apart
    assert found(captured(FIRST, counts, 0), captured(SECOND, counts, 1, late - 1_000_000)) == {}
    for hosts_apart in (late, -1_000_000, -1_200_000, 3_000_000):
        pair = captured(FIRST, counts, 0), captured(SECOND, counts, 1, hosts_apart)
        assert found(*pair) == {}, hosts_apart
    wrong = [*counts[:-1], counts[-1] * 2]
    assert found(captured(FIRST, counts, 0), captured(SECOND, wrong, 0, late)) == {
        "rank1.db": ["XLR922"]
    }


def test_groups_of_several_jobs_may_have_one_name() -> None:
    """``ProcessGroupHCCL.cpp`` names groups group_name_0 and so on in each job."""
    name = ("hcom_allReduce__305_0_1", "group_name_0")
    first, second = (
        replace(one, collectives={name: Collective(count, "FP32", 2_000, 3_000)}, groups={})
        for one, count in ((FIRST, 1024), (SECOND, 2048))
    )
    assert found(first, second) == {"rank1.db": ["XLR922"]}
    other_job = replace(
        first, file="other.db", devices=frozenset({4}), starts=("TASK", 90, 2_000, 8_000, 7)
    )
    assert found(first, second, other_job) == {}
    later = replace(other_job, starts=("TASK", 90, 9_100, 9_900, 7))
    assert found(first, second, later) == {"rank1.db": ["XLR922"]}, "a later capture of the rank"


def test_groups_and_worlds() -> None:
    assert found(FIRST, replace(SECOND, groups={GROUP: (0, 2)})) == {"rank1.db": ["XLR924"]}
    assert found(FIRST, replace(SECOND, world=4)) == {"rank1.db": ["XLR924"]}
    assert found(FIRST, replace(SECOND, groups={"group_name_1": (5,)}, world=4)) == {}


def test_a_rank_that_most_of_its_group_lack_is_named() -> None:
    ranks = [
        replace(
            SECOND,
            file=f"rank{rank}.db",
            rank=rank,
            starts=("TASK", 100, rank, rank, rank),
            groups={GROUP: (0, 1, 2, 3), f"group_name_{rank}": (rank, 9)},
        )
        for rank in range(4)
    ]
    assert found(*ranks) == {}
    assert found(*ranks[:2], ranks[3]) == {"rank0.db": ["XLR925"]}
    assert found(*ranks[1:3]) == {}, "half of a group may have been chosen"
    bare = replace(ranks[2], groups={})
    assert found(*ranks[:2], bare, ranks[3]) == {}, "it is there, and states no groups"


def test_names_of_groups_that_nobody_gives_are_read_in_no_time() -> None:
    """Names stand in the file; an expression that tries all divisions of one takes hours."""
    name = "a%" * 20_000 + "_1" * 10_000 + "x"
    started = time.monotonic()
    assert found(replace(FIRST, groups={name: (0, 1)})) == {}
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        (GROUP, True),
        ("%%x_1_2_3", True),
        ("a%b%c_d_1_2_3_4", True),
        ("%x_1_2_3", False),
        ("a%_1_2_3", False),
        ("a%b_1_2", False),
        ("a%b_1_2_3x", False),
        ("a\n%b_1_2_3", False),
        ("group_name_1", False),
    ],
)
def test_groups_that_have_their_name_from_a_root(name: str, is_one: bool) -> None:
    assert (COMMUNICATOR.fullmatch(name) is not None) == is_one


def test_each_of_many_ranks_is_compared_once() -> None:
    many = [
        replace(SECOND, file=f"rank{rank}.db", rank=rank, starts=("TASK", 100, rank, rank, rank))
        for rank in range(1, 3_000)
    ]
    wrong = replace(many[-1], file="wrong.db", rank=3_000, world=7, starts=("TASK", 99, 0, 0, 0))
    assert found(FIRST, *many, wrong) == {"wrong.db": ["XLR924"]}


def test_what_cannot_be_read_or_stands_twice_is_left_out() -> None:
    assert groups_of("{") == groups_of("[]") == groups_of('{"g": {"global_ranks": ["a"]}}') == {}
    rows = [(NAME, GROUP, 1, "FP32", 5, 6), (NAME, GROUP, 2, "FP32", 7, 8)]
    assert collectives_of(rows) == {}


def groups_that_differ(*groups: str) -> list[str]:
    """Files that call the group of one operator otherwise than the first."""
    operators = [
        RankFacts(f"rank{rank}.db", "CommAnalyzerTime", "group_name", {NAME: (group, 1)})
        for rank, group in enumerate(groups)
    ]
    return sorted(judge_ranks(operators, EVERYTHING))


def test_groups_whose_hashes_end_in_the_same_digits() -> None:
    """``hccl_calculator.cpp`` writes three digits of the hash into names of operators.

    Of 40 groups of a job two share them more often than not.
    """
    assert groups_that_differ("17522688603477080305", "9598337332166983305") == []
    assert groups_that_differ("17522688603477080305", "9598337332166983306") == ["rank1.db"]
    assert groups_that_differ("17522688603477080306", "9598337332166983306") == ["rank1.db"]
    assert groups_that_differ(GROUP, group_hash(GROUP)) == ["rank1.db"], "one group"


def test_a_group_that_one_rank_did_not_record() -> None:
    """``cann_trace_db_dumper.cpp`` knows no group of an operator without its details."""
    assert groups_that_differ("17522688603477080305", "N/A") == []
    assert groups_that_differ("N/A", "17522688603477080305") == []
