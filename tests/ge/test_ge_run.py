"""Graphs that are executed: what the device notes becomes the step trace, by the documents."""

from __future__ import annotations

import csv
import json
import os
import struct
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from ge_graphs import documents, training
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from ascend_ref.cli import main
from ascend_ref.ge.trace import Asked, insert
from ascend_ref.ge.trace.document import graph_of
from ascend_ref.raw.decode.read import read_raw
from ascend_ref.raw.iterations import Points, iterations_of
from ascend_simulator.choices import ProductName
from ascend_simulator.ge.execute import Run, execute
from ascend_simulator.ge.record import write_run

Row = dict[str, Any]
CHECKOUT = os.environ.get("ASCEND_REF_MSPROF")
TICK = 20
"""ns of the clock of a simulated device, 50 MHz."""


def run_of(document: Row, iterations: int = 3, seed: int = 0, **asked: Any) -> Run:
    return execute(insert(graph_of(document), Asked(**asked)), iterations, seed, 1_000_000, 1)


def rows_of(points: Points) -> list[tuple[int, int, int, int, int]]:
    """Model, index, tag, stream and time of each point, in order of time."""
    return list(zip(*(one.tolist() for one in points), strict=True))


def written(tmp_path: Path, document: Row, product: ProductName = "A2", **asked: Any) -> Path:
    return write_run(insert(graph_of(document), Asked(**asked)), tmp_path, 3, 0, product)


def records(profile: Path) -> list[tuple[int, ...]]:
    """Records of steps in ts_track: index, model, stream, tag and ticks, by ge-profiling 3.3."""
    (path,) = (profile / "device_0" / "data").glob("ts_track.data.0.slice_0")
    content = path.read_bytes()
    assert len(content) % 40 == 0
    found = []
    for at in range(0, len(content), 40):
        mode, kind, size, _, *rest = struct.unpack_from("<BBHIQQQHHHH", content, at)
        if kind == 10:
            assert (mode, size) == (1, 40)
            ticks, index, model, *last = rest
            found.append((index, model, *last[:3], ticks))
    return found


# --- what is noted --------------------------------------------------------------------------------


def test_g100_to_g104_tasks_run_on_their_streams_in_the_order_of_the_list() -> None:
    document = training()
    insertion = insert(graph_of(document), Asked())
    run = execute(insertion, 1, 7, 1_000_000, 1)
    by_stream: dict[int, list[int]] = defaultdict(list)
    for task in insertion.inserted():
        by_stream[task.node.stream].append(task.number)
    noted: dict[int, list[int]] = defaultdict(list)
    for _, _, tag, stream, _ in rows_of(run.points):
        if tag > 1:
            noted[stream].append(tag)
    assert noted == by_stream
    assert noted == {0: [2, 3, 10000, 10001, 4], 1: [20000, 20001]}


def test_nodes_wait_for_what_comes_in() -> None:
    document = training()
    run = run_of(document, 1)
    columns = (run.tasks.node.tolist(), run.tasks.start.tolist(), run.tasks.end.tolist())
    times = {node: (start, end) for node, start, end in zip(*columns, strict=True)}
    for node in document["nodes"]:
        for source in [edge[0] for edge in node.get("inputs", [])] + node.get("control", []):
            assert times[source][1] <= times[node["id"]][0]


def test_the_same_seed_gives_the_same_run_and_another_one_another() -> None:
    assert rows_of(run_of(training(), seed=1).points) == rows_of(run_of(training(), seed=1).points)
    assert rows_of(run_of(training(), seed=1).points) != rows_of(run_of(training(), seed=2).points)


def test_the_host_counts_iterations_and_a_loaded_model_does_not() -> None:
    """ge-profiling 3.3: tags 0 and 1 carry the number of the step, all others 1."""
    found = rows_of(run_of(training(), 3).points)
    assert [index for _, index, tag, _, _ in found if tag == 0] == [1, 2, 3]
    assert [index for _, index, tag, _, _ in found if tag == 1] == [1, 2, 3]
    assert {index for _, index, tag, _, _ in found if tag > 1} == {1}


