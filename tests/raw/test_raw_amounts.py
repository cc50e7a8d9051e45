"""Samples of amounts, from bytes and with values by hand (raw-prof 4.8, 4.9)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_trees import DC, DM, HM_DEV, M0, WALL_US, write_tree

from ascend_ref.raw.decode.read import RawCapture, read_raw

BASE = WALL_US * 1000 - M0
"""Unix ns at which the host's monotonic clock was 0."""
PAIRED = BASE + HM_DEV
"""Unix ns at which the clocks of the device were read."""
SECOND = 1_000_000_000
STEP = 10_000_000
"""ns between samples."""


def read(folder: Path, name: str, content: bytes | str, chip: int = 5) -> RawCapture:
    data = content.encode() if isinstance(content, str) else content
    tree = write_tree(folder / "PROF_1", {}, {f"{name}.data.0.slice_0": data})
    for path in tree.rglob("info.json*"):
        text = path.read_text()
        path.write_text(text.replace('"platform_version": "5"', f'"platform_version": "{chip}"'))
    (found,) = read_raw(tree)
    return found


def columns(found: RawCapture, table: str) -> dict[str, list[Any]]:
    return {name: column.tolist() for name, column in found.capture.samples[table].items()}


def test_links(tmp_path: Path) -> None:
    lines = [f"{DM + at * STEP}: {at * 1000} {at * at * 500}" for at in range(4)]
    found = read(tmp_path, "hccs", "\n".join(["time tx rx", *lines]) + "\n")
    assert found.damage == []
    assert columns(found, "HCCS") == {
        "deviceId": [0, 0, 0],
        "timestampNs": [PAIRED + at * STEP for at in (1, 2, 3)],
        "txThroughput": [100_000] * 3,
        "rxThroughput": [50_000, 150_000, 250_000],
    }


def test_whatever_the_first_line_of_links_is_it_is_passed_over(tmp_path: Path) -> None:
    lines = [f"{DM + at * STEP}: {at} {at}" for at in range(3)]
    assert len(columns(read(tmp_path, "hccs", "\n".join(lines)), "HCCS")["deviceId"]) == 1


def test_a_total_of_links_that_shrinks_gives_no_row(tmp_path: Path) -> None:
    totals = [(10, 10), (20, 20), (5, 30), (6, 31)]
    lines = [f"{DM + at * STEP}: {sent} {got}" for at, (sent, got) in enumerate(totals)]
    found = columns(read(tmp_path, "hccs", "\n".join(["x", *lines])), "HCCS")
    assert found["timestampNs"] == [PAIRED + STEP, PAIRED + 3 * STEP]


def test_network(tmp_path: Path) -> None:
    first = range(15)
    second = [one * 3 for one in first]
    lines = [
        " ".join(map(str, (M0 + at * STEP, *counters)))
        for at, counters in enumerate((first, second))
    ]
    found = columns(read(tmp_path, "netdev_stats", "\n".join(lines)), "NETDEV_STATS")
    grown = {name: value[0] for name, value in found.items()}
    assert grown == {
        "deviceId": 0,
        "timestampNs": WALL_US * 1000 + STEP,
        "macTxPfcPkt": 0,
        "macRxPfcPkt": 2,
        "macTxByte": 4,
        "macRxByte": 6,
        "macTxBadByte": 8,
        "macRxBadByte": 10,
        "roceTxPkt": 12,
        "roceRxPkt": 14,
        "roceTxErrPkt": 16,
        "roceRxErrPkt": 18,
        "roceTxCnpPkt": 20,
        "roceRxCnpPkt": 22,
        "roceNewPktRty": 24,
        "nicTxByte": 26,
        "nicRxByte": 28,
        "macTxBandwidth": 400,
        "macRxBandwidth": 600,
        "nicTxBandwidth": 2600,
        "nicRxBandwidth": 2800,
    }


def llc(samples: Mapping[int, Mapping[int, int]]) -> bytes:
    """Records of cache 1: counts by event, by µs."""
    return b"".join(
        struct.pack("<QQII", time, count, event, 1)
        for time, counts in samples.items()
        for event, count in counts.items()
    )


