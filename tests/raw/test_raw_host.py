"""Samples of the host, from lines and with values by hand (errata U19, U20)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_trees import M0, WALL_US, write_tree

from ascend_ref.capture import Capture
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.layout import layout_of
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN
from ascend_spec import raw_catalog

START = WALL_US * 1000
"""Unix ns at which the monotonic clock was M0."""
STEP = 20_000_000
"""ns between samples."""
MACHINE = {
    "cpuNums": 4,
    "sysClockFreq": 100,
    "memoryTotal": 1_000_000,
    "netCard": [{"netCardName": "eth0", "speed": 1000}, {"netCardName": "eth1", "speed": 10_000}],
}


def read(
    folder: Path,
    kind: str,
    lines: list[str],
    machine: Mapping[str, object] = MACHINE,
    sample: Mapping[str, object] | None = None,
) -> RawCapture:
    content = "".join(f"{one}\n" for one in lines).encode()
    tree = write_tree(folder / "PROF_1", {f"{kind}.data.slice_0": content}, {})
    state(tree, "info.json", machine)
    state(tree, "sample.json", {"host_disk_freq": 50} if sample is None else sample)
    (found,) = read_raw(tree)
    return found


def state(tree: Path, name: str, changed: Mapping[str, object]) -> None:
    path = tree / "host" / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def columns(found: RawCapture, table: str) -> dict[str, list[Any]]:
    return {name: column.tolist() for name, column in found.capture.samples[table].items()}


def thread(number: int, user: int, system: int, processor: int, name: str = "python") -> str:
    """A line of /proc/pid/task/tid/stat: its 14th, 15th and 39th value count."""
    between = " ".join(str(one) for one in range(16, 39))
    head = f"{number} ({name}) S 1 {number} 1 0 -1 4194304 10 0 0 0"
    return f"{head} {user} {system} {between} {processor} 0 0 0"


def block(at: int, up: str, *threads: str) -> list[str]:
    return [f"time {M0 + at * STEP}", f"{up} 1000.00", *threads]


def test_processors(tmp_path: Path) -> None:
    """Two threads on one processor add up; a thread that is new has no load yet."""
    lines = [
        *block(0, "100.00", thread(7, 10, 5, 0), thread(8, 0, 0, 1)),
        *block(1, "100.04", thread(7, 11, 6, 0), thread(8, 1, 0, 0), thread(9, 50, 50, 2)),
        *block(2, "100.07", thread(7, 11, 6, 0), thread(8, 1, 1, 3), thread(9, 51, 51, 2)),
    ]
    found = read(tmp_path, "host_cpu", lines)
    assert found.damage == []
    assert columns(found, "CPU_USAGE") == {
        "timestampNs": [START, START + STEP, START + STEP, START + STEP],
        "cpuId": [0, 0, 2, 3],
        "usage": [75.0, 0.0, 66.666667, 33.333333],
    }
    assert found.capture.records["host_cpu_usage"]["processors"].tolist() == [4]
    assert found.capture.switches.host_sys == ("cpu",)


def test_names_of_threads_may_hold_anything(tmp_path: Path) -> None:
    lines = [
        *block(0, "100.00", thread(7, 0, 0, 1, "a) (b 1")),
        *block(1, "100.02", thread(7, 1, 0, 1, "a) (b 1")),
    ]
    found = read(tmp_path, "host_cpu", lines)
    assert columns(found, "CPU_USAGE")["usage"] == [50.0]


def test_load_of_no_time_or_of_more_than_all_of_it_is_left_out(tmp_path: Path) -> None:
    """One thread has at most all of the time; two that came to one processor may have more."""
    lines = [
        *block(0, "100.00", thread(7, 0, 0, 0), thread(8, 0, 0, 1)),
        *block(1, "100.00", thread(7, 1, 0, 0), thread(8, 0, 0, 1)),
        *block(2, "100.02", thread(7, 9, 0, 0), thread(8, 0, 0, 1)),
        *block(3, "100.04", thread(7, 11, 0, 1), thread(8, 2, 0, 1)),
    ]
    found = read(tmp_path, "host_cpu", lines)
    assert columns(found, "CPU_USAGE") == {
        "timestampNs": [START + STEP, START + STEP],
        "cpuId": [0, 1],
        "usage": [100.0, 0.0],
    }


def test_memory(tmp_path: Path) -> None:
    """A row has the time of a sample and the load of the next: 5000 pages of 4 KiB are 2 %."""
    sizes = [100, 5_000, 123_457]
    lines = [f"{M0 + at * STEP} 9 {size} 1 1 0 1 0" for at, size in enumerate(sizes)]
    found = read(tmp_path, "host_mem", lines)
    assert found.damage == []
    assert columns(found, "HOST_MEM_USAGE") == {
        "timestampNs": [START, START + STEP],
        "usage": [2.0, 49.3828],
    }
    assert found.capture.records["host_mem_usage"]["total"].tolist() == [1_000_000 * 1024]


def test_disks(tmp_path: Path) -> None:
    """The times follow from the frequency; a kernel that does not count waiting shows none."""
    lines = [
        f"start_time {M0}",
        "11:00:03  42 be/4 root 0.00 B/s 1.50 K/s 0.00 % 0.10 % python3 train.py",
        "11:00:03  42 be/4 root 512.00 B/s 2.00 M/s ?unavailable? python3 train.py",
        "11:00:03  42 be/4 root 1.00 G/s 0.00 B/s 0.00 % 99.99 % python3 train.py",
    ]
    found = read(tmp_path, "host_disk", lines)
    assert found.damage == []
    assert columns(found, "HOST_DISK_USAGE") == {
        "timestampNs": [START, START + STEP, START + 2 * STEP],
        "readRate": [0, 512, 1 << 30],
        "writeRate": [1536, 2 << 20, 0],
        "usage": [0.1, 0.0, 99.99],
    }


def card(name: str, received: int, sent: int) -> str:
    return f"  {name}: {received} 9 0 1 2 3 4 5 {sent} 9 0 1 2 3 4 5"


def test_network(tmp_path: Path) -> None:
    """Cards add up to the speed; the load is their mean by what the last one can carry."""
    lines = [
        f"time {M0}",
        *(card("eth0", 0, 0), card("lo", 0, 0), card("eth1", 100, 100)),
        f"time {M0 + STEP}",
        *(card("eth0", 300_000, 200_000), card("lo", 9_999, 9_999), card("eth1", 100_100, 100)),
        f"time {M0 + 2 * STEP}",
        *(card("eth0", 300_000, 200_002), card("lo", 9_999, 9_999), card("eth1", 0, 0)),
    ]
    found = read(tmp_path, "host_network", lines)
    assert found.damage == []
    assert columns(found, "HOST_NETWORK_USAGE") == {
        "timestampNs": [START, START + STEP],
        # 600,000 Byte in 20 ms; half of it by 10 Gbit/s. A counter that shrank takes no part.
        "speed": [30_000_000, 100],
        "usage": [1.2, 0.000008],
    }
    # Mbit/s of both cards, in Byte/s.
    assert found.capture.records["host_network_usage"]["speed"].tolist() == [11_000 * 125_000]


@pytest.mark.parametrize(
    ("kind", "lines", "lack"),
    [
        ("host_cpu", [*block(0, "1.00", thread(7, 0, 0, 0))], "info.json has no sysClockFreq"),
        ("host_mem", [f"{M0} 1 1 1 1 0 1 0"], "info.json has no memoryTotal"),
        ("host_disk", [f"start_time {M0}", "1 2 3 4 1 B/s 1 B/s x"], "no host_disk_freq"),
        ("host_disk", ["1 2 3 4 1 B/s 1 B/s x"], "no host_disk_freq"),
        ("host_network", [f"time {M0}", card("eth0", 1, 1)], "no netCard with a speed"),
    ],
)
def test_what_side_files_lack_is_stated(
    tmp_path: Path, kind: str, lines: list[str], lack: str
) -> None:
    found = read(tmp_path, kind, lines, {}, {})
    assert found.capture.samples.keys() <= {"AICORE_FREQ"}
    (damage,) = found.damage
    assert lack in damage.message
    assert "1 samples" in damage.message


MOST = str((1 << 64) - 1)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("host_cpu", []),
        ("host_cpu", ["1.00 1.00", thread(7, 0, 0, 0)]),
        ("host_cpu", [*block(0, "1.00"), *block(1, "9" * 20), *block(2, "1.00")]),
        ("host_cpu", [f"time {MOST}", f"time {M0}", "1 1", f"time {M0 + 1}", thread(7, 1, 1, 1)]),
        (
            "host_cpu",
            [
                *block(0, "1.00", thread(7, 0, 0, 0), thread(7, 5, 0, 0)),
                *block(1, "1.02", thread(7, int(MOST), int(MOST), int(MOST)), thread(8, 1, 1, 1)),
                *block(2, "-1.04", thread(7, 0, 0, 0), thread(8, 1, 1, 1)),
            ],
        ),
        ("host_mem", [f"{M0} 0 {MOST} 0 0 0 0 0", f"{MOST} 0 {MOST} 0 0 0 0 0"] * 2),
        ("host_disk", [f"start_time {MOST}", "1 2 3 4 1 B/s 1 B/s x"]),
        (
            "host_disk",
            [
                "Total DISK READ : 0.00 B/s",
                f"start_time {M0}",
                f"1 2 3 4 {'9' * 20} G/s -1 X/s 0 % {'9' * 20} % x",
            ],
        ),
        ("host_network", [card("eth0", 1, 1), f"time {M0}"]),
        (
            "host_network",
            [
                f"time {M0}",
                card("eth0", 0, 0),
                f"time {M0}",
                card("eth0", int(MOST), int(MOST)),
                f"time {MOST}",
                card("eth0", int(MOST), int(MOST)),
            ],
        ),
    ],
)
def test_lines_of_any_kind_are_no_reason_to_fail(
    tmp_path: Path, kind: str, lines: list[str]
) -> None:
    found = read(tmp_path, kind, lines)
    for table in found.capture.samples.values():
        for name, column in table.items():
            assert np.all(np.isfinite(column))
            assert name == "dieId" or np.all(column >= 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"sysClockFreq": -1, "memoryTotal": 1 << 70, "netCard": [{"netCardName": "eth0"}]},
        {"sysClockFreq": "100", "memoryTotal": 1.5, "netCard": {"eth0": 1}},
        {"sysClockFreq": True, "memoryTotal": None, "netCard": [1, {"speed": 0}]},
    ],
)
def test_facts_that_cannot_be_are_stated(tmp_path: Path, changed: Mapping[str, object]) -> None:
    for kind, lines in (
        ("host_cpu", block(0, "1.00", thread(7, 0, 0, 0))),
        ("host_mem", [f"{M0} 1 1 1 1 0 1 0"]),
        ("host_network", [f"time {M0}", card("eth0", 1, 1)]),
    ):
        found = read(tmp_path / kind, kind, lines, changed)
        assert any(kind in one.message and "1 samples" in one.message for one in found.damage)


def host_capture() -> Capture:
    return simulate(RUN.preset("observed-everything")).capture(0)


def test_what_the_view_changes_is_what_the_kernel_cannot_count() -> None:
    before, after = host_capture().samples, raw_view(host_capture()).capture.samples
    cpu, shown = before["CPU_USAGE"], after["CPU_USAGE"]
    assert set(np.unique(shown["usage"])) <= {0.0, 33.333333, 50.0, 66.666667, 100.0}
    for processor in range(64):
        own, of = (one["usage"][one["cpuId"] == processor] for one in (cpu, shown))
        # Ticks of 10 ms in intervals of 20 ms: in sum at most half a tick is not counted.
        assert abs(np.sum(own) - np.sum(of)) <= 25 + 1e-6 + 0.5 * np.abs(own[-1])
    memory, shown = before["HOST_MEM_USAGE"], after["HOST_MEM_USAGE"]
    assert np.max(np.abs(memory["usage"] - shown["usage"])) < 1e-6
    network, shown = before["HOST_NETWORK_USAGE"], after["HOST_NETWORK_USAGE"]
    # One byte in 20 ms.
    assert np.max(np.abs(network["speed"] - shown["speed"])) <= 60
    disk, shown = before["HOST_DISK_USAGE"], after["HOST_DISK_USAGE"]
    # The last sample of the session is early; those of the file are all STEP apart.
    assert shown["readRate"].tolist() == disk["readRate"].tolist()[:-1]
    assert np.max(np.abs(disk["timestampNs"][:-1] - shown["timestampNs"])) < STEP // 100


def test_the_lines_are_those_that_the_kernel_and_iotop_print(tmp_path: Path) -> None:
    write_raw(tmp_path / "PROF_1", raw_view(host_capture()).capture)
    data = tmp_path / "PROF_1" / "host" / "data"
    cpu = (data / "host_cpu.data.slice_0").read_text().splitlines()
    assert [len(one.split()) for one in cpu[:3]] == [2, 2, 52]
    assert sum(one.startswith("time ") for one in cpu) == 16
    assert {line.split()[38] for line in cpu[2:66]} == {str(one) for one in range(64)}
    memory = (data / "host_mem.data.slice_0").read_text().splitlines()
    assert all(len(one.split()) == 8 for one in memory)
    disk = (data / "host_disk.data.slice_0").read_text().splitlines()
    assert [len(one.split()) for one in disk[:2]] == [2, 13]
    network = (data / "host_network.data.slice_0").read_text().splitlines()
    assert [len(one.split()) for one in network[:2]] == [2, 17]


def test_two_events_of_one_key_are_a_call() -> None:
    """ge-profiling 5.2: an event has all ones in place of its end."""
    event = bytes.fromhex(
        "5a5a983a01000000921000000100000072420f0000000000ffffffffffffffff0700000000000000"
    )
    call = event[:24] + (1_000_100).to_bytes(8, "little") + event[32:]
    layout = layout_of(raw_catalog().files["api_event"], 5, {})
    rows = np.frombuffer(event + call + event, np.uint8).reshape(3, 40)
    calls, events = layout.split(rows)
    assert [one.record for one in layout.members] == ["API_EVENT", "EVENT"]
    assert (calls.tolist(), events.tolist()) == ([False, True, False], [True, False, True])
