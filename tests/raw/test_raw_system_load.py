"""Memory and processors of systems and processes, from what the kernel prints, to what is shown.

The expected rows are those that msprof shows of the same bytes (upstream-msprof ParsingMemoryData,
ParsingCpuUsageData, get_msvp_summary_mem, cpu_usage_report).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from raw_trees import DM, HM_DEV, M0, WALL_US, write_tree

from ascend_ref.capture import Capture
from ascend_ref.cli import main
from ascend_ref.profile.raw import export_raw
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.encode.write import write_raw
from ascend_ref.raw.view import raw_view
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN

START = WALL_US * 1000
"""Unix ns at which the host's monotonic clock was M0."""
STEP = 20_000_000
"""ns between samples."""
PROCESSORS = {"ctrl_cpu": "0", "ai_cpu": "1,2"}
MOST = str((1 << 64) - 1)


def block(time: int | str, index: int, *lines: str) -> str:
    """A sample as ProcTimerHandler packs it (upstream-runtime)."""
    content = "".join(f"{line}\n" for line in lines)
    return f"TimeStamp:{time}\nIndex:{index}\nDataLen:{len(content)}\n{content}\n"


def tree(folder: Path, host: Mapping[str, str], device: Mapping[str, str] | None = None) -> Path:
    def of(files: Mapping[str, str], end: str) -> dict[str, bytes]:
        return {f"{name}.data{end}.slice_0": text.encode() for name, text in files.items()}

    made = write_tree(folder / "PROF_1", of(host, ""), of(device or {}, ".0"))
    state(made, PROCESSORS)
    return made


def state(made: Path, processors: Mapping[str, str]) -> None:
    """Change what info.json of the device says of its processors."""
    path = made / "device_0" / "info.json.0"
    document = json.loads(path.read_text())
    document["DeviceInfo"][0] |= processors
    path.write_text(json.dumps(document))


def read(made: Path) -> RawCapture:
    (found,) = read_raw(made)
    return found


def rows(found: RawCapture, record: str) -> list[tuple[Any, ...]]:
    """The rows of a record, with texts, in the order of its columns but for the time."""
    columns = found.capture.records.get(record, {})
    texts = found.capture.texts.all
    shown = [
        [texts[one] for one in column.tolist()] if name in ("name", "type") else column.tolist()
        for name, column in columns.items()
        if name != "time"
    ]
    return list(zip(*shown, strict=True))


def shown(made: Path, folder: Path, file: str) -> list[str]:
    export_raw(made, folder, ("csv",))
    (path,) = folder.rglob(f"{file}_2*.csv")
    return path.read_text().splitlines()[1:]


def memory(total: int, free: int, huge: int = 7) -> list[str]:
    """/proc/meminfo with lines that readers take and others, as a kernel prints them."""
    return [
        f"MemTotal:       {total:8} kB",
        f"MemFree:        {free:8} kB",
        "MemAvailable:   12345678 kB",
        "Buffers:          521000 kB",
        "Cached:          4400123 kB",
        "SwapCached:            0 kB",
        "Active(anon):     100200 kB",
        "Shmem:             40256 kB",
        "CommitLimit:    16432104 kB",
        "Committed_AS:    9123456 kB",
        "VmallocTotal:   135290290112 kB",
        f"HugePages_Total:   {huge:5}",
        "HugePages_Free:        3",
        "Hugepagesize:       2048 kB",
    ]


def test_memory_of_systems(tmp_path: Path) -> None:
    host = block(M0, 0, *memory(32_864_208, 1_000)) + block(
        M0 + STEP, 1, *memory(32_864_208, 2_001)
    )
    device = block(DM, 0, *memory(16_000_000, 5, huge=0))
    made = tree(tmp_path, {"host_sys_mem": host}, {"Memory": device})
    found = read(made)
    assert found.damage == []
    record = found.capture.records["sys_mem"]
    assert record["device"].tolist() == [0, -1, -1]
    assert record["time"].tolist() == [START + HM_DEV - M0, START, START + STEP]
    assert record["free"].tolist() == [5 << 10, 1_000 << 10, 2_001 << 10]
    # Means without decimals.
    assert shown(made, tmp_path / "out", "sys_mem") == [
        "0,16000000,5,521000,4400123,40256,16432104,9123456,0,3",
        "host,32864208,1500,521000,4400123,40256,16432104,9123456,7,3",
    ]


