"""The spec against the public history of Ascend/msprof: each commit that changed the databases.

What each changed is transcribed from the time line of docs/evidence/db-schema.md, 5.3.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from datetime import date, timedelta
from pathlib import Path

import pytest

from ascend_conformance.refresh.comparing import changes_of
from ascend_conformance.refresh.sources import read_checkout
from ascend_conformance.schema import find_state

HISTORY = os.environ.get("ASCEND_REF_MSPROF_HISTORY")

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        not HISTORY, reason="ASCEND_REF_MSPROF_HISTORY names no git repository of Ascend/msprof"
    ),
]

COMMITS = {
    "14417d429": (
        "2026-01-28",
        {
            "column/COMPUTE_TASK_INFO.blockNum renamed from blockDim",
            "column/COMPUTE_TASK_INFO.mixBlockNum renamed from mixBlockDim",
        },
    ),
    "e839f1523": (
        "2026-03-30",
        {
            *(f"member/ENUM_HCCL_DATA_TYPE/{number}" for number in (14, 15, 16, 17)),
            "member/ENUM_HCCL_TRANSPORT_TYPE/3",
        },
    ),
    "aadad352f": ("2026-05-08", {"member/ENUM_HCCL_TRANSPORT_TYPE/4"}),
    "c57d78cc8": (
        "2026-05-13",
        {"member/ENUM_HCCL_LINK_TYPE/7", "member/ENUM_HCCL_LINK_TYPE/8"},
    ),
    "238181a87": ("2026-05-19", {"column/COMMUNICATION_OP.rankSize"}),
    "f2f7aa782": ("2026-05-30", {"table/CCU"}),
    "b43b6eca4": (
        "2026-06-01",
        {"column/COMPUTE_TASK_INFO.gridDim", "column/COMPUTE_TASK_INFO.blockDim"},
    ),
    "bd0faab6c": (
        "2026-06-03",
        {"table/DPU_TASK", "table/SIO", "table/UB", "column/AICORE_FREQ.dieId"},
    ),
    "1fb466431": ("2026-06-15", {"table/OVERLAP_ANALYSIS"}),
    "87c97d0c4": ("2026-06-17", {"enum/ENUM_OVERLAY_ANALYSIS_TYPE"}),
    "4673ce4e6": ("2026-07-03", {"column/QOS.dieId"}),
    "e8dd26180": (
        "2026-07-16",
        {"enum/ENUM_OVERLAP_ANALYSIS_TYPE renamed from ENUM_OVERLAY_ANALYSIS_TYPE"},
    ),
}
RENAMED = {"renamed", "relabelled"}
QUIET = {"657584729": "2025-12-25", "7cfa9f522": "2026-02-09", "ec13e3d11": "2026-05-06"}
"""Commits whose databases are those of the spec on their day."""


def changes_at(commit: str, day: str, folder: Path) -> set[str]:
    """What of the spec on a day is otherwise in the sources of a commit."""
    assert HISTORY is not None
    command = ["git", "-C", HISTORY, "archive", commit, "analysis/csrc"]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(folder, filter="data")
    changes = changes_of(read_checkout(folder), find_state(day))
    return {
        f"{one.address} renamed from {one.before}" if RENAMED & {*one.named.event} else one.address
        for one in changes
    }


@pytest.mark.parametrize("commit", COMMITS)
def test_a_commit_is_reported_on_the_day_before_it(commit: str, tmp_path: Path) -> None:
    day, expected = COMMITS[commit]
    before = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    assert changes_at(commit, before, tmp_path) == expected


@pytest.mark.parametrize("commit", [*COMMITS, *QUIET])
def test_the_spec_of_its_day_is_what_a_commit_states(commit: str, tmp_path: Path) -> None:
    day = QUIET[commit] if commit in QUIET else COMMITS[commit][0]
    assert changes_at(commit, day, tmp_path) == set()


def test_the_modules_were_rewritten_on_one_day(tmp_path: Path) -> None:
    """ENUM_MODULE of 2025-12-26: 13 ids go, 3 have other names."""
    found = changes_at("fdbf0c24b", "2025-12-25", tmp_path)
    assert {one.rpartition("/")[0] for one in found} == {"member/ENUM_MODULE"}
    renamed = {one for one in found if " renamed from " in one}
    assert renamed == {
        "member/ENUM_MODULE/2 renamed from IDEDH",
        "member/ENUM_MODULE/5 renamed from HIAIENGINE",
        "member/ENUM_MODULE/11 renamed from MDCFUSION",
    }
    assert len(found - renamed) == 13
