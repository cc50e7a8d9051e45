"""The unified bus and the units for collective communication, from bytes by hand to deliverables.

Records are packed as upstream-msprof reads them: UB_FMT, CCU_MISSION_FMT, CCU_CHANNEL_FMT and those
of CCUAddInfoParser; what is expected is what its viewers make of them.
"""

from __future__ import annotations

import csv
import json
import struct
from functools import cache
from pathlib import Path

import pytest
from chip_15 import read_950, shown, tree_of_950, unix
from plain_capture import plain
from raw_trees import DC, HM_DEV, M0, WALL_US

from ascend_ref.capture import Capture
from ascend_ref.cli import main
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

TASK = 0x0002_0005
NO_CHANNEL, NO_RANK = 0xFFFF, 0xFFFFFFFF
MISSION = ("die", "task_id", "stream_id", "instruction_id", "instruction_start_time")
WAIT = ("wait_start", "notify_instruction_id", "notify_rank_id", "notify_duration")


def mission(
    waits: dict[int, int], wait: tuple[int, int], loop: tuple[int, int, int], task: int = TASK
) -> bytes:
    """64 bytes; waits: in fours of ticks by rank, of which the last comes first."""
    ends = [waits.get(rank, 0) for rank in reversed(range(16))]
    start, number = wait
    begin, end, instruction = loop
    low, high = task & 0xFFFF, task >> 16
    return struct.pack("<16HQHQQHHH", *ends, start, number, end, begin, instruction, low, high)


def sample(channels: dict[int, tuple[int, int, int, int]]) -> bytes:
    """2816 bytes; of each channel time, mean, least and greatest delay, in ticks."""
    words, at = [], 0
    for number in range(128):
        if number >= 120:
            size = 11 if number in (120, 123, 124, 127) else 5
        else:
            size = 9 if number % 12 == 11 else 5
        own = [0] * size
        skipped = 6 if number in (120, 124) else 0
        time, mean, least, most = channels.get(number, (0, 0, 0, 0))
        own[skipped : skipped + 5] = [time & 0xFFFFFFFF, time >> 32, mean, least, most]
        words += own
        at += size
    assert at == len(words) == 704
    return struct.pack("<704I", *words)


def report(body: bytes) -> bytes:
    return struct.pack("<HHIIIQ", 0x5A5A, 5500, 1, 7, len(body), 5) + body.ljust(232, b"\0")


def ends(channels: list[tuple[int, int]]) -> bytes:
    pairs = channels + [(NO_CHANNEL, NO_RANK)] * (16 - len(channels))
    return struct.pack("<16H16I", *(one for one, _ in pairs), *(rank for _, rank in pairs))


def who(instruction: int, task: int = TASK) -> bytes:
    """From the version to the mission, 45 bytes."""
    return struct.pack("<B7xQQIIBxHIBxHB", 1, 11, 22, 0, 2, 1, 3, task, 1, instruction, 6)


def group_info(instruction: int, size: int, reduction: int = 0, data_type: int = 2) -> bytes:
    kinds = struct.pack("<BBB", reduction, data_type, data_type)
    return report(who(instruction) + kinds + struct.pack("<Q", size) + ends([(2, 1), (4, 9)]))


def wait_info(instruction: int, mask: int) -> bytes:
    signal = struct.pack("<3xII", 210, mask)
    return report(who(instruction) + signal + ends([(2, 1), (4, 9)]))


HOST = {
    "unaging.additional.hash_dic.slice_0": b"11:Reduce\n22:group of all\n",
    "unaging.additional.ccu_group_info.slice_0": group_info(119, 8_192)
    + group_info(197, 4_096, 255, 255),
    "unaging.additional.ccu_wait_signal_info.slice_0": wait_info(205, 6),
}
DEVICE = {
    "ccu1.instr.0.slice_0": mission({}, (0, 0), (DC + 100, DC + 600, 119))
    + mission({}, (0, 0), (DC + 700, DC + 800, 197))
    + mission({1: 25, 2: 3}, (DC + 900, 205), (DC + 700, DC + 800, 197)),
    "ccu1.stat.0.slice_0": sample({2: (DC + 850, 25, 20, 40), 120: (DC + 851, 0, 0, 0)})
    + sample({4: (DC + 990, 30, 30, 30), 2: (DC + 1_005, 99, 99, 99)}),
}
"""The loops and the wait of upstream-msprof's own test of the viewer, on the ticks of ours."""


def test_missions_as_the_exporter_takes_them(tmp_path: Path) -> None:
    """A wait has a row for each of 16 ranks, the last one first; a stream nobody knows is 65535."""
    found = read_950(tree_of_950(tmp_path, HOST, DEVICE))
    rows = shown(found, "ccu_mission", *MISSION, "instruction_duration", *WAIT)
    loops = [(1, TASK, 65_535, number, unix(DC + at)) for number, at in ((119, 100), (197, 700))]
    assert rows[0] == (*loops[0], 500 * 20, -1, -1, -1, -1)
    assert rows[1] == (*loops[1], 100 * 20, -1, -1, -1, -1)
    took = {1: 25 * 4 * 20, 2: 3 * 4 * 20}
    assert rows[2:] == [
        (*loops[1], 2_000, unix(DC + 900), 205, rank, took.get(rank, 0))
        for rank in reversed(range(16))
    ]


