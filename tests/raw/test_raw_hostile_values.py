"""Side files with values that no collector writes: each loss is stated, nothing fails or hangs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import raw_trees as by_hand
from framework_bytes import information, operator
from hostile_trees import PROFILE, TREES, copy, files, tree
from hostile_values import variants
from slices import some

from ascend_ref.profile.raw import INCOMPLETE, RawExported, export_raw
from ascend_ref.raw import Unreadable
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.framework.read import read_profile

LONG = "9" * 5000
BILLION = "1e999999999"
"""As a number one of a billion digits."""


def tree_of_one_task(prof: Path) -> Path:
    calls = by_hand.api(15000, 1, 5, by_hand.host_ticks(10), by_hand.host_ticks(20))
    begin, end = by_hand.device_ticks(50), by_hand.device_ticks(60)
    log = by_hand.stars(0, 0, 1, 1, begin) + by_hand.stars(1, 1, 1, 1, end)
    return by_hand.write_tree(
        prof,
        {"unaging.api_event.data.slice_0": calls},
        {"stars_soc.data.0.slice_0": log},
    )


@pytest.mark.parametrize(
    ("name", "changed", "place"),
    [
        ("device_0/info.json.0", {"DeviceInfo": [7]}, "DeviceInfo/0"),
        ("device_0/info.json.0", {"DeviceInfo": ["a"]}, "DeviceInfo/0"),
        ("device_0/info.json.0", {"DeviceInfo": [{"hwts_frequency": BILLION}]}, "hwts_frequency"),
        ("device_0/info.json.0", {"DeviceInfo": [{"hwts_frequency": "-5"}]}, "hwts_frequency"),
        ("host/info.json", {"CPU": [None]}, "CPU/0"),
        ("host/info.json", {"CPU": [{"Frequency": BILLION}]}, "Frequency"),
        ("host/info.json", {"CPU": [{"Frequency": "nan"}]}, "Frequency"),
        ("host/info.json", {"CPU": [{"Frequency": 1e300}]}, "Frequency"),
        ("host/start_info", {"clockMonotonicRaw": LONG}, "clockMonotonicRaw"),
        ("host/start_info", {"clockMonotonicRaw": "\uff11"}, "clockMonotonicRaw"),
    ],
)
def test_a_clock_that_cannot_be_is_stated_and_its_times_are_left_out(
    tmp_path: Path, name: str, changed: Mapping[str, object], place: str
) -> None:
    prof = tree_of_one_task(tmp_path / "PROF_1")
    (whole,) = read_raw(prof)
    assert (len(whole.capture.calls), len(whole.capture.tasks)) == (1, 1)
    document = json.loads((prof / name).read_bytes())
    (prof / name).write_text(json.dumps(document | changed))
    (found,) = read_raw(prof)
    assert any(place in str(one) for one in found.damage)
    lost = found.capture.tasks if name.startswith("device") else found.capture.calls
    assert len(lost) == 0


@pytest.mark.parametrize("version", [LONG, "1e5", "", "-5", "\u0665", None, 5.0, [5]])
def test_a_chip_that_is_no_number_is_stated(tmp_path: Path, version: object) -> None:
    prof = tree_of_one_task(tmp_path / "PROF_1")
    path = prof / "device_0" / "info.json.0"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"platform_version": version}))
    (found,) = read_raw(prof)
    assert any("platform_version" in str(one) and path.name in str(one) for one in found.damage)


@pytest.mark.parametrize("frequency", [BILLION, "nan", -5, [100], None])
def test_a_counter_of_the_framework_that_cannot_be_is_stated(
    tmp_path: Path, frequency: object
) -> None:
    profile = tmp_path / "a_1_20260101170000000_ascend_pt"
    (profile / "FRAMEWORK").mkdir(parents=True)
    (profile / "FRAMEWORK" / "torch.op_range").write_bytes(operator("aten::add", 6_000, 6_100))
    document = information()
    document["start_info"]["freq"] = frequency
    (profile / "profiler_info_0.json").write_text(json.dumps(document))
    found = read_profile(profile)
    assert any("no freq in start_info" in str(one) for one in found.damage)
    assert not np.any(found.capture.activities.start)


def outcome(folder: Path, target: Path, *, everything: bool) -> RawExported | str:
    """What is exported, or why nothing is."""
    try:
        return export_raw(folder, target, None if everything else ("db",), explained=everything)
    except Unreadable as problem:
        return str(problem)


def try_values(tmp_path: Path, name: str, first: int, each: int) -> int:
    """Every so many values of the files of a tree; returns how many were tried."""
    folder = copy(name, tmp_path / "PROF_1")
    target = tmp_path / "out"
    tried = 0
    for path in files(tree(name)):
        place = folder / path.relative_to(tree(name))
        content = path.read_bytes()
        for _, changed in islice(variants(content), (first - tried) % each, None, each):
            place.write_bytes(changed)
            done = outcome(folder, target, everything=tried % 8 == 0)
            if isinstance(done, str):
                assert "\n" not in done
                assert not target.exists()
            else:
                assert (target / INCOMPLETE).exists() == bool(done.damage)
                shutil.rmtree(target)
            tried += 1
        place.write_bytes(content)
    return tried


@pytest.mark.parametrize("name", some(["document", PROFILE], every=2))
def test_values_are_findings(tmp_path: Path, name: str) -> None:
    assert try_values(tmp_path, name, 0, 900)


@pytest.mark.campaign
@pytest.mark.parametrize("name", TREES)
def test_thousands_of_values_are_findings(tmp_path: Path, name: str) -> None:
    assert try_values(tmp_path, name, 0, 1)
