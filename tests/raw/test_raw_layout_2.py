"""Records of layout 2.0 of ``info.json``, from bytes by hand (raw-prof 4.8)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from raw_trees import HM_DEV, M0, WALL_US, write_tree

from ascend_ref.raw.decode.read import RawCapture, read_raw

PAIRED = WALL_US * 1000 - M0 + HM_DEV
"""Unix ns at which the clocks of the device were read."""
STEP = 10_000_000
"""ns between samples."""
VERSION = '"version": "1.0"'

HBM = [
    struct.pack("<8xIIQQ", event, 3, count, PAIRED + at * STEP)
    for at, count in ((0, 5), (1, 1_000), (2, 3_000))
    for event in (0, 1)
]
LLC = [
    struct.pack("<4xIIIQ", count, event, 1, PAIRED + at * STEP)
    for at in (0, 1)
    for event, count in ((0x00, 2_000), (0x01, 1_000), (0x02, 75), (0x20, 100))
]
NPU_MEM = [
    struct.pack("<4xIQQQ", owner, 7 + at * 10_000, 10 + owner, 20 + at)
    for at in (0, 1)
    for owner in (0, 1)
]


def read(folder: Path, name: str, content: bytes, version: str) -> RawCapture:
    """The capture of a device whose side files state this version, or what stands for one."""
    tree = write_tree(folder / "PROF_1", {}, {f"{name}.data.0.slice_0": content})
    for path in tree.rglob("info.json*"):
        text = path.read_text()
        assert VERSION in text
        path.write_text(text.replace(VERSION, version))
    (found,) = read_raw(tree)
    return found


def columns(found: RawCapture, table: str) -> dict[str, list[Any]]:
    every = found.capture.texts.all
    return {
        name: [every[one] for one in column] if name in ("type", "mode") else column.tolist()
        for name, column in found.capture.samples[table].items()
    }


def test_memory_in_stacks(tmp_path: Path) -> None:
    """Times are Unix ns; 1,000 pieces of 32 bytes in 10 ms."""
    found = read(tmp_path, "hbm", b"".join(HBM), '"version": "2.0"')
    assert found.damage == []
    assert columns(found, "HBM") == {
        "deviceId": [0] * 6,
        "timestampNs": [PAIRED + at * STEP for at in (0, 0, 1, 1, 2, 2)],
        "bandwidth": [0, 0, 3_200_000, 3_200_000, 9_600_000, 9_600_000],
        "hbmId": [3] * 6,
        "type": ["read", "write"] * 3,
    }


def test_caches(tmp_path: Path) -> None:
    """Times are Unix ns; the amounts are those of the document."""
    found = read(tmp_path, "llc", b"".join(LLC), '"version": "2.0"')
    assert found.damage == []
    assert columns(found, "LLC") == {
        "deviceId": [0, 0],
        "llcId": [1, 1],
        "timestampNs": [PAIRED, PAIRED + STEP],
        "hitRate": [75.0, 75.0],
        "throughput": [0, int(1171.875 * (1 << 20))],
        "mode": ["read", "read"],
    }


def test_memory_of_the_device(tmp_path: Path) -> None:
    """Times are µs since the start of the device as of layout 1.0, in 64 bits."""
    found = read(tmp_path, "npu_mem", b"".join(NPU_MEM), '"version": "2.0"')
    assert found.damage == []
    assert columns(found, "NPU_MEM") == {
        "deviceId": [0] * 4,
        "type": ["app", "app", "device", "device"],
        "ddr": [10, 10, 11, 11],
        "hbm": [20, 21, 20, 21],
        "timestampNs": [PAIRED + 7_000, PAIRED + 7_000 + STEP] * 2,
    }


@pytest.mark.parametrize(("name", "rows"), [("hbm", HBM), ("llc", LLC), ("npu_mem", NPU_MEM)])
@pytest.mark.parametrize("version", ['"version": "3.0"', '"Version": "2.0"'])
def test_records_of_a_layout_that_nobody_knows_are_damage(
    tmp_path: Path, name: str, rows: list[bytes], version: str
) -> None:
    found = read(tmp_path, name, b"".join(rows), version)
    assert name.upper() not in found.capture.samples
    assert any(f"{name}: " in one.message and "version" in one.message for one in found.damage)


@pytest.mark.parametrize("name", ["hbm", "llc"])
@pytest.mark.parametrize("ticks", [1 << 61, (1 << 64) - 1])
def test_times_that_no_clock_shows_are_damage(tmp_path: Path, name: str, ticks: int) -> None:
    rows = [struct.pack("<QQII", time, 5, 0, 1) for time in (0, 10_000, ticks)]
    found = read(tmp_path, name, b"".join(rows), VERSION)
    assert [one.message for one in found.damage] == [
        f"{name}: 1 of 3 samples have times that no clock shows"
    ]
    assert len(columns(found, name.upper())["timestampNs"]) == 2


def test_records_that_cannot_be_are_damage(tmp_path: Path) -> None:
    wrong = struct.pack("<8xIIQQ", 2, 3, 5, PAIRED)
    found = read(tmp_path, "hbm", b"".join([*HBM, wrong]), '"version": "2.0"')
    assert [one.message for one in found.damage] == [
        "hbm: 1 of 7 samples have numbers that they cannot have"
    ]
    assert len(columns(found, "HBM")["type"]) == 6