def test_a_loop_on_the_device_is_one_execution_with_many_iterations() -> None:
    document = training()
    document["need_iteration"] = True
    document["nodes"][-1]["name"] = "FlowCtrl_LoopCond_ASSIGN"
    tags = [tag for _, _, tag, _, _ in rows_of(run_of(document, 4).points)]
    assert (tags.count(0), tags.count(1), tags.count(4)) == (1, 1, 4)
    table = iterations_of(run_of(document, 4).points).records["step_trace"]
    assert table["iteration"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("executor", "dynamic", "tags"),
    [
        ("static", False, {0, 1, 2, 3, 4, 10000, 10001, 20000, 20001}),
        ("queues", False, {0, 1}),
        ("hybrid", True, {0, 1, 2, 3, 4, 10000, 10001}),
        ("v2", True, {0, 1, 2, 3, 10000, 10001, 20000, 20001}),
    ],
)
def test_q3_to_q6_each_executor_notes_its_points(
    executor: str, dynamic: bool, tags: set[int]
) -> None:
    """ge-profiling 3.2, Q3 to Q6: hybrid no GetNext, v2 never 4, queues nothing inserted."""
    document = training() | {"dynamic": dynamic}
    assert {tag for _, _, tag, _, _ in rows_of(run_of(document, executor=executor).points)} == tags
    inserted = insert(graph_of(document), Asked(reading="documented", executor=executor))
    assert all(one.noted for one in inserted.inserted())
    assert [one.number for one in inserted.inserted()] == [2, 20000, 20001, 10000, 3, 10001, 4]


# --- the step trace -------------------------------------------------------------------------------


