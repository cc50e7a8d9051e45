"""Records that no database holds: of caches, of AI CPU kernels, of the memory of graphs.

Sizes and places of the fields are those of raw-prof 4.4, 4.7 and 4.10.
"""

from __future__ import annotations

import json
from pathlib import Path
from struct import pack

import pytest
from raw_trees import M0, WALL_US, api, device_ticks, host_ticks, stars, task_track, write_tree

from ascend_ref.capture.model import NONE
from ascend_ref.raw.decode.read import RawCapture, read_raw

THREAD, STREAM = 4243, 2
RUNS = 3


def node_info(at_us: float, name: int, core: int) -> bytes:
    """node_basic_info of an operator, 0 on AI cores and 1 on AI CPUs: a head of 24 bytes, u64 name,
    u32 core, u64 kind.
    """
    head = pack("<HHIIIQ", 0x5A5A, 10000, 0, THREAD, 40, host_ticks(at_us))
    return head + pack("<QIQIHHIQ", name, core, name, 8, 0, 0, 0, 0).ljust(40, b"\0")


def session(
    folder: Path, device: dict[str, bytes], host: dict[str, bytes], core: int = 0, **sample: str
) -> Path:
    """Three runs of kernels named Add and Mul, Mul, with the numbers 1, 2, 2 of one stream."""
    at = [10_000 + 200 * run for run in range(RUNS)]
    names, numbers = (11, 12, 12), (1, 2, 2)
    calls = b"".join(
        api(10000, 5, THREAD, host_ticks(us), host_ticks(us + 50), name)
        for us, name in zip(at, names, strict=True)
    )
    tracks = b"".join(
        task_track(THREAD, host_ticks(us + 30), STREAM, number, 0, name)
        for us, number, name in zip(at, numbers, names, strict=True)
    )
    nodes = b"".join(node_info(us + 40, name, core) for us, name in zip(at, names, strict=True))
    log = b"".join(
        stars(end, 2 * run + end, STREAM, numbers[run], device_ticks(at[run] + 100 + 20 * end))
        for run in range(RUNS)
        for end in range(2)
    )
    prof = write_tree(
        folder / "PROF_1",
        {
            "unaging.api_event.data.slice_0": calls,
            "unaging.compact.task_track.slice_0": tracks,
            "unaging.compact.node_basic_info.slice_0": nodes,
            "unaging.additional.type_info_dic.slice_0": b"10000_5:launch\n5000_0:KERNEL_AICORE\n",
            "unaging.additional.hash_dic.slice_0": b"11:Add\n12:Mul\n",
            **host,
        },
        {"stars_soc.data.0.slice_0": log, **device},
    )
    path = prof / "device_0" / "sample.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **sample}))
    return prof


def read(prof: Path) -> RawCapture:
    (found,) = read_raw(prof)
    return found


def rows(found: RawCapture, record: str) -> list[dict[str, object]]:
    """The rows of a record with the texts in place of their numbers."""
    every = found.capture.texts.all
    table = {name: values.tolist() for name, values in found.capture.records[record].items()}
    texts = {name for name in table if name.endswith("name")}
    return [
        {
            name: (None if value == NONE else every[value]) if name in texts else value
            for name, value in zip(table, row, strict=True)
        }
        for row in zip(*table.values(), strict=True)
    ]


def l2(task: int, *events: int) -> bytes:
    return pack("<4H8Q", 0, STREAM, task, 0, *events, *[0] * (8 - len(events)))


def soc(task: int, kind: int, *events: int) -> bytes:
    return pack("<8x4H8Q", 0, STREAM, task, kind, *events, *[0] * (8 - len(events)))


