"""Which column and which member is which: known answers of db-schema.md 5."""

from __future__ import annotations

import pytest

from ascend_ref.migrate.lineage import same_columns, same_members
from ascend_spec import catalog

OLDEST, JANUARY, PUBLIC = "2024-10-01", "2025-01-09", "2025-12-25"
RENAMED, SIMT = "2026-02-27", "2026-06-05"


def test_a_renamed_column_is_known_both_ways() -> None:
    up = same_columns("COMPUTE_TASK_INFO", PUBLIC, RENAMED)
    assert (up["blockNum"], up["mixBlockNum"]) == ("blockDim", "mixBlockDim")
    down = same_columns("COMPUTE_TASK_INFO", RENAMED, PUBLIC)
    assert (down["blockDim"], down["mixBlockDim"]) == ("blockNum", "mixBlockNum")


def test_a_name_that_came_back_is_another_column() -> None:
    assert "blockDim" not in same_columns("COMPUTE_TASK_INFO", PUBLIC, SIMT)
    assert same_columns("COMPUTE_TASK_INFO", PUBLIC, SIMT)["blockNum"] == "blockDim"
    down = same_columns("COMPUTE_TASK_INFO", SIMT, PUBLIC)
    assert down["blockDim"] == "blockNum"
    assert "gridDim" not in down.values()


def test_a_column_of_another_type_goes_on_under_its_name() -> None:
    assert same_columns("HOST_INFO", OLDEST, SIMT)["hostUid"] == "hostUid"
    assert same_columns("COMMUNICATION_TASK_INFO", OLDEST, SIMT)["opId"] == "opId"


@pytest.mark.parametrize(
    ("enum", "old", "new", "expected"),
    [
        # db-schema.md 5.4: 74 and 75 reassigned to AMP and ADETECT, 76 and 77 added.
        ("ENUM_MODULE", "1.0.0-2024-10", "1.0.0-2025-01", {74: 76, 75: 77, 0: 0}),
        ("ENUM_MODULE", "1.0.0-2025-01", "1.0.0-2024-10", {76: 74, 77: 75, 74: None, 75: None}),
        # fdbf0c24b of 2025-12-26: three renamed, thirteen removed.
        ("ENUM_MODULE", "1.2.0-2025-12", "1.2.0-2026-02", {2: 2, 5: 5, 11: 11, 12: None, 59: None}),
        # 255 RESERVED was 7; link 7 became UB.
        ("ENUM_HCCL_LINK_TYPE", "1.0.0-2025-01", "1.2.0-2026-07", {7: 255, 6: 6}),
        ("ENUM_HCCL_LINK_TYPE", "1.2.0-2026-07", "1.0.0-2025-01", {255: 7, 7: None, 8: None}),
        ("ENUM_API_TYPE", "1.0.0-2025-01", "1.2.0-2026-07", {5500: 5500}),
    ],
)
def test_members_are_known_by_their_names(
    enum: str, old: str, new: str, expected: dict[int, int | None]
) -> None:
    spec = catalog()
    before, after = (spec.at(one, "msprof").enums[enum] for one in (old, new))
    found = same_members(spec.enums[enum], before, after)
    assert {number: found[number] for number in expected} == expected
