"""``diff`` of block files, raw files and files of MindSpore: one finding for each change."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import pytest
from recordings import write_profile

from ascend_conformance.difference.diff import diff
from ascend_conformance.difference.json_values import unlike_values
from ascend_conformance.difference.records import Pair, Record, differences
from ascend_conformance.finding import Report
from ascend_spec.raw.records import API_EVENT


def found(report: Report) -> list[tuple[str, str, int]]:
    assert not any(file.unreadable for file in report.files)
    return [(one.name, one.place, one.count) for one in report.findings]


# --- records --------------------------------------------------------------------------------------


def of_records(left: list[Record], right: list[Record]) -> list[tuple[str, str | None, int]]:
    pair = Pair("file", lambda: iter(left), lambda: iter(right))
    return [(one.what, one.column, one.count) for one in differences(pair, ("A", "B"), 5)]


RECORDS: list[Record] = [
    {"name": f"call {number % 3}", "start": 1000 * number, "length": 2.5, "further": [number]}
    for number in range(30)
]


def test_the_order_of_records_and_their_places_mean_nothing() -> None:
    placed = [{**one, "line": 40 - number} for number, one in enumerate(RECORDS)]
    assert of_records(RECORDS, placed[::-1]) == []


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("length", 3.75, [("value", "length", 1)]),
        ("start", 7001, [("value", "start", 1)]),
        ("further", [8], [("value", "further", 1)]),
        ("name", "other", [("absent row", None, 1), ("added row", None, 1)]),
    ],
)
def test_a_value_of_one_record(
    column: str, value: object, expected: list[tuple[str, str | None, int]]
) -> None:
    other = [dict(one) for one in RECORDS]
    other[7][column] = value
    assert of_records(RECORDS, other) == expected


def test_records_lost_and_doubled_are_counted() -> None:
    assert of_records(RECORDS, RECORDS[:25]) == [("absent row", None, 5)]
    assert of_records(RECORDS, [*RECORDS, *RECORDS[:2]]) == [("added row", None, 2)]


def test_numbers_beyond_64_bits_are_compared() -> None:
    assert of_records([{"a": 1 << 70}], [{"a": (1 << 70) + 1}]) == [("value", "a", 1)]


# --- JSON -----------------------------------------------------------------------------------------


def test_values_of_json_are_compared_by_meaning() -> None:
    left = {"a": 1, "b": [{"c": 1.0}, {"c": 2}], "n": float("nan")}
    right = {"n": float("nan"), "b": [{"c": 1}, {"c": 2.0}], "a": 1}
    assert list(unlike_values(left, right)) == []
    right["b"] = [{"c": 5}, {"c": 6}]
    (one,) = unlike_values(left, right)
    assert (one.kind, one.pointer, one.left, one.right, one.count) == (
        "/b/*/c",
        "/b/0/c",
        "1.0",
        "5",
        2,
    )
    assert [one.kind for one in unlike_values({"a": True}, {"a": 1})] == ["/a"]


# --- raw files ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_profile(tmp_path_factory.mktemp("raw"), ["pytorch-raw"])


def test_raw_files_are_compared_record_by_record(raw: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(raw, tmp_path / "other" / raw.name))
    assert found(diff(raw, copy)) == []
    (events,) = copy.rglob("unaging.api_event.data.slice_0")
    content = bytearray(events.read_bytes())
    content[-8] ^= 1  # of the last record, in its last field
    size = API_EVENT.sizeof()
    events.write_bytes(bytes(content[size : 2 * size] + content[:size] + content[2 * size :]))
    (nic,) = copy.rglob("nic.data.*.slice_0")
    lines = nic.read_bytes().splitlines(keepends=True)
    nic.write_bytes(b"".join(lines[:2] + lines[3:]))
    (sample,) = copy.glob("PROF_*/host/sample.json")
    asked = json.loads(sample.read_text(encoding="utf-8"))
    sample.write_text(json.dumps({**asked, "devices": "7"}), encoding="utf-8")
    next(copy.rglob("hbm.data.*")).unlink()
    report = diff(raw, copy)
    by_file = {
        one.table.rpartition("/")[2]: (one.name, one.count) for one in report.findings if one.table
    }
    assert by_file.pop("unaging.api_event.data") == ("value-differs", 1)
    assert by_file.pop("nic.data.0") == ("row-only-in-a", 1)
    assert by_file.pop("hbm.data.0") == ("file-only-in-a", 1)
    assert by_file == {"sample.json": ("value-differs", 1)}


def test_a_raw_file_that_is_cut_is_one_finding(raw: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(raw, tmp_path / "other" / raw.name))
    (info,) = copy.glob("PROF_*/host/info.json")
    info.write_bytes(info.read_bytes()[:50])
    assert [(name, count) for name, _, count in found(diff(raw, copy))] == [
        ("values-not-readable", 1)
    ]


def test_devices_of_other_numbers_belong_together(raw: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(raw, tmp_path / "other" / raw.name))
    (device,) = copy.glob("PROF_*/device_0")
    for path in sorted(device.rglob("*.0*"), reverse=True):
        path.rename(path.with_name(path.name.replace(".0", ".3", 1)))
    device.rename(device.with_name("device_3"))
    assert not [one for one in diff(raw, copy).findings if one.name.startswith("file-only")]


# --- block files ----------------------------------------------------------------------------------


def block(kind: int, payload: object) -> bytes:
    text = json.dumps(payload).encode()
    padding = -len(text) % 4
    return (
        struct.pack("<QBBBB", len(text) + padding, kind, padding, 0x5A, 0x5A)
        + text
        + bytes(padding)
    )


def blocks(folder: Path, *some: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "visualize_data.bin"
    path.write_bytes(b"".join(some))
    return path


LOADS = [block(0x06, {"block_id": number, "load": [1.5, number]}) for number in range(3)]


def test_blocks_are_compared_by_what_they_hold(tmp_path: Path) -> None:
    basic = block(0x05, {"name": "op", "duration": 300.0})
    first = blocks(tmp_path / "a", basic, *LOADS)
    same = block(0x05, {"duration": 300, "name": "op"})
    assert found(diff(first, blocks(tmp_path / "b", *LOADS[::-1], same))) == []
    changed = block(0x06, {"block_id": 1, "load": [1.5, 8]})
    report = diff(first, blocks(tmp_path / "b", basic, LOADS[0], changed, LOADS[2]))
    assert found(report) == [("value-differs", "0x06 compute load figure: /payload/load/*", 1)]
    assert "1 of A, 8 of B at /payload/load/1" in report.findings[0].message
    fewer = diff(first, blocks(tmp_path / "b", basic, LOADS[0], LOADS[0]))
    assert ("row-only-in-a", "0x06 compute load figure", 1) in found(fewer)
    assert len(fewer.findings) > 1


def test_a_block_file_that_is_cut_is_stated_and_its_blocks_are_compared(tmp_path: Path) -> None:
    first = blocks(tmp_path / "a", *LOADS)
    cut = blocks(tmp_path / "b", *LOADS[:2], LOADS[2][:-9])
    names = [one.name for one in diff(first, cut).findings]
    assert "values-not-readable" in names


# --- MindSpore ------------------------------------------------------------------------------------


def test_files_of_mindspore(tmp_path: Path) -> None:
    first = write_profile(tmp_path, ["mindspore-raw"], "JOB*")
    copy = Path(shutil.copytree(first, tmp_path / "other" / first.name))
    assert found(diff(first, copy)) == []
    (queue,) = copy.rglob("device_queue_profiling_0.txt")
    lines = queue.read_bytes().splitlines(keepends=True)
    queue.write_bytes(b"".join(lines[:-1]))
    ((name, place, count),) = found(diff(first, copy))
    assert (name, count) == ("row-only-in-a", 1)
    assert place.endswith("device_queue_profiling_0.txt")