def test_events_of_the_cache_are_those_that_sample_json_lists(tmp_path: Path) -> None:
    """Requests are 0xfb + 0xfc, hits 0x90 + 0x91, victims 0x9c, in whatever order."""
    data = l2(2, 5, 70, 30, 2, 9, 8) + l2(2, 6, 71, 31, 3, 10, 9) + l2(7, 1, 1, 1, 1, 1, 1)
    prof = session(
        *(tmp_path, {"l2_cache.data.0.slice_0": data}, {}),
        l2CacheTaskProfilingEvents="0x9C,0xfb,0xfc,0x60,0x90,0x91",
    )
    found = read(prof)
    assert found.damage == []
    common = {"device": 0, "stream": STREAM}
    assert rows(found, "l2_cache") == [
        {**common, "name": "Mul", "number": 2, "request": 100, "hit": 17, "victim": 5},
        {**common, "name": "Mul", "number": 2, "request": 102, "hit": 19, "victim": 6},
        {**common, "name": None, "number": 7, "request": 2, "hit": 2, "victim": 1},
    ]
    assert found.capture.switches.l2


def test_the_last_record_of_a_number_is_of_its_last_run(tmp_path: Path) -> None:
    """Devices leave out the first kernel of a session; it can have a number that comes again."""
    prof = session(
        *(tmp_path, {"l2_cache.data.0.slice_0": l2(1, 4, 4, 2, 2, 1)}, {}),
        l2CacheTaskProfilingEvents="0xfb,0xfc,0x90,0x91,0x9c",
    )
    assert [one["name"] for one in rows(read(prof), "l2_cache")] == ["Add"]


def test_events_of_the_soc_are_of_the_unit_that_their_kind_names(tmp_path: Path) -> None:
    """Kind 1 is of the L2 cache, 2 of the TLB, 4 of page faults (upstream-msprof SocPmuParser)."""
    data = soc(1, 2, 50, 20, 25, 5) + soc(2, 1, 40, 20, 10, 5, 3) + soc(2, 4, 9)
    prof = session(
        *(tmp_path, {"socpmu.data.0.slice_0": data}, {}),
        npuEvents="SMMU:0x8a,0x8c,0x8d,0x2;HA:0x00",
        l2CacheTaskProfilingEvents="0xfb,0xfc,0x90,0x91,0x9c",
    )
    found = read(prof)
    common = {"device": 0, "stream": STREAM}
    assert rows(found, "soc_pmu") == [
        {**common, "name": "Add", "number": 1, "request": 50, "hit": 45, "miss": 5}
    ]
    assert rows(found, "l2_cache") == [
        {**common, "name": "Mul", "number": 2, "request": 60, "hit": 15, "victim": 3}
    ]
    assert rows(found, "page_fault") == [{**common, "name": "Mul", "number": 2, "faults": 9}]


@pytest.mark.parametrize("events", ["0xfb,0xfc,0x90", "", "0xzz", "0xfb,0xfc,0x90,0x91"])
def test_events_that_are_not_listed_are_stated(tmp_path: Path, events: str) -> None:
    prof = session(
        *(tmp_path, {"l2_cache.data.0.slice_0": l2(2, 1, 1, 1, 1, 1)}, {}),
        l2CacheTaskProfilingEvents=events,
    )
    found = read(prof)
    assert "l2_cache" not in found.capture.records
    assert found.damage[-1].message == (
        "l2_cache is not read: sample.json: l2CacheTaskProfilingEvents does not list its events"
    )


def test_without_a_chip_page_faults_alone_are_read(tmp_path: Path) -> None:
    prof = session(tmp_path, {"socpmu.data.0.slice_0": soc(2, 4, 9) + soc(2, 2, 9)}, {})
    for path in prof.rglob("info.json*"):
        path.unlink()
    found = read(prof)
    assert found.capture.records["page_fault"]["faults"].tolist() == [9]
    assert "soc_pmu is not read: the chip is not known" in [one.message for one in found.damage]


def ai_cpu(kind: int, body: bytes) -> bytes:
    return (pack("<HHIIIQ", 0x5A5A, 6000, kind, 1, len(body), 0) + body).ljust(256, b"\0")