def test_kernels_without_huge_pages(tmp_path: Path) -> None:
    lines = [line for line in memory(9, 8) if not line.startswith("Huge")]
    found = read(tree(tmp_path, {"host_sys_mem": block(M0, 0, *lines)}))
    assert found.damage == []
    assert found.capture.records["sys_mem"]["huge_total"].tolist() == [0]


def test_memory_of_processes(tmp_path: Path) -> None:
    """The number of the process stands in the name of the file; two have equal sums."""
    host = {
        "4242-Memory": block(M0, 0, "1000 200 30 4 0 50 0", "ProcessName:python3")
        + block(M0 + STEP, 1, "1001 201 31 4 0 50 0", "ProcessName:python3"),
        "17-Memory": block(M0, 0, "1000 200 30 4 0 50 0", "ProcessName:kworker/0:1"),
    }
    device = {"9-Memory": block(DM, 0, "5 4 3 2 0 1 0", "ProcessName:tmux: server")}
    made = tree(tmp_path, host, device)
    found = read(made)
    assert found.damage == []
    assert rows(found, "process_mem") == [
        (0, "tmux: server", 9, 5, 4, 3),
        (-1, "kworker/0:1", 17, 1000, 200, 30),
        (-1, "python3", 4242, 1000, 200, 30),
        (-1, "python3", 4242, 1001, 201, 31),
    ]
    assert shown(made, tmp_path / "out", "process_mem") == [
        "0,9,tmux: server,5,4,3",
        "host,4242,python3,1000,200,30",
        "host,17,kworker/0:1,1000,200,30",
    ]


STAT = [
    "cpu  1000 20 300 8000 50 6 70 8 0 0",
    "cpu0 500 10 150 4000 25 3 35 4 0 0",
    "cpu1 400 5 100 3000 20 2 30 3 0 0",
    "cpu3 100 5 50 1000 5 1 5 1 0 0",
]
"""/proc/stat of a machine whose processor 2 is off."""


def test_processors(tmp_path: Path) -> None:
    """Counts since the start of the system are added up as they are; on a device a processor that
    is neither of AI CPU nor of Ctrl CPU is not shown.
    """
    later = [line.replace(" 8000 ", " 8004 ").replace(" 4000 ", " 4004 ") for line in STAT]
    host = block(M0, 0, *STAT) + block(M0 + STEP, 1, *later)
    made = tree(tmp_path, {"host_sys_cpu": host}, {"SystemCpuUsage": block(DM, 0, *STAT)})
    found = read(made)
    assert found.damage == []
    columns = found.capture.records["cpu_usage"]
    assert columns["device"].tolist() == [0, 0, *[-1] * 6]
    assert columns["cpu"].tolist() == [0, 1, 0, 1, 3, 0, 1, 3]
    assert columns["idle"].tolist() == [4000, 3000, 4000, 3000, 1000, 4004, 3000, 1000]
    # Of 18912 ticks; of 4727 of cpu0 and 3560 of cpu1.
    assert shown(made, tmp_path / "out", "cpu_usage") == [
        "0,Ctrl CPU,10.578,3.173,0.529,0.063,0.74,84.62",
        "0,AI CPU,11.236,2.809,0.562,0.056,0.843,84.27",
        "host,host,10.575,3.173,0.529,0.063,0.74,84.624",
    ]


def stat(pid: int, name: str, *times: int) -> str:
    """A line of /proc/pid/stat, of 52 values, of which the 14th to the 17th count."""
    ran = " ".join(map(str, times))
    behind = " ".join(str(one) for one in range(18, 53))
    return f"{pid} ({name}) S 1 {pid} {pid} 0 -1 4194560 901 0 3 0 {ran} {behind}"


