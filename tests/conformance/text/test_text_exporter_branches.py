"""Real folders changed as branches of torch_npu write them of which no file is known."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from slices import marked
from text_folders import RANK, Table, changed, judged, needs_data

from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection

Event: TypeAlias = dict[str, Any]
OLDER = RANK.parents[1] / "generations" / "text_910a_2024_level1_rank0"


@pytest.fixture
def real(tmp_path: Path) -> Callable[[Path], Path]:
    def copied(folder: Path) -> Path:
        target = shutil.copytree(
            needs_data(folder), tmp_path / folder.name, copy_function=shutil.copyfile
        )
        (output,) = (one.parent for one in target.rglob("trace_view.json"))
        return Path(output)

    return copied


def events_of(output: Path) -> list[Event]:
    events: list[Event] = json.loads((output / "trace_view.json").read_bytes())
    return events


def found(output: Path, events: Sequence[Event], *rules: str) -> list[tuple[str, int]]:
    (output / "trace_view.json").write_text(json.dumps(events))
    (report,) = judged(output, Options(selection=Selection(select=rules), workers=1))
    return [(one.rule, one.count) for one in report.findings]


def is_backward(event: Event) -> bool:
    return bool(event.get("args", {}).get("Fwd thread id", 0) > 0)


def arrows(events: Sequence[Event], category: str, phase: str) -> list[Event]:
    return [one for one in events if one.get("cat") == category and one["ph"] == phase]


def on_the_forward_thread(events: Sequence[Event]) -> None:
    """As autograd without threads of its own runs its operators."""
    (forward,) = {one["tid"] for one in arrows(events, "fwdbwd", "s")}
    for event in events:
        if is_backward(event) or (event.get("cat") == "fwdbwd" and event["ph"] == "f"):
            event["tid"] = forward


@pytest.mark.exhaustive
def test_backward_operators_on_the_forward_thread_have_no_arrows(
    real: Callable[[Path], Path],
) -> None:
    """TraceEventManager.create_fwd_flow leaves out pairs of one thread since 2024-12."""
    output = real(RANK)
    events = events_of(output)
    gone = [one for one in events if one.get("cat") != "fwdbwd"]
    assert found(output, gone, "LOS304", "TRC228") == [("LOS304", 1)]
    on_the_forward_thread(events)
    gone = [one for one in events if one.get("cat") != "fwdbwd"]
    assert found(output, gone, "LOS304", "TRC228") == []


def test_older_adapters_draw_arrows_within_a_thread(real: Callable[[Path], Path]) -> None:
    """TraceEventManager.create_fwd_flow joins pairs of one thread until 2024-12."""
    output = real(OLDER)
    events = events_of(output)
    on_the_forward_thread(events)
    assert found(output, events, "TRC228", "TRC230") == []
    wrong = arrows(events, "fwdbwd", "f")[0]
    wrong["ts"] = next(one["ts"] for one in arrows(events, "fwdbwd", "s"))
    assert found(output, events, "TRC228") == [("TRC228", 1)]


@pytest.mark.exhaustive
def test_a_number_that_the_backward_thread_counts_again_has_no_arrow(
    real: Callable[[Path], Path],
) -> None:
    """FwkFileParser.filter_fwd_bwd_event keeps the last forward operator of a number.

    A checkpoint runs it again on the thread of the backward pass, which counts for itself.
    """
    output = real(RANK)
    events = events_of(output)
    gone = [one["id"] for one in arrows(events, "fwdbwd", "s")[4:7]]
    left = [one for one in events if one.get("cat") != "fwdbwd" or one["id"] not in gone]
    assert found(output, left, "LOS314") == [("LOS314", 3)]
    again = []
    for event in left:
        if is_backward(event) and event["args"]["Sequence number"] in gone:
            again.append(copy.deepcopy(event))
            again[-1]["args"]["Fwd thread id"] = 0
    assert found(output, left + again, "LOS314") == []


@pytest.mark.exhaustive
def test_work_that_starts_at_one_instant_on_two_streams_shares_the_id(
    real: Callable[[Path], Path],
) -> None:
    """TraceEventManager.create_torch_to_npu_flow takes the start of the work for the id."""
    output = real(RANK)
    events = events_of(output)
    ends = sorted(arrows(events, "async_npu", "f"), key=lambda one: one["id"])
    place = next(i for i in range(1, len(ends)) if ends[i]["tid"] != ends[i - 1]["tid"])
    earlier, later = ends[place - 1], ends[place]
    moved, stream = later["id"], later["tid"]
    for event in events:
        if event.get("ts") == later["ts"] and event["tid"] == stream and event is not later:
            event["ts"] = earlier["ts"]
        if event.get("cat") == "async_npu" and event["id"] == moved:
            event["id"] = earlier["id"]
    later["ts"] = earlier["ts"]
    assert found(output, events, "TRC220", "TRC229") == []
    later["tid"] = earlier["tid"]
    assert found(output, events, "TRC220") == [("TRC220", 1)]


QUEUE = ("TRC364", "XLR801", "XLR803", "LOS303", "LOS305")
"""The rules about entries of the task queue and what they launch."""


def entries(events: Sequence[Event], kind: str) -> list[Event]:
    return sorted((one for one in events if one.get("cat") == kind), key=lambda one: str(one["ts"]))


def launched_by(events: Sequence[Event], taken: Sequence[Event]) -> set[int]:
    """The ids of the arrows async_npu of what was launched while entries were taken out."""

    def within(moment: str, entry: Event) -> bool:
        return 0 <= float(moment) - float(entry["ts"]) <= float(entry["dur"])

    of_calls = {
        one["id"]
        for one in arrows(events, "HostToDevice", "s")
        if any(within(one["ts"], entry) for entry in taken)
    }
    starts = {
        (one["pid"], one["tid"], one["ts"])
        for one in arrows(events, "HostToDevice", "f")
        if one["id"] in of_calls
    }
    ends = arrows(events, "async_npu", "f")
    return {one["id"] for one in ends if (one["pid"], one["tid"], one["ts"]) in starts}


def without_entries(
    events: Sequence[Event], taken: Sequence[Event], kind: str, phase: str
) -> list[Event]:
    """Without one side of entries of the queue, and the arrows of the framework that need it."""
    numbers = {one["args"]["correlation_id"] for one in taken}
    launched = launched_by(events, taken)

    def is_gone(event: Event) -> bool:
        category = event.get("cat")
        if category == "async_task_queue":
            return event["ph"] == phase and event["id"] in numbers
        if category == "async_npu":
            return event["id"] in launched
        return bool(category == kind and event["args"]["correlation_id"] in numbers)

    return [one for one in events if not is_gone(one)]


@pytest.fixture(params=[RANK, marked(OLDER, pytest.mark.exhaustive)], ids=lambda path: path.name)
def capture(request: pytest.FixtureRequest, real: Callable[[Path], Path]) -> Path:
    return real(request.param)


@pytest.mark.exhaustive
def test_entries_that_wait_when_the_capture_begins(capture: Path) -> None:
    """_ProfInterface.start_trace does not wait for the task queue to be empty."""
    output, events = capture, events_of(capture)
    assert found(output, events, *QUEUE) == []
    taken = entries(events, "dequeue")
    begun = without_entries(events, taken[:5], "enqueue", "s")
    assert found(output, begun, *QUEUE) == []
    torn = without_entries(events, taken[40:45], "enqueue", "s")
    assert found(output, torn, "TRC364", "XLR803") == [("TRC364", 5), ("XLR803", 5)]


def test_entries_that_wait_when_the_capture_ends(capture: Path) -> None:
    """_ProfInterface.stop_trace waits for the device only where it is captured, too."""
    output, events = capture, events_of(capture)
    taken = entries(events, "dequeue")
    last = {one["args"]["correlation_id"] for one in entries(events, "enqueue")[-3:]}
    ended = [one for one in taken if one["args"]["correlation_id"] in last]
    assert found(output, without_entries(events, ended, "dequeue", "f"), *QUEUE) == []
    torn = without_entries(events, taken[40:45], "dequeue", "f")
    assert found(output, torn, "XLR801") == [("XLR801", 5)]


@pytest.mark.exhaustive
def test_kernels_that_are_launched_outside_of_the_queue(real: Callable[[Path], Path]) -> None:
    """FwkCANNRelationParser.combine_kernel_dict takes launches within entries of the queue alone.

    TreeBuilder.build_tree gives an entry to the operator around it, if there is one.
    """
    output = real(RANK)
    events = events_of(output)
    taken = entries(events, "dequeue")[40:60]
    launched = launched_by(events, taken)
    lost = [one for one in events if one.get("cat") != "async_npu" or one["id"] not in launched]
    ((rule, count),) = found(output, lost, "LOS305")
    assert rule == "LOS305"
    assert count > 10
    numbers = {one["args"]["correlation_id"] for one in taken}
    outside = [
        one
        for one in lost
        if not (
            one.get("cat") in ("enqueue", "dequeue") and one["args"]["correlation_id"] in numbers
        )
        and not (one.get("cat") == "async_task_queue" and one["id"] in numbers)
    ]
    assert found(output, outside, *QUEUE) == []


def test_receives_side_by_side_make_a_stage_negative(tmp_path: Path) -> None:
    """TraceStepTimeParser.create_step_file adds up all receives and takes them from the step."""
    receives = 2 * 79_089.5

    def change(table: Table) -> None:
        header, row = table
        cells = dict(zip(header, row, strict=True))
        cells["Stage"] = str(float(cells["Stage"]) - receives)
        cells["Bubble"] = str(receives)
        cells["Communication(Not Overlapped and Exclude Receive)"] = "0"
        table[1] = list(cells.values())

    path = changed(tmp_path, "step_trace_time.csv", change)
    options = Options(selection=Selection(select=("CSV02", "CSV32")), workers=1)
    (report,) = judged(path.parent, options)
    assert report.findings == ()


@pytest.mark.exhaustive
def test_a_capture_of_the_device_alone_has_no_blocks(real: Callable[[Path], Path]) -> None:
    """MemoryPrepareParser._add_pta_memory_data makes no blocks without operators."""
    output = real(RANK)
    events = events_of(output)
    framework = {one["pid"] for one in events if one.get("cat") == "cpu_op"}
    (output / "operator_memory.csv").unlink()
    (output / "operator_details.csv").unlink()
    device = [
        one
        for one in events
        if one["pid"] not in framework
        and one.get("cat") not in ("async_npu", "async_task_queue", "fwdbwd")
    ]
    assert ("LOS312", 1) in found(output, device, "LOS3")
    information = output.parent / "profiler_info_0.json"
    stated = json.loads(information.read_bytes())
    stated["config"]["common_config"]["activities"] = ["ProfilerActivity.NPU"]
    information.write_text(json.dumps(stated))
    assert found(output, device, "LOS3") == []
