"""The timeline: nothing waits for what has not happened, no pipe does two things at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import pytest
from kernel_bytes import ADD, DEVICE, GATHER, MIX, NEAR, SIMULATED, UNIFIED, VECTOR, written

NS = 1e-3
SETS = ("SET_FLAG", "set_event", "SET_INTRA_BLOCK")
WAITS = ("WAIT_FLAG", "wait_event", "WAIT_INTRA_BLOCK")
SLOWED = f"{ADD}\ncapture: {{mode: simulator}}".replace("block_dim", "frequency: 800, block_dim")


def events(text: str) -> list[dict[str, Any]]:
    document = written(text).json(0x02)
    assert list(document)[-1] == "traceEvents"
    assert (document["profilingType"], document["displayTimeUnit"]) == ("op", "ns")
    found: list[dict[str, Any]] = document["traceEvents"]
    return found


def bars(text: str) -> list[tuple[str, str, float, float, str]]:
    """Process, lane, begin, end and name of all that lasts."""
    found, open_ = [], {}
    for one in events(text):
        if one["ph"] == "X":
            place = (one["pid"], one["tid"], one["ts"], one["ts"] + one["dur"], one["name"])
            found.append(place)
        elif one["ph"] == "B":
            open_[one["name"], one["id"]] = one["ts"]
        elif one["ph"] == "E":
            begin = open_.pop((one["name"], one["id"]))
            found.append((one["pid"], one["tid"], begin, one["ts"], one["name"]))
    assert not open_
    return found


@pytest.mark.parametrize("text", SIMULATED)
def test_no_wait_ends_before_its_set(text: str) -> None:
    ended: dict[str, dict[str, float]] = defaultdict(dict)
    for one in events(text):
        if one["ph"] == "E":
            kind = "set" if one["name"] in SETS else "wait"
            assert kind not in ended[one["id"]]
            ended[one["id"]][kind] = one["ts"]
    assert ended
    for pair in ended.values():
        assert pair["set"] < pair["wait"]


@pytest.mark.parametrize("text", SIMULATED)
def test_flows_join_the_ends_of_a_pair(text: str) -> None:
    ends = {
        (one["id"], one["name"] in SETS): (one["pid"], one["tid"], one["ts"])
        for one in events(text)
        if one["ph"] == "E"
    }
    flows = [one for one in events(text) if one["ph"] in "st"]
    assert Counter(one["ph"] for one in flows) == {"s": len(ends) // 2, "t": len(ends) // 2}
    for one in flows:
        assert (one["pid"], one["tid"], one["ts"]) == ends[one["id"], one["ph"] == "s"]
        source, target = one["cat"].split("To")
        assert one["tid"] == (source if one["ph"] == "s" else target)


@pytest.mark.parametrize("text", SIMULATED)
def test_a_pipe_does_one_thing_at_a_time(text: str) -> None:
    lanes: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for process, lane, begin, end, name in bars(text):
        # SETs are drawn as their last cycle, WAITs and all others whole.
        if name != "BAR":
            lanes[process, lane].append((begin, end))
    for own in lanes.values():
        own.sort()
        for (_, end), (begin, _) in pairwise(own):
            assert begin > end - 1e-4 * NS - abs(end) * 2e-7


@pytest.mark.parametrize("text", [*SIMULATED, SLOWED])
def test_the_timeline_takes_as_long_as_the_instructions_say(text: str) -> None:
    file = written(text)
    frequency = file.truth["frequency"]
    cores = file.json(0x04)["Cores"]
    sums: dict[tuple[str, str], float] = defaultdict(float)
    counts: Counter[tuple[str, str]] = Counter()
    for one in events(text):
        if one["ph"] in "XB":
            counts[one["pid"], one["args"]["pc_addr"]] += 1
        if one["ph"] == "X" and one["name"] != "BAR":
            sums[one["pid"], one["args"]["pc_addr"]] += one["dur"] * frequency
    for row in file.json(0x04)["Instructions"]:
        for core, cycles, executed in zip(
            cores, row["Cycles"], row["Instructions Executed"], strict=True
        ):
            assert counts[core, row["Address"]] == executed
            if (core, row["Address"]) in sums:
                assert sums[core, row["Address"]] == pytest.approx(cycles, rel=1e-5)


@pytest.mark.parametrize("text", SIMULATED)
def test_lanes_and_cores_have_their_order(text: str) -> None:
    orders = [one for one in events(text) if one["ph"] == "M"]
    cores = {
        one["pid"]: one["args"]["sort_index"]
        for one in orders
        if one["name"] == "process_sort_index"
    }
    for core, order in cores.items():
        number, _, kind = core.removeprefix("core").partition(".")
        place = 1 if kind == "cubecore0" else 2 + int(kind[-1])
        assert order == int(number) * 3 + place
    lanes = [one for one in orders if one["name"] == "thread_sort_index"]
    assert {one["pid"] for one in lanes} == set(cores)
    used = {one["tid"] for one in events(text) if one["ph"] in "XB"}
    assert used <= {one["tid"] for one in lanes}


@pytest.mark.parametrize("text", [*SIMULATED, SLOWED])
def test_the_timeline_ends_when_the_task_does(text: str) -> None:
    file = written(text)
    last = max(end for *_, end, _ in bars(text))
    assert last * file.truth["frequency"] == pytest.approx(file.truth["task_cycles"], rel=1e-6)
    copied = max(end for *_, end, name in bars(text) if name.startswith(("MOV_OUT", "MOV_UB")))
    points = max(one["ts"] for one in events(text) if one["ph"] == "C")
    assert copied < points <= copied + 2


@pytest.mark.parametrize("text", [*SIMULATED, SLOWED])
def test_counters_hold_the_bytes_that_were_copied(text: str) -> None:
    truth = written(text).truth["paths"]
    moved: Counter[str] = Counter()
    values: dict[str, list[float]] = defaultdict(list)
    for one in events(text):
        if one["ph"] == "C":
            assert one["ts"] >= 1
            values[one["name"]].append(one["args"]["throughput(MB/s)"])
    for name, own in values.items():
        assert own[-1] == 0  # closes the lane
        moved[name] = round(sum(own) * (1 << 20) / 1e6)
    for one in events(text):
        if one["ph"] == "X" and "process_bytes" in one["args"]:
            size = int(one["args"]["process_bytes"])
            kind = {"MTE2": "GM_TO_TOTAL", "MTE3": "TOTAL_TO_GM"}.get(one["tid"])
            if kind:
                moved[kind] -= size
    assert moved["GM_TO_TOTAL"] == moved["TOTAL_TO_GM"] == 0
    assert truth


def test_double_buffers_let_copies_and_computation_overlap() -> None:
    busy = {}
    for buffers in (1, 2):
        tiling = f"tiling: {{buffers: {buffers}, elements: 4096}}"
        text = f"{VECTOR}\n{tiling}\ncapture: {{mode: simulator}}"
        own = [
            (begin, end, lane)
            for process, lane, begin, end, name in bars(text)
            if process == "core0.veccore0" and name not in (*SETS, *WAITS)
        ]
        copies = [(begin, end) for begin, end, lane in own if lane == "MTE2"]
        busy[buffers] = sum(
            max(0.0, min(end, other_end) - max(begin, other))
            for begin, end, lane in own
            if lane == "VECTOR"
            for other, other_end in copies
        )
    assert busy[1] == 0
    assert busy[2] > 0


def test_the_cube_works_on_a_tile_while_the_vectors_have_the_one_before() -> None:
    text = f"{MIX}\ncapture: {{mode: simulator}}"
    own = [one for one in bars(text) if one[0].startswith("core0.")]
    cube = [(begin, end) for _, lane, begin, end, name in own if name == "MMAD"]
    vector = [(begin, end) for _, lane, begin, end, name in own if name == "VLRELU"]
    assert min(begin for begin, _ in vector) < max(begin for begin, _ in cube)
    assert max(end for _, end in vector) > max(end for _, end in cube)


@pytest.mark.parametrize("text", [text for text in DEVICE if text != UNIFIED])
def test_blocks_of_the_device_lie_within_the_task(text: str) -> None:
    file = written(text)
    found = events(text)
    task = next(one for one in found if one["pid"] == "AI CORE")
    assert (task["ts"], task["dur"]) == (0.0, file.json(0x05)["duration"])
    lanes = {one["tid"] for one in found if one["ph"] == "M" and one["pid"] == "BLOCK"}
    blocks = [one for one in found if one["ph"] == "X" and one["pid"] == "BLOCK"]
    assert {one["tid"] for one in blocks} == lanes
    for one in blocks:
        assert 0 <= one["ts"] <= one["ts"] + one["dur"] <= task["dur"] * (1 + 1e-6)


def test_warps_have_lanes_of_their_own() -> None:
    warps = [one for one in events(GATHER) if one["ph"] == "X" and "warp_id" in one.get("args", {})]
    assert len(warps) == 2 * 16
    for one in warps:
        assert one["pid"] == f"warp.core{one['args']['core_id']}.veccore{one['args']['core_type']}"
        assert one["tid"] == f"Warp {one['args']['warp_id']}"
        assert one["dur"] > 0
    assert {one["ts"] for one in warps if one["args"]["warp_id"] == 0} == {0.0}


def test_310p_calls_its_flags_events() -> None:
    names = {one["name"] for one in events(f"{UNIFIED}\ncapture: {{mode: simulator}}")}
    assert {"set_event", "wait_event"} <= names
    assert not names & {"SET_FLAG", "WAIT_FLAG"}


def test_cores_of_a_950_set_flags_for_each_other() -> None:
    found = events(f"{NEAR}\ncapture: {{mode: simulator}}")
    crossing = [one for one in found if str(one.get("id", "")).startswith("intra_")]
    assert {one["ph"] for one in crossing} == set("BEst")
    sets = {one["id"]: one["pid"] for one in crossing if one["ph"] == "s"}
    waits = {one["id"]: one["pid"] for one in crossing if one["ph"] == "t"}
    assert all(sets[number] != waits[number] for number in sets)


def test_the_add_of_the_manual_looks_as_in_the_manual() -> None:
    """Copy in, compute, copy out: tile after tile on each pipe."""
    names = [
        name
        for _, lane, *_, name in sorted(
            bars(f"{ADD}\ncapture: {{mode: simulator}}"), key=lambda b: b[2]
        )
        if lane in ("MTE2", "VECTOR", "MTE3") and name not in (*SETS, *WAITS)
    ]
    counts = Counter(names)
    assert counts["MOV_OUT_TO_UB_ALIGN"] == 2 * counts["VADD"] == 2 * counts["MOV_UB_TO_OUT_ALIGN"]
    assert names[:2] == ["MOV_OUT_TO_UB_ALIGN"] * 2