def test_processors_by_process(tmp_path: Path) -> None:
    """The mean of the shares of the samples; one without the line of all processors is none."""
    host = {
        "42-CpuUsage": block(M0, 0, stat(42, "python", 6, 2, 1, 1), "ProcessName:python", STAT[0])
        + block(M0 + STEP, 1, stat(42, "python", 70, 0, 0, 0), "ProcessName:python")
        + block(M0, 2, stat(42, "python", 9, 5, 3, 3), "ProcessName:python", "cpu  900 0 0 100"),
        "17-CpuUsage": block(
            M0, 0, stat(17, "tmux: (a) b", 8, 2, 0, 0), "ProcessName:tmux: (a) b", STAT[0]
        ),
    }
    device = {"9-CpuUsage": block(DM, 0, stat(9, "d", 0, 0, 0, 0), "ProcessName:d", "cpu  0 0 0 0")}
    made = tree(tmp_path, host, device)
    found = read(made)
    assert found.damage == []
    assert sorted(rows(found, "process_cpu_usage")) == [
        (-1, "python", 42, 6, 2, 1, 1, 9454),
        (-1, "python", 42, 9, 5, 3, 3, 1000),
        (-1, "tmux: (a) b", 17, 8, 2, 0, 0, 9454),
        (0, "d", 9, 0, 0, 0, 0, 0),
    ]
    # (10 / 9454 + 20 / 1000) / 2 and 10 / 9454.
    assert shown(made, tmp_path / "out", "process_cpu_usage") == [
        "0,9,d,0.0",
        "host,42,python,1.053",
        "host,17,tmux: (a) b,0.106",
    ]


def test_processors_of_no_known_type_are_stated(tmp_path: Path) -> None:
    made = tree(tmp_path, {}, {"SystemCpuUsage": block(DM, 0, *STAT)})
    state(made, {"ctrl_cpu": "", "ai_cpu": ""})
    found = read(made)
    assert "cpu_usage" not in found.capture.records
    (damage,) = found.damage
    assert "neither ctrl_cpu nor ai_cpu" in damage.message


def test_a_clock_that_is_not_known_loses_no_row(tmp_path: Path) -> None:
    """No file shows the times of these samples."""
    found = read(tree(tmp_path, {"host_sys_mem": block(MOST, 0, *memory(9, 8))}))
    assert found.capture.records["sys_mem"]["time"].tolist() == [-1]
    (damage,) = found.damage
    assert "have times that no clock shows" in damage.message


LINE = "1000 200 30 4 0 50 0"
NAME = "ProcessName:p"
WRONG = [
    ("host_sys_mem", block(M0, 0, *memory(int(MOST), 1))),
    ("host_sys_mem", block(M0, 0, *memory(1, 1), "MemTotal:  1 kB")),
    ("host_sys_mem", block(M0, 0, *memory(1, 1)[1:])),
    ("host_sys_mem", f"{block(M0, 0, *memory(1, 1))[:200]}\n"),
    ("host_sys_mem", block(M0, 0, *memory(1, 1)[1:], "MemTotal:  -1 kB")),
    ("host_sys_mem", block(M0, 0, *memory(1, 1)[1:], "MemTotal:  1 MB")),
    ("host_sys_mem", block(M0, 0, *memory(1, 1)[1:], f"MemTotal:  {MOST}9999 kB")),
    ("5-Memory", block(M0, 0, f"{MOST} 1 1 1 1 1 1", NAME)),
    ("5-Memory", block(M0, 0, LINE)),
    ("5-Memory", block(M0, 0, NAME)),
    ("5-Memory", block(M0, 0, LINE, LINE, NAME)),
    (f"{MOST}-Memory", block(M0, 0, LINE, NAME)),
    ("host_sys_cpu", block(M0, 0, f"cpu0 {MOST} 0 0 0 0 0 0 0 0 0")),
    ("host_sys_cpu", block(M0, 0, f"cpu{MOST} 0 0 0 0 0 0 0 0 0 0")),
    ("host_sys_cpu", block(M0, 0, "cpu0 1 2 3 4")),
    ("host_sys_cpu", block(M0, 0, "cpu0 1 2 3 4 x -5 6 7 8 9")),
    ("host_sys_cpu", block(M0, 0, STAT[1], STAT[1])),
    ("5-CpuUsage", block(M0, 0, stat(5, "p", int(MOST), 1, 1, 1), NAME, STAT[0])),
    ("5-CpuUsage", block(M0, 0, stat(int(MOST), "p", 1, 1, 1, 1), NAME, STAT[0])),
    ("5-CpuUsage", block(M0, 0, "5 (p) S 1", NAME, STAT[0])),
    ("5-CpuUsage", block(M0, 0, "5 1 2 3", NAME, STAT[0])),
    ("5-CpuUsage", block(M0, 0, stat(5, "p", 1, 1, 1, 1), STAT[0])),
    ("5-CpuUsage", block(M0, 0, NAME, STAT[0])),
    ("5-CpuUsage", block(M0, 0, stat(5, "p", 1, 1, 1, 1), NAME, f"cpu  {MOST} 1")),
    ("5-CpuUsage", block(M0, 0, stat(5, "p", 1, 1, 1, 1), NAME, "cpu  1 x")),
]


