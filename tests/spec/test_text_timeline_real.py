"""Every event of the real timelines is of one kind of the spec, with its keys and types."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from text_timeline_files import MSPROF, STEP_TRACE, TIMELINES, TRACE_VIEW, Event, Timeline

from ascend_spec import timeline_catalog
from ascend_spec.timeline import event_schema

FLOWS = {flow.cat for flow in timeline_catalog().flows.values()}
IDS = [timeline.path.stem for timeline in TIMELINES]


def is_point(event: Event) -> bool:
    return event["ph"] in ("s", "f") and event.get("cat") in FLOWS


def counted(timeline: Timeline) -> dict[str, int]:
    """Events by layer and kind, or by layer, phase and category of points of arrows."""
    found: Counter[str] = Counter()
    for event in timeline.events:
        layer = timeline.layers[event["pid"]].name
        if event["ph"] == "M":
            found[f"{layer}: {event['name']}"] += 1
        elif is_point(event):
            found[f"{layer}: {event['cat']} {event['ph']}"] += 1
        else:
            (kind,) = timeline.kinds_of(event)
            found[f"{layer}: {kind.kind}"] += 1
    return dict(found)


def test_every_event_of_the_trace_view_is_of_one_kind() -> None:
    found = counted(TRACE_VIEW)
    process = ("process_name", "process_labels", "process_sort_index")
    assert {name: n for name, n in found.items() if name.split(": ")[1] not in process} == {
        "Python: operator": 860,
        "Python: enqueue": 159,
        "Python: dequeue": 159,
        "Python: python-function": 1282,
        "Python: async_task_queue s": 159,
        "Python: async_task_queue f": 159,
        "Python: fwdbwd s": 27,
        "Python: fwdbwd f": 27,
        "Python: async_npu s": 210,
        "Python: thread_name": 3,
        "Python: thread_sort_index": 3,
        "CANN: call": 707,
        "CANN: HostToDevice s": 210,
        "CANN: thread_name": 4,
        "CANN: thread_sort_index": 4,
        "Ascend Hardware: task": 511,
        "Ascend Hardware: memcpy": 24,
        "Ascend Hardware: HostToDevice f": 211,
        "Ascend Hardware: async_npu f": 206,
        "Ascend Hardware: thread_name": 4,
        "Ascend Hardware: thread_sort_index": 4,
        "Communication: operator": 4,
        "Communication: task": 296,
        "Communication: HostToDevice f": 4,
        "Communication: async_npu f": 4,
        "Communication: thread_name": 9,
        "Communication: thread_sort_index": 9,
        "Overlap Analysis: computing": 187,
        "Overlap Analysis: communication": 4,
        "Overlap Analysis: not-overlapped": 101,
        "Overlap Analysis: free": 90,
        "Overlap Analysis: thread_name": 4,
        "AI Core Freq: frequency": 2,
        "NPU MEM: memory": 84,
        "HBM: read": 52,
        "HBM: write": 52,
        "LLC: hit-rate": 26,
        "LLC: throughput": 26,
        "Acc PMU: level-of-one": 2752,
        "Stars Soc Info: l2-buffer": 16,
        "Stars Soc Info: mata": 16,
        "QoS: traffic": 1405,
    }
    assert sum(found.values()) == len(TRACE_VIEW.events) == 10112
    layers = {layer.name for layer in TRACE_VIEW.layers.values()}
    assert len(layers) == len(TRACE_VIEW.layers) == 12
    assert {
        name: found[f"{layer}: {name}"] for layer in layers for name in process
    } == dict.fromkeys(process, 1)


def test_every_event_of_the_legacy_timeline_is_of_one_kind() -> None:
    assert counted(MSPROF) == {
        "Ascend Hardware: timed-task": 490,
        "Ascend Hardware: iteration": 1,
        "Ascend Hardware: forward-backward": 1,
        "Ascend Hardware: refresh": 1,
        "Ascend Hardware: reduce": 1,
        "Ascend Hardware: old-data-wait-start": 1,
        "Ascend Hardware: old-data-wait-end": 1,
        "Ascend Hardware: process_name": 2,
        "Ascend Hardware: process_labels": 2,
        "Ascend Hardware: process_sort_index": 2,
        "Ascend Hardware: thread_name": 7,
        "Ascend Hardware: thread_sort_index": 7,
        "CANN: model-call": 1,
        "CANN: process_name": 3,
        "CANN: process_labels": 3,
        "CANN: process_sort_index": 3,
        "CANN: thread_name": 4,
        "CANN: thread_sort_index": 4,
        "Communication: operator": 1,
        "Communication: task": 337,
        "Communication: process_name": 1,
        "Communication: process_labels": 1,
        "Communication: process_sort_index": 1,
        "Communication: thread_name": 5,
        "Communication: thread_sort_index": 5,
        "Overlap Analysis: computing": 107,
        "Overlap Analysis: communication": 1,
        "Overlap Analysis: not-overlapped": 1,
        "Overlap Analysis: free": 107,
        "Overlap Analysis: process_name": 1,
        "Overlap Analysis: process_labels": 1,
        "Overlap Analysis: process_sort_index": 1,
        "Overlap Analysis: thread_name": 4,
    }


def test_every_event_of_the_legacy_step_trace_is_of_one_kind() -> None:
    assert counted(STEP_TRACE) == {
        "Step Trace: iteration": 10,
        "Step Trace: forward-backward": 10,
        "Step Trace: refresh": 10,
        "Step Trace: reduce": 10,
        "Step Trace: old-data-wait-start": 10,
        "Step Trace: old-data-wait-end": 10,
        "Step Trace: process_name": 1,
        "Step Trace: thread_name": 1,
        "Step Trace: thread_sort_index": 1,
    }


@pytest.mark.parametrize("timeline", TIMELINES, ids=IDS)
def test_the_keys_of_events_stand_in_their_order(timeline: Timeline) -> None:
    facts = timeline_catalog()
    for event in timeline.events:
        layer = timeline.layers[event["pid"]]
        order = facts.form(timeline.writer).parts[layer.part].keys.get(event["ph"], ())
        if is_point(event):
            flows = timeline.flows_of(event)
            assert flows, event
            part = flows[0].part
            order = facts.form(timeline.writer).parts[part].keys[event["ph"]]
        elif event["ph"] != "M":
            (kind,) = timeline.kinds_of(event)
            order = kind.keys.get(timeline.writer, order)
        assert list(event) == [key for key in order if key in event], event


@pytest.mark.parametrize("timeline", TIMELINES, ids=IDS)
def test_layers_have_the_place_and_the_pid_of_their_writer(timeline: Timeline) -> None:
    facts = timeline_catalog()
    os_pid = {"python-2023": 10036, "adapter-2025-01": 3096504}[timeline.writer]
    for pid, layer in timeline.layers.items():
        place = layer.sort_index[timeline.writer]
        assert place is not None
        rule = facts.pid_rule(layer, timeline.writer)
        assert rule.pid(osPid=os_pid, sortIndex=place, deviceId=0) == pid, layer.name
    for event in timeline.events:
        if event["name"] == "process_sort_index":
            layer = timeline.layers[event["pid"]]
            assert event["args"]["sort_index"] == layer.sort_index[timeline.writer]


@pytest.mark.parametrize("timeline", TIMELINES, ids=IDS)
def test_threads_have_names_of_one_kind(timeline: Timeline) -> None:
    facts = timeline_catalog()
    for event in timeline.events:
        if event["name"] == "thread_name":
            layer = timeline.layers[event["pid"]]
            name = event["args"]["name"]
            fitting = {
                one.thread
                for one in facts.threads(layer, timeline.writer, timeline.file)
                if one.name is not None and one.name.fits(name)
            }
            assert len(fitting) == 1, f"{layer.name}: {name}"
    sorted_threads = {
        timeline.layers[event["pid"]].name
        for event in timeline.events
        if event["name"] == "thread_sort_index"
    }
    told = {
        layer.name
        for layer in timeline.layers.values()
        if any(
            one.sort_index is not None
            for one in facts.threads(layer, timeline.writer, timeline.file)
        )
    }
    assert sorted_threads == told


def test_the_threads_of_the_trace_view_have_the_numbers_that_the_spec_makes() -> None:
    """The tid of each named thread is the sum of its numbers, and so is its place."""
    facts = timeline_catalog()
    for event in TRACE_VIEW.events:
        if event["name"] != "thread_name" or "threadId" in event["args"]["name"]:
            continue
        layer = TRACE_VIEW.layers[event["pid"]]
        for one in facts.threads(layer, TRACE_VIEW.writer):
            found = one.name.named(event["args"]["name"]) if one.name else None
            if found is None:
                continue
            known = {**{key: int(text) for key, text in found.items()}, "groupStart": 0}
            known["logicStreamId"] = known.get("streamId", 0)
            total = sum(part if isinstance(part, int) else known[part] for part in one.tid)
            assert total == event["tid"], event


@cache
def validator(timeline: Timeline, layer: str) -> Any:
    return jsonschema_rs.validator_for(
        event_schema(timeline_catalog(), layer, timeline.writer, timeline.file)
    )


@pytest.mark.parametrize("timeline", TIMELINES, ids=IDS)
def test_every_event_obeys_the_schema_of_its_layer(timeline: Timeline) -> None:
    bad = [
        event
        for event in timeline.events
        if not validator(timeline, timeline.layers[event["pid"]].name).is_valid(event)
    ]
    assert bad == []


@pytest.mark.parametrize("timeline", TIMELINES, ids=IDS)
def test_a_timeline_is_written_with_the_spaces_of_its_writer(timeline: Timeline) -> None:
    form = timeline_catalog().form(timeline.writer)
    text = json.dumps(
        timeline.events[:50],
        separators=(form.item_separator, form.key_separator),
        ensure_ascii=form.escapes_unicode,
    )
    assert timeline.text.startswith(text[:-1])


# --- numbers ------------------------------------------------------------------------------------


def test_the_ids_of_arrows_are_made_by_the_rules() -> None:
    """Every HostToDevice end of the trace view has the id that the spec makes of its event."""
    flows = timeline_catalog().flows
    slices = {
        (event["pid"], event["tid"], event["ts"]): event
        for event in TRACE_VIEW.events
        if event["ph"] == "X" and TRACE_VIEW.layers[event["pid"]].name != "Python"
    }
    found: Counter[str] = Counter()
    for event in TRACE_VIEW.events:
        if event["ph"] != "f" or event["cat"] != "HostToDevice":
            continue
        target = slices[event["pid"], event["tid"], event["ts"]]
        args = target["args"]
        if TRACE_VIEW.layers[event["pid"]].name == "Communication":
            name, known = "communication", {"connectionId": args["connection_id"]}
        elif target["name"] == "MEMCPY_ASYNC":
            name, known = "memcpy", {"connectionId": args["connection_id"]}
        else:
            name = "kernel"
            known = {
                "streamId": args["Physic Stream Id"],
                "taskId": args["Task Id"],
                "batchId": args["Batch Id"],
                "contextId": args["Subtask Id"],
            }
        made = flows[name].id_of(TRACE_VIEW.writer)
        assert made is not None
        assert event["id"] == str(made.value(**known))
        assert event["name"] == flows[name].name.of(id=event["id"])
        found[name] += 1
    assert found == {"kernel": 187, "memcpy": 24, "communication": 4}


def test_aicore_time_of_the_legacy_timeline_is_in_us() -> None:
    """Erratum T72: the cycles of all blocks, by their number and by 1000 MHz."""
    timed = [
        event
        for event in MSPROF.events
        if event["ph"] == "X" and isinstance(event.get("args", {}).get("Total Cycle"), int)
    ]
    assert len(timed) == 137
    for event in timed:
        shown, cycles = event["args"]["Aicore Time(ms)"], event["args"]["Total Cycle"]
        assert any(abs(shown - cycles / blocks / 1000) < 0.006 for blocks in range(1, 33)), event
        assert shown <= event["dur"]


# --- broken events ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layer", "change"),
    [
        ("Ascend Hardware", {"ts": 1736408883704643.212}),
        ("Ascend Hardware", {"ts": "1736408883704643.2125"}),
        ("Ascend Hardware", {"dur": "53.7"}),
        ("Ascend Hardware", {"dur": -1}),
        ("Ascend Hardware", {"pid": "3170820512"}),
        ("Ascend Hardware", {"cat": "kernel"}),
        ("Ascend Hardware", {"args": None}),
        ("Ascend Hardware", {"args": {"Task Id": 1}}),
        ("CANN", {"name": "Runtime:x"}),
        ("Communication", {"ph": "B"}),
        ("Overlap Analysis", {"name": "Waiting"}),
        ("HBM", {"args": {"Read(MB/s)": "0"}}),
        ("HBM", {"args": {"Read(MB/s)": -1}}),
        ("LLC", {"name": "LLC 0 Read/Rate"}),
        ("QoS", {"args": {"value": 1, "more": 2}}),
    ],
)
def test_a_broken_event_does_not_obey_the_schema(layer: str, change: dict[str, Any]) -> None:
    event = next(
        one
        for one in TRACE_VIEW.events
        if one["ph"] in ("X", "C") and TRACE_VIEW.layers[one["pid"]].name == layer
    )
    broken = {**deepcopy(event), **change}
    assert validator(TRACE_VIEW, layer).is_valid(event)
    assert not validator(TRACE_VIEW, layer).is_valid(broken)


@pytest.mark.parametrize(
    "change",
    [
        ("order", lambda args: dict(reversed(args.items()))),
        ("lost", lambda args: {key: args[key] for key in list(args)[1:]}),
        ("more", lambda args: {**args, "size(B)": 1}),
        ("none", lambda args: {}),
    ],
    ids=lambda change: change[0],
)
def test_a_task_with_other_args_is_of_no_kind(change: tuple[str, Any]) -> None:
    event = next(
        one
        for one in TRACE_VIEW.events
        if one["ph"] == "X" and TRACE_VIEW.layers[one["pid"]].name == "Ascend Hardware"
    )
    assert len(TRACE_VIEW.kinds_of(event)) == 1
    assert TRACE_VIEW.kinds_of({**event, "args": change[1](event["args"])}) == ()
