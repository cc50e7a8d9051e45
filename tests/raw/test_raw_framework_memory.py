"""Memory and garbage collection of torch_npu's raw files: bytes by hand, both ways, damage."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import framework_bytes as by_hand
import numpy as np
import pytest
from framework_bytes import PROCESS, mark, operator, tlv, unix, write_profile
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from plain_memory import Entry, Event, blocks_of, plain_memory
from plain_operators import PlainOperator
from slices import some

from ascend_ref.capture import Activities, Capture, Collections, MemoryBlocks, MemoryTotals
from ascend_ref.capture.kinds import ENTERS, LEAVES, OP, QUEUE
from ascend_ref.profile import write_pytorch_profile
from ascend_ref.raw.framework.allocator import Events, with_memory
from ascend_ref.raw.framework.read import read_profile
from ascend_ref.raw.framework.view import pytorch_view
from ascend_ref.raw.framework.write import write_framework
from ascend_ref.raw.moments import Moments
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN, Scenario, ScenarioError
from ascend_simulator.scenario.estimate import rows_per_rank
from ascend_simulator.strategies import scenarios
from ascend_spec import catalog

NEWEST = catalog().revisions[-1].id
MOST_ROWS = 20_000
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
MOMENTS = Moments(Fraction(100), Fraction(50), 1_000_000, 0, by_hand.COUNTER)
TAKEN, GIVEN_BACK, INACTIVE = range(3)
MAIN, CONSUMER = 1, 3
STREAM = 0xAAAA_0010


def event(
    time: int,
    kind: int,
    address: int,
    size: int,
    totals: tuple[int, int, int],
    *,
    component: int = 0,
    allocator: int = 0,
    device: tuple[int, int] = (20, 0),
    thread: int = MAIN,
) -> bytes:
    """A record of torch.memory_usage (data_reporter.cpp MemoryData::encode)."""
    head = (address, time, size, *totals, STREAM)
    rest = (*device, component, kind, allocator, thread, PROCESS)
    return tlv(3, struct.pack("<7q2b3B2Q", *head, *rest))


def collection(start: int, end: int, process: int = PROCESS) -> bytes:
    """A record of torch.gc_record."""
    return struct.pack("<3Q", process, start, end)


def read(profile: Path) -> tuple[dict[str, list[dict[str, Any]]], list[str], Capture]:
    found = read_profile(profile)
    lines = [str(one).removeprefix(f"{profile}/") for one in found.damage]
    return dict(plain_memory(found.capture)), lines, found.capture


OPERATORS = [
    operator("empty_tensor", 6_014, 6_020),
    operator("aten::add", 6_010, 6_030),
    operator("aclnnMatmul", 6_044, 6_048),
    operator("aten::matmul", 6_040, 6_050),
    operator("ProfilerStep#1", 6_000, 6_100),
]
MARKS = [
    mark(0, "aclnnMatmul", 6_045, 9, MAIN),
    mark(1, "aclnnMatmul", 6_046, 9, MAIN),
    mark(2, "aclnnMatmul", 6_051, 9, CONSUMER),
    mark(3, "aclnnMatmul", 6_059, 9, CONSUMER),
]
A, B, C, W = 0x1000, 0x2000, 0x3000, 0x9000
EVENTS = [
    event(6_001, INACTIVE, C, -512, (512, 4096, 512)),
    event(6_002, GIVEN_BACK, C, -512, (512, 4096, 512)),
    event(6_016, TAKEN, A, 1024, (1536, 4096, 1536)),
    event(6_025, TAKEN, B, 2048, (3584, 4096, 3584)),
    event(6_035, GIVEN_BACK, A, -1024, (2560, 4096, 3584)),
    event(6_036, INACTIVE, A, -1024, (2560, 4096, 2560)),
    event(6_037, TAKEN, A, 1024, (3584, 4096, 3584)),
    event(6_038, INACTIVE, A, -1024, (2560, 4096, 2560)),
    event(6_039, GIVEN_BACK, 7, -1, (0, 0, 0), device=(0, 0)),
    event(6_055, TAKEN, W, 8192, (8192, 8192, 8192), component=1, thread=CONSUMER),
    event(6_058, GIVEN_BACK, W, -8192, (0, 8192, 0), component=1, thread=CONSUMER),
    event(6_120, TAKEN, 5, 4, (2564, 4096, 2564), allocator=1),
    event(6_130, TAKEN, C, 512, (3076, 4096, 3076)),
]
FILES = {"op_range": OPERATORS, "op_mark": MARKS, "memory_usage": EVENTS}


def block(name: str, size: int, *times: int, **totals: tuple[int, int, int]) -> dict[str, Any]:
    """times: taken, given back, inactive, -1 for what did not happen."""
    kinds = ("allocated", "reserved", "active")
    moments = [unix(one) if one >= 0 else -1 for one in times]
    found: dict[str, Any] = {"name": name, "size": size}
    found |= dict(zip(("allocated", "released", "inactive"), moments, strict=True))
    found |= dict(zip((f"total_{kind}" for kind in kinds), totals["at"], strict=True))
    release = totals.get("over", (-1, -1, -1))
    found |= dict(zip((f"release_total_{kind}" for kind in kinds), release, strict=True))
    return found | {"stream": STREAM, "device": 0}


def test_events_are_read_as_they_were_written(tmp_path: Path) -> None:
    found, damage, _ = read(write_profile(tmp_path, FILES))
    assert damage == []
    assert found["memory_blocks"] == [
        block(
            *("aten::add", 1024, 6_016, 6_035, 6_036),
            at=(1536, 4096, 1536),
            over=(2560, 4096, 3584),
        ),
        block("aten::add", 2048, 6_025, -1, -1, at=(3584, 4096, 3584)),
        block(
            *("ProfilerStep#1", 1024, 6_037, -1, 6_038),
            at=(3584, 4096, 3584),
            over=(2560, 4096, 2560),
        ),
        block(
            *("aten::matmul", 8192, 6_055, 6_058, -1),
            at=(8192, 8192, 8192),
            over=(0, 8192, 0),
        ),
        block("", 512, 6_130, -1, -1, at=(3076, 4096, 3076)),
    ]
    totals = found["memory_totals"]
    assert len(totals) == len(EVENTS) - 1
    assert Counter(one["component"] for one in totals) == {"PTA": 10, "WORKSPACE": 2}
    assert totals[0] == {
        "component": "PTA",
        "time": unix(6_001),
        "allocated": 512,
        "reserved": 4096,
        "active": 512,
        "stream": STREAM,
        "device": 0,
    }
    assert totals[-2]["allocated"] == 2564


def test_without_operators_there_are_totals_and_no_blocks(tmp_path: Path) -> None:
    found, damage, _ = read(write_profile(tmp_path, {"memory_usage": EVENTS}))
    assert damage == []
    assert found["memory_blocks"] == []
    assert len(found["memory_totals"]) == len(EVENTS) - 1


def test_collections_are_read_as_they_were_written(tmp_path: Path) -> None:
    runs = [collection(6_000, 6_400), collection(6_900, 6_900, 77)]
    found, damage, _ = read(write_profile(tmp_path, {"gc_record": runs}))
    assert damage == []
    assert found["collections"] == [
        {"start": unix(6_000), "end": unix(6_400), "thread": PROCESS},
        {"start": unix(6_900), "end": unix(6_900), "thread": 77},
    ]


def unpacked(file: Path) -> list[tuple[int, ...]]:
    content = file.read_bytes()
    assert len(content) % 83 == 0
    records = [content[at : at + 83] for at in range(0, len(content), 83)]
    assert {one[:6] for one in records} <= {struct.pack("<HI", 3, 77)}
    return [struct.unpack("<7q2b3B2Q", one[6:]) for one in records]


def test_what_is_read_is_written_as_the_adapter_does(tmp_path: Path) -> None:
    """Times, sizes, totals and kinds; addresses are equal where they were, and new ones else."""
    files = {**FILES, "gc_record": [collection(6_000, 6_400)]}
    _, _, capture = read(write_profile(tmp_path, files))
    write_framework(tmp_path / "FRAMEWORK", capture, MOMENTS)
    own = [one for place, one in enumerate(EVENTS) if place not in (8, 11)]
    expected = [struct.unpack("<7q2b3B2Q", one[6:]) for one in own]
    found = unpacked(tmp_path / "FRAMEWORK" / "torch.memory_usage")
    foreign = found.pop(10)
    assert foreign[1:12] == struct.unpack("<7q2b3B2Q", EVENTS[11][6:])[1:12]
    # Of a return with which the files begin, no total shows how much it was.
    for one, other in zip(found[:2], expected[:2], strict=True):
        assert one[1:2] + one[3:12] == other[1:2] + other[3:12]
    assert found[0][0] == found[1][0]
    assert [one[1:] for one in found[2:]] == [one[1:] for one in expected[2:]]
    blocks = [(2, 4, 5), (3,), (6, 7), (8, 9), (10,)]
    addresses = [{found[place][0] for place in one} for one in blocks]
    assert [len(one) for one in addresses] == [1] * 5
    assert len(set.union(*addresses)) == 5
    written = (tmp_path / "FRAMEWORK" / "torch.gc_record").read_bytes()
    assert written == collection(6_000, 6_400)


# --- captures both ways ---------------------------------------------------------------------------


@cache
def preset(name: str) -> Capture:
    scenario = RUN.preset(name)
    switches = replace(scenario.capture, memory=True, gc=True)
    return simulate(replace(scenario, capture=switches)).capture(0)


def require_both_ways(folder: Path, capture: Capture) -> None:
    """Every block, total and run comes back, as the view states and as it was but for its clock."""
    held, lost = pytorch_view(capture)
    profile = write_pytorch_profile(folder, capture, NEWEST, ("raw",))
    found = read_profile(profile)
    assert found.damage == []
    assert plain_memory(found.capture) == plain_memory(held)
    assert not [phrase for phrase in lost if "memory" in phrase or "collector" in phrase]
    before, after = plain_memory(capture), plain_memory(found.capture)
    for table, rows in before.items():
        # What two components did within one tick stands in any order, of each of them in its own.
        by_component = (sorted(one, key=component_of) for one in (rows, after[table]))
        for one, other in zip(*by_component, strict=True):
            assert {name: near(value, other[name]) for name, value in one.items()} == other


def ticks_between(activities: Activities) -> float:
    """The fewest ticks of a clock of 100 MHz between the starts of two activities of a thread."""
    order = np.lexsort((activities.start, activities.thread))
    same = np.diff(activities.thread[order]) == 0
    return float(np.min(np.diff(activities.start[order])[same] / 10, initial=np.inf))


def component_of(row: Mapping[str, Any]) -> str:
    return str(row.get("component"))


def near(value: Any, other: Any) -> Any:
    """The other value where both are the same moment by a clock of 100 MHz."""
    late = isinstance(value, int) and value > 1 << 60 and abs(value - other) <= 5
    return other if late else value


@pytest.mark.parametrize(
    "name",
    some(["cnn-910b", "cnn-910a", "dense-8", "recommendation", "edge-310b", "moe-8"], every=3),
)
def test_memory_of_a_preset_comes_back(name: str, tmp_path: Path) -> None:
    require_both_ways(tmp_path, preset(name))
    assert len(preset(name).memory_blocks)


@settings(max_examples=3, deadline=None, suppress_health_check=QUIET)
@given(scenario=scenarios(max_ranks=1, max_steps=3, max_faults=1), seed=st.integers(0, 1 << 32))
def test_memory_of_any_product_comes_back(
    scenario: Scenario, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assume(rows_per_rank(scenario) * scenario.parallelism.ranks < MOST_ROWS)
    switches = replace(scenario.capture, memory=True, gc=True, cpu=True)
    try:
        capture = simulate(replace(scenario, capture=switches), seed).capture(0)
    except ScenarioError:
        assume(False)
    assume(capture.origin.end is not None or capture.switches.npu)
    assume(len(capture.memory_blocks) and len(capture.activities))  # not what a fault lost
    assume(ticks_between(capture.activities) > 1)  # else either may have taken a block
    require_both_ways(tmp_path_factory.mktemp("raw"), capture)


def test_what_is_not_held_is_stated() -> None:
    capture = preset("cnn-910b")
    blocks, totals = capture.memory_blocks, capture.memory_totals
    names = blocks.name.copy()
    names[:3] = capture.texts.number("nobody's")
    moved = totals.time.copy()
    at = np.flatnonzero(totals.time == blocks.allocated[5])
    moved[at] += 1_000_000_000
    renamed = replace(capture, memory_blocks=replace(blocks, name=names))
    _, lost = pytorch_view(renamed)
    assert "3 names of blocks of memory, which no operator explains" in lost
    _, lost = pytorch_view(replace(capture, memory_totals=replace(totals, time=moved)))
    assert "1 blocks of memory" in lost
    elsewhere = Collections(*(np.array([one]) for one in (totals.time[0], totals.time[1], 1)))
    _, lost = pytorch_view(replace(capture, collections=elsewhere))
    assert "the thread of 1 runs of the garbage collector" in lost
    without = replace(capture, memory_blocks=MemoryBlocks.empty())
    held, lost = pytorch_view(without)
    assert not [phrase for phrase in lost if "memory" in phrase]
    assert len(held.memory_blocks) == 0
    assert len(held.memory_totals) == len(totals)
    bare = replace(capture, memory_totals=MemoryTotals.empty())
    held, lost = pytorch_view(bare)
    assert f"{len(blocks):,} blocks of memory" in lost


def test_totals_of_the_engine_come_after_those_of_the_framework() -> None:
    capture = preset("cnn-910b")
    engine = capture.workspace_events
    totals = capture.memory_totals
    first = totals.take(totals.component == capture.texts.number("PTA")).take(np.arange(1))
    moved = engine.time.copy()
    moved[0] = first.time[0]
    made = replace(capture, workspace_events=replace(engine, time=moved))
    found = plain_memory(pytorch_view(made).capture)["memory_totals"]
    places = [one["component"] for one in found if one["time"] == found[0]["time"]]
    assert places[:2] == ["PTA", "GE"]


# --- against one that goes event by event ---------------------------------------------------------


@st.composite
def hosts(draw: st.DrawFn) -> tuple[list[PlainOperator], list[Entry], list[Event]]:
    moments = st.integers(0, 60)
    names = st.sampled_from(["aten::a", "npu::b", "c", "empty_tensor", "malloc_workspace"])
    threads = st.integers(1, 3)
    operators = [
        PlainOperator(start, start + draw(st.integers(0, 30)), draw(threads), draw(names))
        for start in sorted(draw(st.lists(moments, max_size=8, unique=True)))
    ]
    entries = []
    leaving = sorted(draw(st.lists(moments, max_size=3, unique=True)))
    for link, start in enumerate(leaving):
        begin = draw(moments)
        end = begin + draw(st.integers(0, 5))
        length = draw(st.integers(0, 20))
        thread = draw(st.integers(3, 4))
        entries.append(Entry((begin, end), draw(threads), (start, start + length), thread, link))
    events = [
        Event(
            time=draw(moments),
            kind=draw(st.integers(0, 2)),
            address=draw(st.integers(1, 3)),
            size=draw(st.integers(-9, 9)),
            totals=(place, place + 1, place + 2),
            thread=draw(st.integers(1, 4)),
            component=draw(st.integers(0, 1)),
            inner=draw(st.integers(0, 4)) > 0,
        )
        for place in range(draw(st.integers(0, 12)))
    ]
    return operators, entries, events


def columns_of(events: list[Event]) -> Events:
    ordered = sorted(events, key=lambda one: one.time)
    rows = [
        (
            *(one.time, one.component, one.kind, int(not one.inner), one.address, one.size),
            *(*one.totals, one.stream, one.device, one.thread),
        )
        for one in ordered
    ]
    return Events(*np.array(rows, np.int64).reshape(-1, 12).T)


def host_of(base: Capture, operators: list[PlainOperator], entries: list[Entry]) -> Capture:
    texts = base.texts.copy()
    rows = [(one.start, one.end, one.thread, OP, 0, one.name, -1) for one in operators]
    for one in entries:
        rows.append((*one.entering, one.entering_thread, QUEUE, ENTERS, "x", one.link))
        rows.append((*one.leaving, one.leaving_thread, QUEUE, LEAVES, "x", one.link))
    start, end, thread, kind, queue, name, link = zip(*rows, strict=True) if rows else [()] * 7
    numbers = [np.array(one, np.int64) for one in (start, end, thread, kind, queue, link)]
    activities = Activities.filled(
        len(rows),
        **dict(zip(("start", "end", "thread", "kind", "queue", "link"), numbers, strict=True)),
        name=texts.numbers(name),
    )
    return replace(base, activities=activities, texts=texts)


@settings(max_examples=133, deadline=None)
@given(hosts())
def test_blocks_are_those_of_an_analysis_that_goes_event_by_event(
    drawn: tuple[list[PlainOperator], list[Entry], list[Event]],
) -> None:
    operators, entries, events = drawn
    base = preset("edge-310b")
    bare = Capture(replace(base.origin, devices=(0,)), base.switches, base.texts)
    found = with_memory(host_of(bare, operators, entries), columns_of(events))
    assert plain_memory(found)["memory_blocks"] == blocks_of(events, operators, entries)
    assert len(found.memory_totals) == len(events)


# --- damage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "damage"),
    [
        (event(6_140, 3, A, 1, (1, 1, 1)), "1 events of an unknown kind; expected 0, 1 or 2"),
        (event(-5, TAKEN, A, 1, (1, 1, 1)), "1 records whose times no clock shows"),
        (event(6_140, TAKEN, A, 1, (1, 1, 1))[:-1], "the last 82 bytes are no whole record"),
        (tlv(3, b"short"), "a record of 5 bytes; expected at least 77"),
        (tlv(2, bytes(77)), "tag 2; expected 3"),
    ],
)
def test_damage_of_events(record: bytes, damage: str, tmp_path: Path) -> None:
    files = {**FILES, "memory_usage": [*EVENTS, record]}
    found, lines, _ = read(write_profile(tmp_path, files))
    assert len(lines) == 1
    assert damage in lines[0]
    assert lines[0].startswith("FRAMEWORK/torch.memory_usage")
    assert len(found["memory_blocks"]) == 5


def test_damage_of_collections(tmp_path: Path) -> None:
    runs = [collection(6_000, 6_400), collection(1 << 63, 7), b"rest"]
    found, lines, _ = read(write_profile(tmp_path, {"gc_record": runs}))
    assert len(found["collections"]) == 1
    assert sorted(line.rpartition(": ")[2] for line in lines) == [
        "1 records whose times no clock shows",
        "the last 4 bytes are no whole record",
    ]


@settings(max_examples=20, deadline=None, suppress_health_check=QUIET)
@given(content=st.binary(max_size=400), shift=st.integers(0, 82))
def test_any_bytes_are_read(
    content: bytes, shift: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plain = b"".join(EVENTS)
    places = [plain[:shift] + content, content, tlv(3, (content + bytes(77))[:77])]
    for one in places:
        profile = write_profile(tmp_path_factory.mktemp("any"), {**FILES, "memory_usage": [one]})
        found = read_profile(profile).capture
        assert len(found.memory_blocks) <= len(found.memory_totals)
