"""Known changes of CSV files, timelines, operator files, the API and MindSpore's files."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import pytest

from ascend_conformance.schema import changes_between, find_state

Named = AbstractSet[tuple[str, str, str, str]]


def named(old: str, new: str) -> Named:
    changes = changes_between(find_state(old), find_state(new))
    return {(one.rule, one.address, one.before, one.after) for one in changes}


RENAMED_BLOCKS = "CHG224", "header/op_summary/Block Num", "Block Dim", "Block Num"
HCCL = "CHG313", "layer/Communication", "HCCL", "Communication"


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        # text-outputs: Block Dim until 2026-01-28, HCCL in files of January 2025
        ("cpp-2025", "cpp", RENAMED_BLOCKS),
        ("python-2025", "python", RENAMED_BLOCKS),
        ("adapter-2025-01", "adapter", HCCL),
        ("adapter-2025-01", "adapter-2025-12", ("CHG222", "header/kernel_details/Device_id")),
        # bin-blocks 8.1: heat map and tables come with E1, cache lines and frequencies with E3
        ("E0", "E1", ("CHG501", "block/0x08")),
        ("E2", "E3", ("CHG501", "block/0x0E")),
        ("E2", "E3", ("CHG401", "key/0x05/cur_freq")),
        ("seed", "upstream", ("CHG601", "event/parse/progress")),
        # mindspore-profiler: records in place of text for the framework and the AI CPUs
        ("G2", "G3", ("CHG521", "mindspore/aicpu")),
        ("G1", "G2", ("CHG543", "mindspore/hwts")),
    ],
)
def test_a_known_change_is_named(old: str, new: str, change: tuple[str, ...]) -> None:
    assert change in {one[: len(change)] for one in named(old, new)}


def test_three_days_of_june_are_seen_on_their_days_alone() -> None:
    """Commits 6ffd75932 (2026-06-22) and 78764b0bb (2026-06-25) of msprof."""
    place = "CHG347", "argument/Communication/task/size(Byte)"
    (came,) = named("cpp@2026-06-21", "cpp@2026-06-22")
    (went,) = named("cpp@2026-06-24", "cpp@2026-06-25")
    assert came[:2] == went[:2] == place
    assert came[3] == went[2] == "A text, Invalid from 4294967295 on."
    assert named("cpp@2026-06-21", "cpp@2026-06-25") == set()
    assert named("cpp@2026-06-21", "cpp") == set()


def test_states_of_two_axes_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="expected two states of one axis"):
        changes_between(find_state("cpp"), find_state("E2"))


def test_a_state_has_an_address() -> None:
    assert find_state("epoch/E2").at == find_state("e2").at == "E2"
    with pytest.raises(ValueError, match="unknown state 'writer/E2'"):
        find_state("writer/E2")