def test_caches(tmp_path: Path) -> None:
    """3,000 events in 10 ms are the 1171.875 MB/s of the document."""
    events = {
        0x00: 2_000,
        0x01: 1_000,
        0x02: 50,
        0x13: 20,
        0x20: 100,
        0x22: 20,
        0x34: 100,
        0x36: 60,
    }
    found = read(tmp_path, "llc", llc({0: events, 10_000: events}))
    assert found.damage == []
    shown = columns(found, "LLC")
    mode = shown.pop("mode")
    assert [found.capture.texts.all[one] for one in mode] == ["read", "read"]
    assert shown == {
        "deviceId": [0, 0],
        "llcId": [1, 1],
        "timestampNs": [PAIRED, PAIRED + STEP],
        "hitRate": [75.0, 75.0],
        "throughput": [0, int(1171.875 * (1 << 20))],
    }


def test_no_cache_passes_less_than_nothing(tmp_path: Path) -> None:
    """2 ** 51 events of 4096 bytes are more bytes than 64 bits have."""
    found = read(tmp_path, "llc", llc({0: {0x00: 0}, 10_000: {0x00: 1 << 51}}))
    assert columns(found, "LLC")["throughput"] == [0, 1 << 62]


def test_a_cache_that_nobody_reads_hits_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, "llc", llc({0: {0x20: 0, 0x02: 0}}))
    assert columns(found, "LLC")["hitRate"] == [0.0]


@pytest.mark.parametrize(("chip", "event"), [(1, 32), (4, 32), (7, 16)])
def test_memory(tmp_path: Path, chip: int, event: int) -> None:
    """Reads and writes of two controllers are one row of a time; a master's own count not again."""
    rows = [
        (at * 10_000, count, kind, controller, master)
        for at in (0, 1)
        for kind, count in ((0, 1_000), (1, 300))
        for controller in (0, 1)
        for master in (0xFFFFFFFF, 3)
    ]
    found = read(tmp_path, "ddr", b"".join(struct.pack("<5I", *row) for row in rows), chip)
    assert columns(found, "DDR") == {
        "deviceId": [0, 0],
        "timestampNs": [PAIRED, PAIRED + STEP],
        "read": [0, 2_000 * event * SECOND // STEP],
        "write": [0, 600 * event * SECOND // STEP],
    }


def test_no_chip_has_files_of_memory_that_it_does_not_write(tmp_path: Path) -> None:
    found = read(tmp_path, "ddr", struct.pack("<5I", 0, 1, 0, 0, 0), 5)
    assert "DDR" not in found.capture.samples


def test_dies(tmp_path: Path) -> None:
    """Five records of two dies give three rows, as in the document; records are amounts (U17)."""
    rows = [(0, 0, 900), (1, 0, 900), (0, 1, 2_000), (1, 1, 4_000), (0, 2, 1_000)]
    content = b"".join(
        struct.pack("<HHIQHHIQ8I", 25, 0x6BD3, 0, DC + at * 500_000, 0, die, 0, 0, *[size] * 8)
        for die, at, size in rows
    )
    assert len(content) == 5 * 64
    found = read(tmp_path, "stars_soc_profile", content)
    assert found.damage == []
    shown = columns(found, "SIO")
    names = [found.capture.texts.all[one] for one in shown.pop("name")]
    assert names == ["die 0", "die 0", "die 1"]
    assert shown.pop("timestampNs") == [PAIRED + at * STEP for at in (1, 2, 1)]
    assert shown.pop("deviceId") == [0, 0, 0]
    assert len(shown) == 8
    assert all(one == [200_000, 100_000, 400_000] for one in shown.values())


@pytest.mark.parametrize("name", ["hccs", "netdev_stats", "llc", "ddr"])
def test_amounts_of_any_size_are_no_reason_to_fail(tmp_path: Path, name: str) -> None:
    """Largest numbers everywhere: rows that cannot be are left out, the others fit."""
    most = str((1 << 64) - 1)
    content: Mapping[str, bytes] = {
        "hccs": f"x\n{DM}: 0 0\n{DM + 1}: {most} {most}\n{most}: 1 1\n".encode(),
        "netdev_stats": "\n".join(
            " ".join([time, *[value] * 15]) for time, value in ((str(M0), "0"), (str(M0 + 1), most))
        ).encode(),
        "llc": b"\xff" * 48,
        "ddr": b"\xff" * 40,
    }
    found = read(tmp_path, name, content[name], 1 if name == "ddr" else 5)
    for table in found.capture.samples.values():
        for column in table.values():
            assert np.all(np.isfinite(column))
            assert column.dtype == np.float64 or np.all(column >= -1)