def run(task: int, at_us: float, **changed: int) -> bytes:
    """A run that begins 10 us behind its submission, computes 5 us, copies 3 and ends at 20 us."""
    fields = {
        **{"stream": STREAM, "task": task, "unused": 0, "start": 1_000_000},
        "begin": device_ticks(at_us + 10),
        **{"computes": 1_000_002, "copies": 1_000_007, "copied": 1_000_010, "end": 1_000_011},
        "ended": device_ticks(at_us + 20),
        **{"thread": 9, "device": 0, "submitted": device_ticks(at_us)},
        **{"scheduled": 0, "before": 0, "after": device_ticks(at_us + 20)},
        **{"type": 0, "dispatch": 4, "total": 99, "ffts": 0, "version": 0},
        **changed,
    }
    return ai_cpu(0, pack("<HHI7Q2I4Q3IHB", *fields.values()))


def test_runs_of_ai_cpu_kernels_have_the_name_of_the_task_that_they_end_in(tmp_path: Path) -> None:
    """Tasks run from 100 us to 120 us behind their launch at 10,000, 10,200 and 10,400 us."""
    data = run(2, 10_300) + run(1, 10_100) + run(1, 10_300)
    found = read(session(tmp_path, {"aicpu.data.0.slice_0": data}, {}, core=1))
    assert found.damage == []
    kept = ("name", "compute", "memcpy", "task", "dispatch", "total", "stream", "number")
    common = (5_000, 3_000, 10_000, 4_000, 20_000, STREAM)
    assert [tuple(one[key] for key in kept) for one in rows(found, "aicpu")] == [
        ("Mul", *common, 2),
        ("Add", *common, 1),
        (None, *common, 1),
    ]
    start = found.capture.records["aicpu"]["time"]
    assert start[1] - found.capture.tasks.start[0] == 10_000
    assert found.capture.switches.aicpu


def test_runs_have_no_names_where_no_kernel_is_known_to_run_on_ai_cpus(tmp_path: Path) -> None:
    found = read(session(tmp_path, {"aicpu.data.0.slice_0": run(1, 10_100)}, {}))
    assert [one["name"] for one in rows(found, "aicpu")] == [None]


@pytest.mark.parametrize(
    "changed",
    [
        {"ended": 1},
        {"begin": (1 << 64) - 1},
        {"copies": (1 << 64) - 1},
        {"computes": 2_000_000},
        {"submitted": 1 << 63},
    ],
)
def test_runs_that_cannot_be_are_damage(tmp_path: Path, changed: dict[str, int]) -> None:
    data = run(1, 10_100, **changed) + run(1, 10_100)
    found = read(session(tmp_path, {"aicpu.data.0.slice_0": data}, {}))
    assert len(rows(found, "aicpu")) == 1
    assert [one.message for one in found.damage] == [
        "aicpu: 1 of 2 samples have numbers that they cannot have"
    ]


def test_readings_of_prepared_data_are_shown_as_they_are_stored(tmp_path: Path) -> None:
    data = ai_cpu(3, pack("<I4x3Q", 1, 17, 5_000, 5_030))
    data += ai_cpu(3, pack("<I4x3Q", 2, 0, 6_000, 6_000)) + ai_cpu(3, pack("<I4x3Q", 1, 0, 2, 1))
    found = read(session(tmp_path, {"aicpu.data.0.slice_0": data}, {}))
    assert [tuple(one.values()) for one in rows(found, "aicpu_mi")] == [
        (0, "GetNext_dequeue_wait", 5_000_000, 5_030_000, 17),
        (0, "", 6_000_000, 6_000_000, 0),
    ]
    assert len(found.damage) == 1


def test_preparations_have_times_of_the_monotonic_clock_and_texts(tmp_path: Path) -> None:
    body = pack("<16s64s2Q", b"Last dequeue", b"Iterator\xff", 0, 31)
    data = bytearray(ai_cpu(1, body) + ai_cpu(1, pack("<16s64s2Q", b"x", b"y", 1, 1 << 63)))
    data[16:24] = pack("<Q", M0 + 7_001)
    found = read(session(tmp_path, {"aicpu.data.0.slice_0": bytes(data)}, {}))
    table = {name: one.tolist() for name, one in found.capture.records["dp"].items()}
    every = found.capture.texts.all
    assert table["time"] == [WALL_US * 1000 + 7_001]
    assert table["buffered"] == [31]
    assert [every[table[name][0]] for name in ("action", "source")] == [
        *("Last dequeue", "Iterator\\xff")
    ]
    assert len(found.damage) == 1


