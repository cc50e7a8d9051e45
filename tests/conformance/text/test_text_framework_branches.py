"""Real timelines changed as branches of torch_npu write them of which no file is known.

Each test names the code of the exporter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from text_folders import RANK, judged, needs_data

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

Event: TypeAlias = dict[str, Any]
Finder: TypeAlias = Callable[..., list[tuple[str, int]]]
TIMELINE = "trace_view.json"


@pytest.fixture
def events() -> list[Event]:
    """The framework's own events of a real timeline."""
    (path,) = needs_data(RANK).rglob(TIMELINE)
    every: list[Event] = json.loads(path.read_bytes())
    (framework,) = {one["pid"] for one in every if one.get("cat") == "cpu_op"}
    return [one for one in every if one["pid"] == framework and one.get("cat") != "async_npu"]


@pytest.fixture
def found(tmp_path: Path) -> Finder:
    def judge(events: Sequence[Event], *rules: str) -> list[tuple[str, int]]:
        (tmp_path / TIMELINE).write_text(json.dumps(events))
        options = Options(selection=Selection(select=rules), workers=1)
        (report,) = judged(tmp_path, options)
        return [(one.rule, one.count) for one in report.findings]

    return judge


def test_sizes_for_floating_point_operations_are_text(events: list[Event], found: Finder) -> None:
    """OpRangeData::encode writes extra_args as text, TorchOpBean.args shows it as flops."""
    operator = next(one for one in events if one["name"] == "aten::addmm")
    operator["args"]["flops"] = "mat1_size:[2, 3];mat2_size:[3, 4]"
    assert found(events, "TRC013", "TRC015") == []
    operator["args"]["Sequence number"] = "mat1_size:[2, 3]"
    assert found(events, "TRC015") == [("TRC015", 1)]


def collections(pid: int, events: Sequence[Event]) -> list[Event]:
    """A run of the collector, as TraceEventManager.create_gc_m_event names its layer."""
    process = events[0]["pid"]
    start = max(one["ts"] for one in events if one.get("cat") == "cpu_op")
    place = {"ph": "M", "pid": pid, "tid": 0}
    thread = {**place, "tid": process}
    return [
        {
            **{"ph": "X", "name": "GC", "pid": pid, "tid": process, "ts": start},
            **{"dur": 2000.5, "cat": "GC", "args": {}},
        },
        {**place, "name": "process_name", "args": {"name": "Python GC"}},
        {**place, "name": "process_labels", "args": {"labels": "CPU"}},
        {**place, "name": "process_sort_index", "args": {"sort_index": 1}},
        {**thread, "name": "thread_name", "args": {"name": "Python GC"}},
        {**thread, "name": "thread_sort_index", "args": {"sort_index": process}},
    ]


@pytest.mark.exhaustive
def test_the_collector_of_a_capture_without_a_device(events: list[Event], found: Finder) -> None:
    """FwkFileParser.get_gc_record_trace_data puts -1 as the device into all bits of the pid."""
    assert found(events + collections(-1, events), "TRC0", "TRC2") == found(events, "TRC0", "TRC2")
    packed = events[0]["pid"] << 10 | 1 << 5
    assert found(events + collections(packed, events), "TRC014") == []
    assert found(events + collections(packed | 1 << 6, events), "TRC014") == [("TRC014", 1)]


def test_marks_stand_on_the_physical_stream(found: Finder) -> None:
    """DeviceTxAssembler takes the stream of a mark, AscendHardwareAssembler the logical one."""
    (path,) = needs_data(RANK).rglob(TIMELINE)
    every: list[Event] = json.loads(path.read_bytes())
    (device,) = {
        one["pid"] for one in every if one.get("args", {}).get("name") == "Ascend Hardware"
    }
    layer = [one for one in every if one["pid"] == device and one["ph"] in ("M", "X")]
    task = next(one for one in layer if "Physic Stream Id" in one.get("args", {}))
    stream = task["args"]["Physic Stream Id"]
    for event in layer:
        if event["tid"] == stream and event["ph"] == "X":
            event["tid"] = 60000
    mark = {"Physic Stream Id": stream, "Task Id": 65000}
    marked = {**task, "name": "start of the loss", "tid": stream, "args": mark}
    assert found([*layer, marked], "TRC300") == []
    assert found([*layer, {**marked, "args": task["args"]}], "TRC300") == [("TRC300", 1)]


@pytest.mark.parametrize(("thread", "wrong"), [(999, []), (None, [("TRC222", 1)])])
def test_a_number_that_two_forward_threads_count(
    events: list[Event], found: Finder, thread: int | None, wrong: list[tuple[str, int]]
) -> None:
    """FwkFileParser.filter_fwd_bwd_event keeps the last forward operator of a number, which is
    one of a recomputation on the backward thread or of another forward thread.
    """
    arrow = next(one for one in events if one.get("cat") == "fwdbwd" and one["ph"] == "s")
    first = next(one for one in events if one["args"].get("Sequence number") == arrow["id"])
    last = max((one["ts"] for one in events if "ts" in one), key=Decimal)
    again = {**first, "ts": last, "tid": first["tid"] if thread is None else thread}
    arrow.update(ts=last, tid=again["tid"])
    assert found([*events, again], "TRC222") == wrong
