"""Communication: traces of operators, and what a step costs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from other_captures import hccl_traces

from ascend_ref.mindspore.parse.hccl import StepTimes, names_of
from ascend_ref.mindspore.parse.hccl_links import Event as Part
from ascend_ref.mindspore.parse.hccl_links import LinkWays, cost_of, links_of
from ascend_ref.mindspore.parse.parse import Parsed, parse

STEPS = "step_trace_raw_0_detail_time.csv"
OUTPUT = "hccl_raw_0.csv"
HEADER = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"
TWO_STEPS = f"{HEADER}\n1,1000,2000,0,0,0,0,0,0\n2,2000,3000,0,0,0,0,0,0\n-,0,0,0,0,0,0,0,0\n"
LATE = LinkWays("without-records", "per-s", "own", "main-stream")
EARLY = LinkWays("all", "per-ms", "as-it-is", "all")


LARGE: dict[str, object] = {
    **{"task type": "Memcpy", "transport type": "SDMA", "src rank": 0, "dst rank": 1},
    "size": "f" * 400,
}
"""Of an event with a size that no double holds."""


def part(task: str, transport: str, link: tuple[int, int], size: int = 0, thread: int = 1) -> Part:
    return Part(thread, 1000.0, task, transport, link, size)


def trace(time: float, **more: object) -> bytes:
    args = {"task type": "Memcpy", "transport type": "SDMA", "src rank": 0, "dst rank": 1}
    event = {"tid": 1, "ts": time, "dur": 500.0, "args": {**args, "size": "0x1f40"}, **more}
    return json.dumps({"device id": "0", "iteration": 1, "traceEvents": [event]}).encode()


def parse_traces(
    folder: Path, traces: dict[str, bytes], steps: str | None = TWO_STEPS, day: str = "2022-12-01"
) -> Parsed:
    for name, content in traces.items():
        path = folder / "raw" / "hccl_info_0" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if steps is not None:
        (folder / "raw" / STEPS).write_text(steps)
    (done,) = parse(folder / "raw", folder / "out", day)
    return done


def rows_in(folder: Path) -> list[list[str]]:
    path = folder / "out" / OUTPUT
    return list(csv.reader(path.read_text().splitlines())) if path.exists() else []


def test_m49_a_transfer_is_in_its_step_and_in_the_average(tmp_path: Path) -> None:
    parse_traces(tmp_path, {"allReduce_1_1/iter1.trace": trace(15.0)})
    _, first, average = rows_in(tmp_path)
    links = {"0-1": {"SDMA": [0.5, 8.0, 16000.0]}}
    assert first[:3] == ["1", "0.5", "0.0"]
    assert json.loads(first[3]) == links
    assert json.loads(first[4]) == {"allReduce_1_1": ["1", 0.5, 0.0, links]}
    assert average[0] == "-"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=5), st.integers(0, 40))
def test_m49_the_step_of_a_time(lengths: list[tuple[int, int]], time: int) -> None:
    steps, start = [], 5.0
    for number, (gap, length) in enumerate(lengths, 1):
        steps.append((str(number), start + gap, start + gap + length))
        start += gap + length
    if not steps:
        return
    expected = None
    for number, begin, end in steps:
        if begin <= time < end:
            expected = number
    if time < steps[0][1]:
        expected = "1"
    elif time > steps[-1][2]:
        expected = steps[-1][0]
    assert StepTimes(steps, []).at(time) == expected


def test_m49_rdma_is_two_sends_and_a_wait() -> None:
    tasks = ["RDMASend", "RDMASend", "Notify Wait"]
    three = [part(task, "RDMA", (0, 1), 500_000) for task in tasks]
    assert links_of(three * 2, LATE) == {"0-1": {"RDMA": [6.0, 2000.0, 2000.0 / 0.006, 2.0]}}
    assert links_of([*three[:2], *three[:2]], LATE) == {"0-1": {"RDMA": [0.0, 0.0, 0.0, 0.0]}}


def test_m49_the_own_rank_and_events_on_a_device() -> None:
    own = part("Memcpy", "SDMA", (0xFFFFFFFF, 3))
    assert (list(links_of([own], LATE)), list(links_of([own], EARLY))) == (
        ["3-3"],
        ["4294967295-3"],
    )
    assert list(links_of([part("Memcpy", "SDMA", (3, 0xFFFFFFFF))], LATE)) == ["3-3"]
    rdma, local = part("RDMASend", "RDMA", (1, 0)), part("Notify Wait", "LOCAL", (0, 1))
    assert list(links_of([rdma, local], LATE)) == ["1-0"]
    assert list(links_of([local], LATE)) == []
    assert links_of([local], EARLY) == {"1-0": {}}


def test_m49_costs_are_of_the_main_stream_and_links_of_all() -> None:
    events = [part("Memcpy", "SDMA", (0, 1), thread=1), part("Memcpy", "SDMA", (0, 1), thread=2)]
    late, early = cost_of(events, LATE), cost_of(events, EARLY)
    assert (late.transfer, early.transfer) == (1.0, 2.0)
    assert late.links["0-1"]["SDMA"][0] == early.links["0-1"]["SDMA"][0] == 2.0


def test_m49_waits_in_transfers_count_once() -> None:
    tasks = ["RDMASend", "RDMASend", "Notify Wait"]
    events = [part(task, "RDMA", (0, 1)) for task in tasks] + [part("Notify Wait", "x", (0, 1))]
    assert cost_of(events, LATE)[:2] == (3.0, 1.0)


@pytest.mark.parametrize(
    ("way", "columns", "expected"),
    [
        ("folder", ["stream_1_0_AllReduce-op5"], {}),
        (
            "step-trace",
            ["stream_1_0_AllReduce-op5", "stream_1_1_AllReduce-op7"],
            {
                "allReduce_2_1": "stream_1_0_AllReduce-op5",
                "allReduce_10_1": "stream_1_1_AllReduce-op7",
            },
        ),
        ("step-trace", ["stream_1_0_Default/x/AllReduce-op5"], {}),
        (
            "step-trace-scope",
            ["stream_1_0_Default/x/AllReduce-op5"],
            {"allReduce_2_1": "stream_1_0_Default/x/AllReduce-op5"},
        ),
        (
            "step-trace-last",
            ["stream_1_0_De_f/x/AllReduce-op5", "stream_1_0_Broadcast-op5"],
            {"allReduce_2_1": "stream_1_0_De_f/x/AllReduce-op5"},
        ),
    ],
)
def test_m50_m51_operators_are_named_by_the_day(
    way: str, columns: list[str], expected: dict[str, str]
) -> None:
    assert names_of(["allReduce_10_1", "allReduce_2_1", "send_1_1"], columns, way) == expected


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (b"{", "byte 1: no document of JSON"),
        (b'{"traceEvents": []}', "traceEvents is no list of events"),
        (b'{"traceEvents": [{"ts": NaN}]}', "NaN is no number"),
        (trace(15.0, args=3), "traceEvents[0] is no event with args"),
        (trace(15.0, dur="x"), "traceEvents[0].dur is 'x'"),
        (trace(15.0, args={"src rank": "x", "dst rank": 1}), "a document that is otherwise"),
        (trace(15.0, args=LARGE), "a document that is otherwise"),
        (trace(15.0, tid=[1]), "a document that is otherwise"),
        (trace(30.0), "at 30.0 us there is no step"),
    ],
)
def test_m52_what_is_no_trace_is_stated(tmp_path: Path, content: bytes, stated: str) -> None:
    traces = {"allReduce_1_1/iter1.trace": content, "allReduce_1_1/iter2.trace": trace(15.0)}
    done = parse_traces(tmp_path, traces)
    assert [stated in one for one in done.damage] == [True]
    assert len(rows_in(tmp_path)) == 3


def test_m52_traces_without_steps_are_stated(tmp_path: Path) -> None:
    for steps in (None, f"{HEADER}\n"):
        folder = tmp_path / str(steps is None)
        done = parse_traces(folder, {"allReduce_1_1/iter1.trace": trace(15.0)}, steps)
        assert ["no step_trace_raw" in one for one in done.damage] == [True]


def test_m51_folders_of_other_devices_and_the_order_of_steps(tmp_path: Path) -> None:
    traces, steps = hccl_traces(4)
    parse_traces(tmp_path / "day", traces, steps, "2021-09-01")
    assert len(rows_in(tmp_path / "day")) == 1
    rows = "".join(f"{n},{n * 1000},{n * 1000 + 1000},0,0,0,0,0,0\n" for n in range(1, 12))
    several = {f"send_1_1/iter{n}.trace": trace(n * 10.0 + 5) for n in (2, 10)}
    for day, order in (("2021-06-09", ["10", "2"]), ("2021-06-10", ["2", "10"])):
        parse_traces(tmp_path / day, several, f"{HEADER}\n{rows}", day)
        assert [row[0] for row in rows_in(tmp_path / day)[1:]] == [*order, "-"]


@pytest.mark.parametrize("devices", [("6",), ("0", "6", "10")])
def test_m49_traces_without_a_device_are_of_the_one_whose_steps_hold_them(
    tmp_path: Path, devices: tuple[str, ...]
) -> None:
    """As mindspore's tests have them: hccl_info next to the steps of several devices."""
    raw = tmp_path / "raw"
    path = raw / "hccl_info" / "allReduce_1_1" / "iter1.trace"
    path.parent.mkdir(parents=True)
    path.write_bytes(trace(15.0))
    for device in devices:
        steps = TWO_STEPS if device == "6" else TWO_STEPS.replace("000,", "900000,")
        (raw / f"step_trace_raw_{device}_detail_time.csv").write_text(steps)
    done = parse(raw, tmp_path / "out", "2022-12-01")
    assert [one.name for found in done for one in found.files] == ["hccl_raw_6.csv"]
    assert not any(one.damage for one in done)