def static(size: int, name: int, start: int, end: int, part: int = 0) -> bytes:
    head = pack("<HHIIIQ", 0x5A5A, 10000, 11, THREAD, 52, 0)
    return (head + pack("<q5QI", size, name, start, end, 4096, part, 1)).ljust(256, b"\0")


def test_memory_of_graphs_has_names_and_an_end(tmp_path: Path) -> None:
    data = static(1024, 11, 0, 3) + static(3072, 12, 1, 4294967294, part=11)
    data += static(4096, 0, 0, 4294967294) + static(-1, 11, 0, 1)
    found = read(session(tmp_path, {}, {"unaging.additional.static_op_mem.slice_0": data}))
    assert rows(found, "static_op_mem") == [
        {"name": "Add", "model_name": "0", "size": 1024, "graph": 1, "start": 0, "end": 3},
        {"name": "Mul", "model_name": "Add", "size": 3072, "graph": 1, "start": 1, "end": NONE},
        {"name": "TOTAL", "model_name": "0", "size": 4096, "graph": 1, "start": 0, "end": NONE},
    ]
    assert [one.message for one in found.damage] == [
        "static_op_mem: 1 of 4 samples have numbers that they cannot have"
    ]


def fused(at_us: float, name: int, *parts: int, count: int | None = None) -> bytes:
    head = pack("<HHIIIQ", 0x5A5A, 10000, 2, THREAD, 116, host_ticks(at_us))
    sizes = (1, 20, 300, 4000, 4321)
    numbers = (*parts, *[0] * (8 - len(parts)))
    body = pack("<QI5Q8Q", name, len(parts) if count is None else count, *sizes, *numbers)
    return (head + body).ljust(256, b"\0")


def graph(at_us: float, name: int, model: int) -> bytes:
    head = pack("<HHIIIQ", 0x5A5A, 15000, 0, THREAD, 16, host_ticks(at_us))
    return (head + pack("<QII", name, 1, model)).ljust(256, b"\0")


def test_fused_operators_are_of_the_model_whose_call_they_lie_in(tmp_path: Path) -> None:
    """A record outside of any call of a model, and one of nine parts, are damage."""
    calls = api(15000, 2, THREAD, host_ticks(100), host_ticks(200), 7)
    calls += api(15000, 2, THREAD, host_ticks(300), host_ticks(400), 8)
    fusions = fused(110, 11, 12) + fused(310, 12, 11, 12) + fused(250, 11, 11)
    fusions += fused(120, 11, 12, count=9)
    prof = write_tree(
        tmp_path / "PROF_1",
        {
            "unaging.api_event.data.slice_0": calls,
            "unaging.additional.fusion_op_info.slice_0": fusions,
            "unaging.additional.graph_id_map.slice_0": graph(111, 21, 7) + graph(311, 22, 8),
            "unaging.additional.hash_dic.slice_0": b"11:Add\n12:Mul\n21:one\n22:two\n",
            "unaging.additional.type_info_dic.slice_0": b"15000_2:ModelLoad\n",
        },
        {},
    )
    found = read(prof)
    table = found.capture.records["fusion_op"]
    every = found.capture.texts.all
    named = ("model_name", "name", "originals")
    shown = [
        [every[one] for one in row] for row in zip(*(table[one] for one in named), strict=True)
    ]
    assert shown == [["one", "Add", "Mul"], ["two", "Mul", "Add;Mul"]]
    assert table["model"].tolist() == [7, 8]
    sizes = ("input", "output", "weight", "workspace")
    assert [table[one].tolist()[0] for one in sizes] == [1, 20, 300, 4000]
    assert [one.message for one in found.damage] == [
        "fusion_op_info: 1 of 4 samples have numbers that they cannot have",
        "fusion_op_info: 1 records lie in no call of a model with a name, "
        "so nobody knows whose they are",
    ]
