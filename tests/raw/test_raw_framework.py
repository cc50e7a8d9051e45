"""torch_npu's own raw files: bytes written by hand, captures both ways, damage."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import framework_bytes as by_hand
import numpy as np
import pytest
from framework_bytes import function, function_name, mark, operator, unix, write_profile
from framework_tables import plain_framework, read
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from plain_capture import plain
from slices import some

from ascend_ref.capture import Activities, Capture, HostCalls, Origin, Switches, Texts
from ascend_ref.capture.kinds import NODE, OP, QUEUE
from ascend_ref.derive.launches import launches
from ascend_ref.profile import write_pytorch_profile
from ascend_ref.raw.encode.write import write_raw
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


# --- bytes written by hand ------------------------------------------------------------------------


def test_operators_are_read_as_they_were_written(tmp_path: Path) -> None:
    inner = operator(
        "aten::add", 6_010, 6_020, sequence=7, texts={3: "float;Scalar", 4: "2,3;", 8: "f;g"}
    )
    backward = operator("AddBackward0", 6_040, 6_050, 2, sequence=7, forward=1)
    step = operator("ProfilerStep#12", 6_000, 6_100)
    found, damage, capture = read(write_profile(tmp_path, {"op_range": [inner, backward, step]}))
    assert damage == []
    assert [one["name"] for one in found["activities"]] == [
        "ProfilerStep#12",
        "aten::add",
        "AddBackward0",
    ]
    assert found["activities"][1] == {
        "start": unix(6_010),
        "end": unix(6_020),
        "thread": 1,
        "kind": 50001,
        "queue": 0,
        "name": "aten::add",
        "sequence": 7,
        "forward_thread": 0,
        "data_types": "float;\r\nScalar",
        "shapes": "2,3;\r\n",
        "stack": 0,
        "link": 0,
    }
    assert [one["link"] for one in found["activities"]] == [-1, 0, 0]
    assert found["frames"] == [
        {"stack": 0, "depth": 0, "frame": "f"},
        {"stack": 0, "depth": 1, "frame": "g"},
    ]
    assert found["steps"] == [{"number": 12, "start": unix(6_000), "end": unix(6_100)}]
    origin, switches = capture.origin, capture.switches
    assert (origin.rank, origin.pid, origin.host_name) == (3, by_hand.PROCESS, "node1")
    assert (origin.start, origin.end) == (unix(5_000), by_hand.BASE + 9_000_000)
    assert (switches.cpu, switches.npu, switches.stack, switches.memory) == (1, 0, 1, 0)


def test_ticks_may_be_nanoseconds_of_the_monotonic_clock(tmp_path: Path) -> None:
    info = by_hand.information(start_info={"syscnt_enable": False, "start_monotonic": 1_000_000})
    profile = write_profile(tmp_path, {"op_range": [operator("a", 2_000_000, 2_000_007)]}, info)
    found, _, _ = read(profile)
    (row,) = found["activities"]
    assert (row["start"], row["end"]) == (by_hand.BASE + 2_000_000, by_hand.BASE + 2_000_007)


def test_marks_of_one_thread_and_name_are_an_entry(tmp_path: Path) -> None:
    """An end belongs to the start just before it; others are dropped (get_task_queue_data)."""
    marks = [
        mark(0, "aclnnAdd", 6_000, 8, 1),
        mark(0, "aclnnMul", 6_001, 9, 2),
        mark(1, "aclnnAdd", 6_002, 8, 1),
        mark(2, "aclnnAdd", 6_003, 8, 3),
        mark(1, "aclnnMul", 6_004, 9, 2),
        mark(3, "aclnnAdd", 6_009, 8, 3),
        mark(2, "aclnnMul", 6_010, 9, 3),
        mark(2, "aclnnMul", 6_011, 9, 3),
        mark(3, "aclnnMul", 6_012, 9, 3),
        mark(3, "aclnnMul", 6_013, 9, 3),
    ]
    found, damage, _ = read(write_profile(tmp_path, {"op_mark": marks}))
    rows = [
        tuple(one[key] for key in ("queue", "name", "start", "end", "thread", "link"))
        for one in found["activities"]
    ]
    assert rows == [
        (1, "aclnnAdd", unix(6_000), unix(6_002), 1, 0),
        (1, "aclnnMul", unix(6_001), unix(6_004), 2, 1),
        (2, "aclnnAdd", unix(6_003), unix(6_009), 3, 0),
        (2, "aclnnMul", unix(6_011), unix(6_012), 3, 1),
    ]
    assert damage == ["FRAMEWORK/torch.op_mark: 2 marks of the queue without their other end"]


def test_functions_are_calls_with_their_returns(tmp_path: Path) -> None:
    names = [
        function_name(1, "main.py(3): train"),
        function_name(2, "Linear######140001"),
        function_name(3, "Linear######140002"),
        function_name(4, "<built-in method add>"),
        function_name(9, "__torch_npu_profiler_python_tracer_exit"),
    ]
    events = [
        function(1, 9, 5_999),  # the return of a function that began before
        function(0, 1, 6_000),
        function(0, 3, 6_010),
        function(2, 4, 6_011),
        function(3, 9, 6_013),
        function(1, 9, 6_020),
        function(0, 2, 6_030, 5),
        function(0, 2, 6_040),
        function(1, 9, 6_041),
        function(0, 3, 6_050),
        function(0, 7, 6_060),
    ]
    files = {"python_tracer_func": events, "python_tracer_hash": names}
    found, damage, _ = read(write_profile(tmp_path, files))
    rows = [
        tuple(one[key] for key in ("name", "start", "end", "thread")) for one in found["activities"]
    ]
    assert rows == [
        ("main.py(3): train", unix(6_000), unix(6_060), 1),
        ("nn.Module: Linear_0", unix(6_010), unix(6_020), 1),
        ("<built-in method add>", unix(6_011), unix(6_013), 1),
        ("nn.Module: Linear_0", unix(6_030), unix(6_030), 5),
        ("nn.Module: Linear_1", unix(6_040), unix(6_041), 1),
        ("nn.Module: Linear_0", unix(6_050), unix(6_060), 1),
        ("7", unix(6_060), unix(6_060), 1),
    ]
    assert damage == [
        "FRAMEWORK/torch.python_tracer_func: 1 ends of functions without their start",
        "FRAMEWORK/torch.python_tracer_hash: 1 functions have no name; "
        "they are shown by their hashes",
    ]


def _written(folder: Path, capture: Capture) -> dict[str, bytes]:
    write_framework(folder / "FRAMEWORK", capture)
    return {one.name: one.read_bytes() for one in (folder / "FRAMEWORK").iterdir()}


def test_what_is_read_is_written_as_the_adapter_does(tmp_path: Path) -> None:
    """Operators and marks byte for byte, in the order of their ends and of time."""
    by_end = [
        operator("aten::add", 6_010, 6_020, sequence=7, texts={3: "float", 4: "2,3", 8: "f;g"}),
        operator("ProfilerStep#1", 6_000, 6_100),
    ]
    marks = [
        mark(0, "aclnnAdd", 6_011, 0, 1),
        mark(1, "aclnnAdd", 6_012, 0, 1),
        mark(2, "aclnnAdd", 6_013, 0, 3),
        mark(3, "aclnnAdd", 6_014, 0, 3),
    ]
    profile = write_profile(tmp_path, {"op_range": by_end, "op_mark": marks})
    _, _, capture = read(profile)
    moments = Moments(Fraction(100), Fraction(50), 1_000_000, 0, by_hand.COUNTER)
    write_framework(tmp_path / "FRAMEWORK", capture, moments)
    for name, records in (("op_range", by_end), ("op_mark", marks)):
        content = bytearray((tmp_path / "FRAMEWORK" / f"torch.{name}").read_bytes())
        if name == "op_range":
            # The kind of the operator of a step, which the handwritten record leaves open.
            content[len(by_end[0]) + 6 + 56] = 0
        assert bytes(content) == b"".join(records)


# --- launches -------------------------------------------------------------------------------------


def _linked(capture: Capture) -> set[tuple[int, int, str, int]]:
    rows, texts = capture.activities.take(capture.links.activity), capture.texts.all
    columns = (rows.start, rows.end, rows.name, capture.links.connection)
    return {
        (start // 10, end // 10, texts[name], connection)
        for start, end, name, connection in zip(*(one.tolist() for one in columns), strict=True)
    }


@pytest.mark.parametrize("name", ["dense-8", "observed-everything", "cnn-910a", "llm-inference"])
def test_launches_are_those_that_operators_were_simulated_with(name: str) -> None:
    """The simulator knows them from its program, not from times."""
    capture = preset(name)
    derived = replace(capture, links=launches(capture))
    assert len(capture.links)
    assert _linked(derived) == _linked(capture)


@st.composite
def _hosts(draw: st.DrawFn) -> Capture:
    """Operators, entries of the queue and launches at any times."""

    def interval() -> tuple[int, int]:
        start = draw(st.integers(0, 12))
        return start, start + draw(st.integers(0, 8))

    texts = Texts(["launch", "aten::add", "mstx_mark_op", "other"])
    rows = []
    for _ in range(draw(st.integers(0, 6))):
        name = draw(st.sampled_from([1, 1, 2]))
        rows.append((*interval(), draw(st.integers(1, 2)), OP, 0, name, -1))
    for _ in range(draw(st.integers(0, 3))):
        side, link = draw(st.integers(1, 2)), draw(st.integers(0, 2))
        rows.append((*interval(), draw(st.integers(1, 2)), QUEUE, side, 3, link))
    calls = [
        (*interval(), draw(st.sampled_from([NODE, 20000])), draw(st.integers(1, 2)))
        for _ in range(draw(st.integers(0, 4)))
    ]
    start, end, thread, kind, queue, name, link = np.array(rows, np.int64).reshape(-1, 7).T
    calls_at = np.array(calls, np.int64).reshape(-1, 4).T
    return Capture(
        Origin(0, 1, (0,), "Ascend910B", 1, "host", 1, 0, 100),
        Switches(),
        texts,
        activities=Activities.filled(
            len(rows),
            start=start, end=end, thread=thread, kind=kind, queue=queue, name=name, link=link,
        ),
        calls=HostCalls(
            calls_at[0], calls_at[1], calls_at[2], calls_at[3],
            np.arange(len(calls)) + 70, np.zeros(len(calls), np.int64),
        ),
    )  # fmt: skip


@settings(deadline=None)
@given(capture=_hosts())
def test_launches_belong_to_the_innermost_operator(capture: Capture) -> None:
    """By brute force: the operator that begins last, and of those the one that ends first."""
    rows = [dict(zip(row, values, strict=True)) for row, values in _rows(capture.activities)]
    calls = [dict(zip(row, values, strict=True)) for row, values in _rows(capture.calls)]

    def around(inner: dict[str, int], outer: list[int]) -> int | None:
        found = [
            place
            for place in outer
            if rows[place]["thread"] == inner["thread"]
            and rows[place]["start"] < inner["start"]
            and rows[place]["end"] > inner["end"]
        ]
        last = [(rows[one]["start"], -rows[one]["end"], one) for one in found]
        return max(last)[2] if last else None

    operators = [at for at, one in enumerate(rows) if one["kind"] == OP and one["name"] == 1]
    entries = {side: [at for at, one in enumerate(rows) if one["queue"] == side] for side in (1, 2)}
    expected = set()
    for call in calls:
        inner: dict[str, int] | None = call
        if call["level"] != NODE:
            continue
        if entries[1] and entries[2]:
            out = around(call, entries[2])
            same = [
                at for at in entries[1] if out is not None and rows[at]["link"] == rows[out]["link"]
            ]
            inner = rows[same[0]] if same else None
        operator_row = None if inner is None else around(inner, operators)
        if operator_row is not None:
            expected.add((operator_row, call["connection"]))
    found = launches(capture)
    pairs = zip(found.activity.tolist(), found.connection.tolist(), strict=True)
    assert set(pairs) == expected


def _rows(batch: Activities | HostCalls) -> list[tuple[list[str], tuple[int, ...]]]:
    columns = {name: values.tolist() for name, values in batch.columns()}
    return [(list(columns), row) for row in zip(*columns.values(), strict=True)]


# --- captures both ways ---------------------------------------------------------------------------


@cache
def preset(name: str) -> Capture:
    return simulate(RUN.preset(name)).capture(0)


def require_both_ways(folder: Path, capture: Capture) -> None:
    """Every table of the view comes back, without damage."""
    held = pytorch_view(capture).capture
    profile = write_pytorch_profile(folder, capture, NEWEST, ("raw",))
    found = read_profile(profile)
    assert found.damage == []
    assert plain_framework(found.capture) == plain_framework(held)
    assert plain(found.capture) == plain(held)
    assert replace(found.capture.origin, scheduled=None) == replace(held.origin, scheduled=None)


@pytest.mark.parametrize(
    "name",
    some(["dense-8", "observed-everything", "text-museum", "troubled", "edge-310b"], every=2),
)
def test_a_preset_comes_back(name: str, tmp_path: Path) -> None:
    require_both_ways(tmp_path, preset(name))
    assert len(preset(name).activities)


def _drawn(folder: Path, scenario: Scenario) -> None:
    assume(rows_per_rank(scenario) * scenario.parallelism.ranks < MOST_ROWS)
    try:
        capture = simulate(scenario).capture(0)
    except ScenarioError:
        assume(False)
    assume(capture.origin.end is not None or capture.switches.npu)
    try:
        require_both_ways(folder, capture)
    except ValueError as problem:
        assume("the framework's profiler has no other" not in str(problem))
        raise


@settings(max_examples=2, deadline=None, suppress_health_check=QUIET)
@given(scenario=scenarios(max_ranks=1, max_steps=2, max_faults=2))
def test_any_product_switches_and_faults_come_back(
    scenario: Scenario, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _drawn(tmp_path_factory.mktemp("drawn"), scenario)


@pytest.mark.campaign
@settings(max_examples=120, deadline=None, suppress_health_check=QUIET)
@given(scenario=scenarios(max_ranks=2, max_steps=3, max_faults=3))
def test_many_products_switches_and_faults_come_back(
    scenario: Scenario, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _drawn(tmp_path_factory.mktemp("drawn"), scenario)


@settings(max_examples=2, deadline=None, suppress_health_check=QUIET)
@given(
    host=st.sampled_from([24, 25, Fraction(625, 10), 1000]),
    monotonic=st.integers(10**6, 10**12).map(lambda microseconds: microseconds * 1000),
    counter=st.integers(1, 1 << 45),
)
def test_any_clock_counts(
    host: int, monotonic: int, counter: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    moments = Moments(Fraction(host), Fraction(50), monotonic, 100_000, counter)
    held = pytorch_view(preset("observed-everything"), moments).capture
    profile = tmp_path_factory.mktemp("clock") / "a_1_20260101170000000_ascend_pt"
    profile.mkdir()
    write_raw(profile / "PROF_1", held, moments)
    write_framework(profile / "FRAMEWORK", held, moments)
    start = {"syscnt_enable": host != 1000, "freq": float(Fraction(host))}
    info = by_hand.information(start_info=start)
    info["config"]["common_config"]["activities"].append("ProfilerActivity.NPU")
    (profile / "profiler_info_0.json").write_text(json.dumps(info))
    found = read_profile(profile)
    assert found.damage == []
    assert plain_framework(found.capture) == plain_framework(held)


# --- what is exported -----------------------------------------------------------------------------