@pytest.mark.parametrize(("kind", "text"), WRONG)
def test_samples_that_cannot_be_are_damage(tmp_path: Path, kind: str, text: str) -> None:
    """The others are read."""
    good = {
        "host_sys_mem": block(M0 + STEP, 1, *memory(9, 8)),
        "host_sys_cpu": block(M0 + STEP, 1, STAT[1]),
        "-Memory": block(M0 + STEP, 1, LINE, NAME),
        "-CpuUsage": block(M0 + STEP, 1, stat(5, "p", 1, 1, 1, 1), NAME, STAT[0]),
    }
    other = next(content for name, content in good.items() if kind.endswith(name))
    alone = kind.startswith(MOST)
    found = read(tree(tmp_path, {kind: text if alone else text + other}))
    assert any(
        "1 of 1 samples" if alone else "1 of 2 samples" in one.message for one in found.damage
    )
    records = [name for name in found.capture.records if name != "host_cpu_usage"]
    assert len(records) == (0 if alone else 1)
    for columns in found.capture.records.values():
        assert {len(column) for column in columns.values()} == {1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "TimeStamp:\n",
        f"TimeStamp:{'9' * 40}\n",
        f"TimeStamp:{M0}\n",
        f"TimeStamp:{M0}\nTimeStamp:{M0}\nIndex:0\n",
        "cpu0 1 2 3 4 5 6 7 8 9 10\nMemTotal: 1 kB\n1 2 3 4 5 6 7\n1 (p) S\n",
        f"Index:0\nDataLen:{'9' * 30}\nTimeStamp:{M0}\n\x00\x00\xff\n",
    ],
)
def test_lines_of_any_kind_are_no_reason_to_fail(tmp_path: Path, text: str) -> None:
    names = ("host_sys_mem", "host_sys_cpu", "5-Memory", "5-CpuUsage")
    found = read(tree(tmp_path, dict.fromkeys(names, text)))
    assert not found.capture.records


def museum() -> Capture:
    return simulate(RUN.preset("text-museum")).capture(0)


def test_the_lines_are_those_that_the_kernel_prints(tmp_path: Path) -> None:
    write_raw(tmp_path / "PROF_1", raw_view(museum()).capture)
    data = tmp_path / "PROF_1" / "host" / "data"
    for path in data.glob("*"):
        if "sys_" in path.name or "-" in path.name:
            for at, one in enumerate(path.read_text().split("\n\n")[:-1]):
                time, index, length, content = one.split("\n", 3)
                assert time.startswith("TimeStamp:1")
                assert index == f"Index:{at}"
                assert length == f"DataLen:{len(content) + 1}"
    own = museum().origin.pid
    assert len((data / f"{own}-CpuUsage.data.slice_0").read_text().splitlines()[3].split()) == 52
    assert len((data / f"{own}-Memory.data.slice_0").read_text().splitlines()[3].split()) == 7
    every, *single = (
        (data / "host_sys_cpu.data.slice_0").read_text().split("\n\n")[0].splitlines()[3:]
    )
    assert every.startswith("cpu  ")
    assert len(single) == 64
    counts = np.array([line.split()[1:] for line in (every, *single)], np.int64)
    assert counts[0].tolist() == counts[1:].sum(axis=0).tolist()


def test_what_collected_them_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Side files state the options of devices and of the host."""
    write_raw(tmp_path / "PROF_1", raw_view(museum()).capture)
    main(["export", str(tmp_path / "PROF_1"), "--explain", "--json"])
    (account,) = json.loads(capsys.readouterr().out)
    found = {one["address"]: one for one in account["things"]}
    for record in ("sys_mem", "process_mem", "cpu_usage", "process_cpu_usage"):
        thing = found[f"csv/{record}"]
        assert thing["rows"] > 0
        assert [one["on"] for one in thing["switches"]] == [True, True]


def test_the_view_loses_less_than_a_kibibyte() -> None:
    before, after = museum().records, raw_view(museum()).capture.records
    for name in ("total", "free", "committed"):
        lost = before["sys_mem"][name] - after["sys_mem"][name]
        assert 0 <= lost.min() <= lost.max() < 1 << 10
    for name in ("process_mem", "cpu_usage", "process_cpu_usage"):
        assert len(before[name]["time"]) == len(after[name]["time"])