def test_channels_without_a_time_are_none(tmp_path: Path) -> None:
    found = read_950(tree_of_950(tmp_path, HOST, DEVICE))
    columns = ("die", "channel_id", "time", "min_delay", "avg_delay", "max_delay")
    assert shown(found, "ccu_channel", *columns) == [
        (1, 2, unix(DC + 850), 400, 500, 800),
        (1, 120, unix(DC + 851), 0, 0, 0),
        (1, 2, unix(DC + 1_005), 1_980, 1_980, 1_980),
        (1, 4, unix(DC + 990), 600, 600, 600),
    ]


def exported(folder: Path, form: str, pattern: str) -> Path:
    made = tree_of_950(folder, HOST, DEVICE)
    assert main(["export", str(made), "-o", str(folder / "out"), "--as", form]) == 0
    (path,) = (folder / "out").rglob(pattern)
    return path


def test_a_short_delay_is_a_great_rate(tmp_path: Path) -> None:
    """4096 Byte in 20, 40 and 25 ticks of 20 ns."""
    with exported(tmp_path, "csv", "ccu_channel_*.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    rates = [round(4_096 / (ticks * 0.02) * 1e6 / 2**20, 3) for ticks in (20, 40, 25)]
    names = ("Max Bandwidth(MB/s)", "Min Bandwidth(MB/s)", "Avg Bandwidth(MB/s)")
    assert [float(row[name]) for name in names] == rates


def test_the_timeline_shows_the_rank_that_is_waited_for_longest(tmp_path: Path) -> None:
    """Of the channels of a wait the slowest one before its end counts."""
    events = json.loads(exported(tmp_path, "timeline", "msprof_*.json").read_text())
    found = {
        (one["name"], float(one["ts"]), one["dur"]): one["args"]
        for one in events
        if one["name"] in ("LoopGroup", "Wait")
    }
    of_task = {"Physic Stream Id": 65_535, "Task Id": TASK}
    one, other = (unix(DC + at) / 1_000 for at in (100, 700))
    assert found == {
        ("LoopGroup", one, 10): {
            **of_task,
            "Instruction ID": 119,
            "Die Id": 1,
            "Data Size": 8_192,
            "Bandwidth (MB/s)": 8_192 / 10 * 1e6 / 2**20,
            "Reduce Op Type": "SUM",
            "Input Data Type": "INT32",
            "Output Data Type": "INT32",
        },
        ("LoopGroup", other, 2): {
            **of_task,
            "Instruction ID": 197,
            "Die Id": 1,
            "Data Size": 4_096,
            "Bandwidth (MB/s)": 4_096 / 2 * 1e6 / 2**20,
        },
        ("Wait", unix(DC + 900) / 1_000, 2): {
            **of_task,
            "Notify Instruction ID": 205,
            "Notify Rank ID": 1,
            "Die Id": 1,
            "Mask": 6,
            "Maximum Delay Channel": 4,
            "Maximum Channel Delay": 30,
        },
    }


def test_ports_of_the_bus_by_microseconds_since_the_start(tmp_path: Path) -> None:
    content = b"".join(
        struct.pack("<4HQ14Q", 0x5A5A, 0, port, 0, at, 100 + port, 200 + port, *range(12))
        for at in (5, 1_000)
        for port in (0, 7)
    )
    found = read_950(tree_of_950(tmp_path, {}, {"ub.data.0.slice_0": content}))
    assert found.damage == []
    table = found.capture.samples["UB"]
    begin = WALL_US * 1_000 + HM_DEV - M0
    assert table["timestampNs"].tolist() == [begin + us * 1_000 for us in (5, 5, 1_000, 1_000)]
    assert table["portId"].tolist() == [0, 7, 0, 7]
    assert table["rxUdmaBind"].tolist() == [100, 107, 100, 107]
    assert table["txUdmaBind"].tolist() == [200, 207, 200, 207]


@pytest.mark.parametrize("name", ["ccu1.instr.0.slice_0", "ccu1.stat.0.slice_0"])
def test_impossible_times_are_damage(tmp_path: Path, name: str) -> None:
    wrong = {
        "ccu1.instr.0.slice_0": mission({}, (0, 0), ((1 << 64) - 1, 5, 1)),
        "ccu1.stat.0.slice_0": sample({3: ((1 << 64) - 1, 1, 1, 1)}),
    }
    found = read_950(tree_of_950(tmp_path, HOST, {**DEVICE, name: DEVICE[name] + wrong[name]}))
    kept = read_950(tree_of_950(tmp_path / "right", HOST, DEVICE))
    assert plain(found.capture)["ccu_mission"] == plain(kept.capture)["ccu_mission"]
    assert plain(found.capture)["ccu_channel"] == plain(kept.capture)["ccu_channel"]
    assert len(found.damage) == len(kept.damage) + 1


@cache
def simulated() -> Capture:
    return simulate(RUN.preset("950-dense")).capture(0)


def test_a_simulated_run_comes_back(tmp_path: Path) -> None:
    held = raw_view(simulated()).capture
    write_raw(tmp_path / "PROF_1", held)
    (found,) = read_raw(tmp_path / "PROF_1")
    assert found.damage == []
    for name in ("UB", "CCU", "ccu_mission", "ccu_channel", "ccu_group_info"):
        assert plain(found.capture)[name] == plain(held)[name]
