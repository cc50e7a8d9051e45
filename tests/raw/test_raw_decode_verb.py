"""``ascend-ref decode`` of raw files, as users call it."""

from __future__ import annotations

import io
import json
import random
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from raw_trees import (
    CONV,
    WALL_US,
    api,
    device_ticks,
    host_ticks,
    stars,
    task_track,
    write_tree,
)

from ascend_ref.cli import main
from ascend_ref.raw.damage import Unreadable
from ascend_ref.raw.show import show_raw

THREAD = 4243


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """One operator: a launch with its task, and the log of the device in two slices."""
    calls = api(20000, 0x50001, THREAD, host_ticks(10_000), host_ticks(10_060)) + api(
        10000, 5, THREAD, host_ticks(10_005), host_ticks(10_055), CONV
    )
    log = [
        stars(at % 2, at, 2, at // 2, device_ticks(10_070.1 + at), sqe=at // 2 % 2)
        for at in range(6)
    ]
    return write_tree(
        tmp_path / "PROF_000001_20260202024000000_ABCDEFGHIJKLMNOP",
        {
            "unaging.api_event.data.slice_0": calls,
            "aging.compact.task_track.slice_0": task_track(
                THREAD, host_ticks(10_030), 2, 0, 0, CONV
            ),
            "unaging.additional.hash_dic.slice_0": f"{CONV}:Conv2D\n12:a:b\n".encode(),
            "unaging.additional.type_info_dic.slice_0": b"10000_5:launch\n20000_327681:aclnn\n",
            "notes.txt": b"mine",
        },
        {
            "stars_soc.data.0.slice_0": b"".join(log[:4]),
            "stars_soc.data.0.slice_10": log[5],
            "stars_soc.data.0.slice_2": log[4],
        },
    )


def shown(
    path: Path, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0
) -> tuple[Any, list[str]]:
    """What decode writes, and its lines on stderr."""
    assert main(["decode", str(path), *words]) == code
    out, err = capsys.readouterr()
    return json.loads(out), err.splitlines()


def test_calls_have_names_and_unix_times(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, problems = shown(profile / "host/data/unaging.api_event.data.slice_0", capsys)
    assert problems == []
    assert (document["kind"], document["number"]) == ("raw/api_event", 2)
    launch = document["records"][1]
    start = WALL_US * 1000 + 10_005_000
    assert {key: launch[key] for key in launch if key.endswith(("_text", "_ns"))} == {
        "level_text": "node",
        "type_text": "launch",
        "beginTime_ns": start,
        "endTime_ns": start + 50_000,
        "itemId_text": "Conv2D",
    }


def test_tasks_of_the_device_have_the_time_of_its_counter(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, _ = shown(profile / "device_0/data/stars_soc.data.0.slice_0", capsys, "--rows", "1")
    assert (len(document["records"]), document["number"]) == (1, 4)
    (first,) = document["records"]
    assert first["record"] == "STARS_LOG"
    assert first["funcType_text"] == "start"
    assert first["timestamp_ns"] == WALL_US * 1000 + 10_070_100


def test_the_extension_of_a_task_and_its_kernel(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, _ = shown(profile / "host/data/aging.compact.task_track.slice_0", capsys)
    (task,) = document["records"]
    assert (task["taskType_text"], task["kernelName_text"]) == ("KERNEL_AICORE", "Conv2D")
    assert task["extInfo"]["kernelInfo"]["numBlocks"] == 0


def test_a_folder_lists_what_it_has(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, problems = shown(profile, capsys)
    host, device = document
    assert (host["side"], host["chip"], host["unknown"]) == ("host", 5, ["notes.txt"])
    assert (device["folder"], device["device"]) == ("device_0", 0)
    (log,) = (one for one in device["files"] if one["kind"] == "raw/stars_soc")
    assert log == {"kind": "raw/stars_soc", "slices": 3, "bytes": 384, "records": 6}
    assert problems == []


def test_texts_and_side_files_are_shown_as_well(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dictionary, _ = shown(profile / "host/data/unaging.additional.hash_dic.slice_0", capsys)
    assert dictionary["lines"][1] == {"line": "entry", "hash": "12", "text": "a:b"}
    info, _ = shown(profile / "host/info.json", capsys)
    assert info["content"][0]["platform_version"] == "5"


def test_without_its_clock_a_device_has_no_times_and_says_why(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (profile / "device_0/dev_start.log.0").unlink()
    path = profile / "device_0/data/stars_soc.data.0.slice_0"
    document, problems = shown(path, capsys, code=1)
    assert "timestamp_ns" not in document["records"][0]
    assert problems == [
        f"{profile}/device_0: dev_start.log.0 is missing",
        f"{profile}/device_0: dev_start.log of device_0 is missing, so some times are not known",
    ]


@pytest.mark.parametrize("number", [2**62, 2**63, 2**64, 10**19])
def test_a_number_that_no_clock_shows_is_stated(
    number: int, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = profile / "device_0/dev_start.log.0"
    log.write_text(f"clock_monotonic_raw:1\ncntvct:{number}\n", encoding="utf-8")
    document, problems = shown(profile / "device_0/data/stars_soc.data.0.slice_0", capsys, code=1)
    assert "timestamp_ns" not in document["records"][0]
    assert problems == [
        f"{profile}/device_0: cntvct in dev_start.log of device_0 is {number}, which no clock "
        "shows, so some times are not known"
    ]


def test_a_lone_file_is_read_without_names_and_times(
    profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Records of 64 and of 32 bytes are possible without a chip; the bytes decide."""
    alone = tmp_path / "alone" / "stars_soc.data.0.slice_0"
    alone.parent.mkdir()
    alone.write_bytes((profile / "device_0/data/stars_soc.data.0.slice_0").read_bytes())
    document, problems = shown(alone, capsys)
    assert problems == []
    assert [one["taskId"] for one in document["records"]] == [0, 0, 1, 1]


def test_what_is_damaged_is_stated_by_byte(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = profile / "device_0/data/stars_soc.data.0.slice_0"
    content = path.read_bytes()
    strange = struct.pack("<H", 60) + content[130:192]
    path.write_bytes(content[:128] + strange + content[192:-3])
    document, problems = shown(path, capsys, code=1)
    assert document["number"] == 2
    assert problems == [
        f"{path}: byte 0: 1 records of an unknown kind (funcType 60)",
        f"{path}: byte 192: the last 61 bytes are no whole record of 64",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.bin", "No such file or directory"),
        ("empty", "no raw data; expected host, device_* or FRAMEWORK in it or below"),
    ],
)
def test_wrong_paths_get_one_line(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["decode", str(tmp_path / name)]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"ascend-ref: error: {tmp_path / name}: {message}\n")


@pytest.mark.parametrize("words", [["--block", "0x08"], ["-o", "x"]])
def test_options_of_operator_files_are_refused(
    words: list[str], profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", str(profile), *words]) == 2
    expected = f"{words[0]} is for a visualize_data.bin, this is raw data"
    assert expected in capsys.readouterr().err


def test_links_are_not_followed(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (profile / "host" / "device_1").symlink_to(profile)
    (profile / "device_2").symlink_to(profile)
    (profile / "device_0" / "data" / "hwts.data.0.slice_0").symlink_to("/etc/hostname")
    document, _ = shown(profile, capsys)
    assert [one["folder"] for one in document] == ["host", "device_0"]
    assert all(one["kind"] != "raw/hwts" for one in document[1]["files"])


@pytest.mark.parametrize(
    "name",
    [
        "host/data/unaging.api_event.data.slice_0",
        "host/data/unaging.additional.hash_dic.slice_0",
        "device_0/data/stars_soc.data.0.slice_0",
        "device_0/info.json.0",
        "device_0/dev_start.log.0",
        "host/host_start.log",
    ],
)
def test_any_bytes_end_in_json_and_statements(
    name: str, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _mutate(profile, name, 40, capsys)


@pytest.mark.campaign
def test_any_bytes_end_in_json_and_statements_again_and_again(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [one for one in profile.rglob("*") if one.is_file()]
    for path in files:
        _mutate(profile, str(path.relative_to(profile)), 10_000 // len(files), capsys)


def _mutate(profile: Path, name: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    random_numbers = random.Random(name)
    path = profile / name
    content = path.read_bytes()
    log = profile / "device_0/data/stars_soc.data.0.slice_0"
    for _ in range(number):
        mutated = bytearray(content)
        for _ in range(random_numbers.randint(1, 4)):
            at = random_numbers.randrange(len(mutated) + 1)
            action = random_numbers.randrange(3)
            if action == 0:
                mutated[at : at + 1] = bytes([random_numbers.randrange(256)])
            elif action == 1:
                del mutated[at : at + random_numbers.randint(1, 70)]
            else:
                mutated[at:at] = random_numbers.randbytes(random_numbers.randint(1, 70))
        path.write_bytes(mutated)
        for one in (path, log):
            target = io.StringIO()
            with suppress(Unreadable):
                show_raw(one, None, target)
                json.loads(target.getvalue())
    path.write_bytes(content)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"devices":NaN}', "NaN is no number of JSON"),
        (rb'{"devices":"\ud800"}', "surrogates not allowed"),
    ],
)
def test_a_side_file_that_no_json_can_show_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, reason: str
) -> None:
    path = tmp_path / "device_0" / "info.json.0"
    path.parent.mkdir()
    path.write_bytes(content)
    assert main(["decode", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert reason in err
    assert err.count("\n") == 1


def test_the_real_log_of_a_910a(capsys: pytest.CaptureFixture[str]) -> None:
    real = Path(__file__).resolve().parents[3] / "shared/data/mindspore/mindinsight/JOB3"
    path = real / "hwts.log.data.45.dev.profiler_default_tag.1.slice_0"
    if not path.is_file():
        pytest.skip(f"no real data: {path} is absent")
    document, problems = shown(path, capsys, "--rows", "2")
    assert (document["kind"], document["number"], problems) == ("raw/hwts", 62_847, [])
    assert [one["sysTag"] for one in document["records"]] == [0, 1]
    assert {one["streamId"] for one in document["records"]} == {513}