def machine(points: list[tuple[int, int, int, int, int]]) -> dict[str, list[tuple[int, ...]]]:
    """ge-profiling 3.4 by itself, point by point, for one model."""
    iterations, sums, readings = [], [], []
    state, begin = "model end", -1
    inside: list[tuple[int, int, int]] = []

    def finish(end: int) -> None:
        at = {tag: time for tag, _, time in inside}
        iterations.append((begin, at.get(2, -1), at.get(3, -1), end))
        opened: dict[int, list[list[int]]] = defaultdict(list)
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        for tag, stream, time in inside:
            if 10_000 <= tag < 20_000:
                if tag % 2 == 0:
                    opened[stream].append([time, -1])
                elif opened[stream]:
                    opened[stream][-1][1] = time
            elif 20_000 <= tag < 30_000:
                if tag % 2 == 0:
                    waiting[stream, tag // 2].append(time)
                elif waiting[stream, tag // 2]:
                    readings.append((waiting[stream, tag // 2].pop(0), time))
        sums.extend((a, b) for several in opened.values() for a, b in several if b >= 0)

    for _, _, tag, stream, time in points:
        if tag == 0 and state != "model start":
            state, begin, inside = "model start", time, []
        elif tag == 1 and state == "model start":
            finish(time)
            state, inside = "model end", []
        elif tag == 4 and state != "model end":
            finish(time)
            state, begin, inside = "iteration end", time, []
        else:
            inside.append((tag, stream, time))
    return {
        "step_trace": sorted(iterations),
        "step_trace_reduce": sorted(sums),
        "step_trace_get_next": sorted(readings),
    }


COLUMNS = {"step_trace": ("start", "fp_start", "bp_end", "end")}


def tables(found: Row) -> dict[str, list[tuple[int, ...]]]:
    shown = {}
    for name in ("step_trace", "step_trace_reduce", "step_trace_get_next"):
        columns = COLUMNS.get(name, ("start", "end"))
        table = found.get(name, {one: [] for one in columns})
        shown[name] = sorted(zip(*(list(map(int, table[one])) for one in columns), strict=True))
    return shown


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), st.integers(1, 4), st.integers(0, 99))
def test_g115_what_random_graphs_note_makes_up_the_rows_of_the_state_machine(
    document: Row, iterations: int, seed: int
) -> None:
    points = run_of(document, iterations, seed).points
    assert tables(iterations_of(points).records) == machine(rows_of(points))


@pytest.mark.parametrize("product", ["A2", "910A", "310P", "950"])
def test_g115_raw_files_of_a_run_lead_to_the_same_rows(
    tmp_path: Path, product: ProductName
) -> None:
    profile = written(tmp_path, training(), product)
    (found,) = read_raw(profile)
    assert found.damage == []
    run = execute(insert(graph_of(training()), Asked()), 3, 0, 1_767_258_000_010_000_000, 1)
    expected = tables(iterations_of(run.points).records)
    shown = tables(found.capture.records)
    assert {name: len(rows) for name, rows in shown.items()} == {
        "step_trace": 3,
        "step_trace_reduce": 3,
        "step_trace_get_next": 3,
    }
    for name, rows in expected.items():
        for row, other in zip(rows, shown[name], strict=True):
            assert max(abs(a - b) for a, b in zip(row, other, strict=True)) <= TICK


def test_g115_records_are_those_of_the_description_on_chips_of_both_layouts(tmp_path: Path) -> None:
    old, new = (records(written(tmp_path / one, training(), one)) for one in ("A2", "950"))
    # Stream, task, tag; on chips of the sixth generation tag, stream and a task of 32 bits.
    assert [one[4] for one in old[:9]] == [0, 20000, 20001, 2, 3, 10000, 10001, 4, 1]
    assert [one[2] for one in new[:9]] == [0, 20000, 20001, 2, 3, 10000, 10001, 4, 1]
    assert [one[2] for one in old[:5]] == [one[3] for one in new[:5]] == [0, 1, 1, 0, 0]
    assert {one[1] for one in old + new} == {1}


def step_rows(folder: Path) -> list[dict[str, str]]:
    (path,) = folder.rglob("step_trace_*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: str(v).strip() for k, v in row.items()} for row in csv.DictReader(file)]


def test_g115_the_csv_and_the_timeline_have_all_points_and_the_first_iteration_n_a(
    tmp_path: Path,
) -> None:
    words = ["ge", "run", "--example", "-o", str(tmp_path / "run"), "--iterations", "2"]
    assert main(words) == 0
    assert main(["export", str(tmp_path / "run"), "-o", str(tmp_path / "out")]) == 0
    rows = step_rows(tmp_path / "out")
    assert [row["Iteration ID"] for row in rows] == ["1", "2"]
    assert rows[0]["Data Aug Bound(us)"] == "N/A"
    (profile,) = (tmp_path / "run").iterdir()
    ticks = [(one[4], one[5]) for one in records(profile)]
    first = dict(ticks[:9])
    us = TICK / 1000
    for row, start in ((rows[0], 0), (rows[1], 9)):
        own = dict(ticks[start : start + 9])
        for column, length in (
            ("Iteration Time(us)", own[4] - own[0]),
            ("FP to BP Time(us)", own[3] - own[2]),
            ("Iteration Refresh(us)", own[4] - own[3]),
            ("Reduce Duration(us)", own[10001] - own[10000]),
        ):
            assert float(row[column]) == pytest.approx(length * us, abs=0.002)
    bound = (dict(ticks[9:])[2] - first[4]) * us
    assert float(rows[1]["Data Aug Bound(us)"]) == pytest.approx(bound, abs=0.002)
    (path,) = (tmp_path / "out").rglob("step_trace_*.json")
    events = json.loads(path.read_text(encoding="utf-8"))
    assert sum(event["name"] == "GetNext" for event in events) == 2
    assert sum(event["name"].startswith("Reduce") for event in events) == 2


def test_g115_checked_exports_of_a_run_conform(tmp_path: Path) -> None:
    assert main(["ge", "run", "--example", "-o", str(tmp_path / "run")]) == 0
    assert main(["export", str(tmp_path / "run"), "-o", str(tmp_path / "out")]) == 0
    assert main(["check", str(tmp_path / "out")]) == 0


def test_g116_without_training_there_is_neither_pass(tmp_path: Path) -> None:
    node = {"id": 1, "name": "matmul", "type": "MatMul", "kernel_lib": "AIcoreEngine"}
    output = {"id": 2, "name": "out", "type": "NetOutput", "kernel_lib": "GE", "stream": 1}
    document: Row = {"nodes": [node, output | {"inputs": [[1, 0]]}]}
    profile = written(tmp_path, document)
    assert main(["export", str(profile), "-o", str(tmp_path / "out")]) == 0
    for row in step_rows(tmp_path / "out"):
        names = ("FP Start(us)", "BP End(us)", "FP to BP Time(us)", "Iteration Refresh(us)")
        assert [row[name] for name in names] == ["N/A"] * 4
        assert "Reduce Start(us)" not in row


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["ge", "run"], "expected a GRAPH or --example, one of them"),
        (["ge", "run", "--example", "--product", "A9"], "unknown product 'A9'"),
        (["ge", "run", "--example", "--executor", "v2"], "executor v2 runs no graph with known"),
        (["ge", "run", "--example", "--iterations", "0"], "0 is not in the range 1<=x<=100000"),
    ],
)
def test_what_cannot_run_is_one_line(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*words, "-o", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert code == 2
    assert reason in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_run_that_memory_could_not_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"14 tasks in 400,000 iterations; .* 5,000,000"):
        run_of(training(), 400_000)


def test_sub_graphs_that_are_nested_too_deep_are_refused() -> None:
    def nested(depth: int) -> Row:
        subs = [
            {
                "name": f"s{one}",
                "nodes": [
                    {"id": one, "name": f"n{one}", "type": "Add", "kernel_lib": "e"}
                    | ({"subgraphs": [f"s{one + 1}"]} if one < depth else {})
                ],
            }
            for one in range(1, depth + 1)
        ]
        first = {"id": 0, "name": "n0", "type": "Add", "kernel_lib": "e", "subgraphs": ["s1"]}
        return {"nodes": [first], "subgraphs": subs}

    assert len(run_of(nested(1_000), 1).tasks.node) == 1_001
    with pytest.raises(ValueError, match="nested deeper than 1,000; expected fewer"):
        run_of(nested(1_001), 1)


# --- msprof ---------------------------------------------------------------------------------------

needs_checkout = pytest.mark.skipif(
    CHECKOUT is None, reason="ASCEND_REF_MSPROF names no checkout of msprof"
)


def of_msprof(content: bytes, v6: bool) -> dict[str, list[list[int]]]:
    words = [sys.executable, str(Path(__file__).with_name("msprof_steps.py")), str(CHECKOUT)]
    done = subprocess.run(
        [*words, "v6" if v6 else ""], input=content, capture_output=True, check=True
    )
    found: dict[str, list[list[int]]] = json.loads(done.stdout)
    return found


def packed(points: list[tuple[int, int, int, int, int]], v6: bool) -> bytes:
    """Records by ge-profiling 3.3."""
    found = b""
    for model, index, tag, stream, time in points:
        found += struct.pack("<BBHIQQQ", 1, 10, 40, 0, time, index, model)
        fields = (tag, stream, 5) if v6 else (stream, 5, tag, 0)
        found += struct.pack("<HHI" if v6 else "<HHHH", *fields)
    return found


def is_in_order(points: list[tuple[int, int, int, int, int]]) -> bool:
    """Whether passes and ends of iterations follow each other, each at most once: msprof takes all
    others for stages of a pipeline, and sorts them anew.
    """
    last = 1
    for _, _, tag, _, _ in points:
        if tag == 0:
            last = 0
        elif 2 <= tag <= 4:
            if tag <= last:
                return False
            last = tag
    return True


@needs_checkout
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.reuse, Phase.generate],
)
@given(documents(), st.integers(1, 4), st.integers(0, 99), st.booleans())
def test_g115_msprof_makes_the_same_rows_of_random_graphs(
    document: Row, iterations: int, seed: int, v6: bool
) -> None:
    points = run_of(document, iterations, seed).points
    assume(is_in_order(rows_of(points)))
    ours = iterations_of(points).records
    theirs = of_msprof(packed(rows_of(points), v6), v6)
    shown = {
        "step_trace": sorted(tuple(row[2:4]) for row in theirs["step_trace_data"]),
        "step_trace_reduce": sorted(
            (row[4], row[5]) for row in theirs["all_reduce"] if row[5] is not None
        ),
        "step_trace_get_next": sorted((row[2], row[3]) for row in theirs["get_next"]),
    }
    expected = tables(ours)
    expected["step_trace"] = sorted((row[0], row[3]) for row in expected["step_trace"])
    assert shown == expected
    table = ours.get("step_trace", {})
    numbered = {
        one["iteration"]: one
        for one in (
            dict(zip(table, values, strict=True))
            for values in zip(*(column.tolist() for column in table.values()), strict=True)
        )
    }
    assert {row[2] for row in theirs["training_trace"]} == set(numbered)
    for _, _, number, forward, backward, end, length, *_ in theirs["training_trace"]:
        own = numbered[number]
        assert (max(own["fp_start"], 0), max(own["bp_end"], 0)) == (forward, backward)
        assert (own["end"], own["end"] - own["start"]) == (end, length)
