"""Profiles on disk: the folders that readers expect, complete or absent."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encode_captures import EVERYTHING, capture
from encode_profiles import NEWEST, REVISIONS

from ascend_ref import names, write_msprof_profile, write_pytorch_profile
from ascend_ref.atomic import staged
from ascend_ref.capture import DeviceFacts, Steps
from ascend_ref.profile.information import Schedule

RANK_FOLDER = r"node-1_4242_\d{17}_ascend_pt"
PROF_FOLDER = r"PROF_\d{6}_\d{17}_[A-Z]{16}"


def files(folder: Path) -> list[str]:
    found = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [re.sub("PROF_[^/]*", "PROF", path.as_posix()) for path in found]


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_a_rank_of_the_framework_has_its_files(tmp_path: Path) -> None:
    folder = write_pytorch_profile(tmp_path, capture(rank=1), NEWEST)
    assert re.fullmatch(RANK_FOLDER, folder.name)
    assert files(folder) == [
        "ASCEND_PROFILER_OUTPUT/analysis.db",
        "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db",
        "PROF/device_0/info.json.0",
        "PROF/host/info.json",
        "profiler_info_1.json",
        "profiler_metadata.json",
    ]
    (prof,) = folder.glob("PROF_*")
    assert re.fullmatch(PROF_FOLDER, prof.name)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_without_the_device_there_is_neither_prof_nor_analysis(tmp_path: Path) -> None:
    shown = capture(switches=replace(EVERYTHING, npu=False))
    assert files(write_pytorch_profile(tmp_path, shown, NEWEST)) == [
        "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db",
        "profiler_info_0.json",
        "profiler_metadata.json",
    ]


def test_a_program_that_said_nothing_leaves_no_metadata(tmp_path: Path) -> None:
    shown = capture()
    silent = replace(
        shown,
        origin=replace(shown.origin, metadata={}),
        groups=shown.groups.empty(),
        collectives=shown.collectives.empty(),
        transfers=shown.transfers.empty(),
    )
    folder = write_pytorch_profile(tmp_path, silent, NEWEST)
    assert not (folder / "profiler_metadata.json").exists()


def test_metadata_are_those_of_the_database(tmp_path: Path) -> None:
    folder = write_pytorch_profile(tmp_path, capture(ranks=3), NEWEST)
    facts = document(folder / "profiler_metadata.json")
    assert facts["distributed_args"] == {"world_size": 3, "rank": 0}
    assert {group["group_name"] for group in facts["parallel_group_info"].values()} == {
        "default_group", "pp",
    }  # fmt: skip


@pytest.mark.parametrize("revision", REVISIONS)
def test_profiler_info_tells_the_switches_and_the_clocks(tmp_path: Path, revision: str) -> None:
    shown = capture(switches=replace(EVERYTHING, level=1, stack=False))
    info = document(write_pytorch_profile(tmp_path, shown, revision) / "profiler_info_0.json")
    common = info["config"]["common_config"]
    options = info["config"]["experimental_config"]
    assert common["activities"] == ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]
    assert (common["with_stack"], common["profile_memory"]) == (False, True)
    assert common["schedule"] == {
        "wait": 0, "active": 2, "warmup": 0, "repeat": 1, "skip_first": 7,
    }  # fmt: skip
    assert options["_profiler_level"] == "Level1"
    assert options["_aic_metrics"] == "ACL_AICORE_PIPE_UTILIZATION"
    assert options.get("_mstx", options["_msprof_tx"]) is True
    assert ("_host_sys" in options) is (revision >= "1.0.2")
    length = info["end_info"]["MonotonicTimeEnd"] - info["start_info"]["start_monotonic"]
    assert info["end_info"]["collectionTimeEnd"] == shown.origin.start + length
    assert info["rank_id"] == 0


def test_after_an_abnormal_end_no_end_is_told(tmp_path: Path) -> None:
    folder = write_pytorch_profile(tmp_path, capture(abnormal=True), NEWEST)
    assert "end_info" not in document(folder / "profiler_info_0.json")


@pytest.mark.parametrize(
    ("numbers", "schedule"),
    [
        ([], (0, 0, 0, 0, 0)),
        ([3, 4, 5], (0, 3, 0, 1, 3)),
        ([3, 4, 7, 8, 11, 12], (2, 2, 0, 3, 1)),
    ],
)
def test_a_schedule_follows_from_the_steps(numbers: list[int], schedule: tuple[int, ...]) -> None:
    column = np.array(numbers, np.int64)
    assert tuple(Schedule.of(Steps(column, column, column))) == schedule


def test_the_machine_is_told_as_readers_look_for_it(tmp_path: Path) -> None:
    shown = capture()
    facts = DeviceFacts(cube_cores=24, vector_cores=48, ai_cpu_cores=6, frequency=1_800)
    known = replace(shown, origin=replace(shown.origin, facts=facts))
    (prof,) = write_pytorch_profile(tmp_path, known, NEWEST).glob("PROF_*")
    device, host = document(prof / "device_0/info.json.0"), document(prof / "host/info.json")
    (card,) = device["DeviceInfo"]
    assert (card["ai_core_num"], card["aiv_num"], card["aic_frequency"]) == (24, 48, "1800")
    assert (device["devices"], host["devices"], host["DeviceInfo"]) == ("0", "64", [])
    for found in (device, host):
        assert found["pid"] == "4242"
        assert found["hostUid"] == str(shown.origin.host_uid)
        assert found["platform_version"] == "5"


def test_several_devices_of_one_process_share_a_folder(tmp_path: Path) -> None:
    shown = [capture(seed, device=seed, rank=seed) for seed in (0, 1)]
    folder = write_msprof_profile(tmp_path, shown, NEWEST)
    assert re.fullmatch(PROF_FOLDER, folder.name)
    assert files(folder) == [
        "device_0/info.json.0",
        "device_1/info.json.1",
        "host/info.json",
        "msprof_20260101170000.db",
    ]
    assert document(folder / "device_1/info.json.1")["rank_id"] == 1


def test_a_profile_that_exists_stays_as_it_is(tmp_path: Path) -> None:
    for write in (
        lambda: write_pytorch_profile(tmp_path, capture(), NEWEST),
        lambda: write_msprof_profile(tmp_path, [capture()], NEWEST),
    ):
        folder = write()
        before = [(path, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))]
        with pytest.raises(FileExistsError):
            write()
        assert before == [(path, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    shown = capture()
    broken = replace(shown, samples={"HBM": {"bandwidth": np.array([np.nan])}})
    with pytest.raises(ValueError, match="HBM"):
        write_pytorch_profile(tmp_path, broken, NEWEST)
    with pytest.raises(KeyError):
        write_pytorch_profile(tmp_path, shown, "3.0.0")
    unknown = replace(shown, origin=replace(shown.origin, chip="Ascend1"))
    with pytest.raises(ValueError, match="Ascend1"):
        write_pytorch_profile(tmp_path, unknown, NEWEST)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with staged(tmp_path / "one") as draft:
            (draft / "half").write_text("")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_folders_carry_the_wall_clock_of_the_host() -> None:
    assert names.stamp(1_767_258_000_123_456_789) == "20260101170000123"


def test_letters_differ_from_process_to_process() -> None:
    found = {names.letters_of(number) for number in range(1_000)}
    assert len(found) == 1_000
    assert all(re.fullmatch("[A-Z]{16}", letters) for letters in found)
