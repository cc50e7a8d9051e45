"""A real database gives the timeline of its day: the real one's layers, keys, types and arrows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from timeline_recordings import Event, layers, nanoseconds, of_phase, real_trace, timeline

OLD = "adapter-2025-01"
ONLY_REAL = {"QoS"}
"""Layers of the real timeline that the databases of that day have no table for."""

Shape = tuple[Any, ...]


def shapes(events: Sequence[Event]) -> Counter[Shape]:
    """Kinds of events: layer, phase, category, keys and args in order, with the types of values."""
    names = layers(events)
    found: Counter[Shape] = Counter()
    for event in events:
        layer = names.get(event["pid"], "")
        if layer in ONLY_REAL:
            continue
        args = {key: kind_of(value, key) for key, value in event.get("args", {}).items()}
        keys = {key: kind_of(value, key) for key, value in event.items()}
        found[layer, event["ph"], event.get("cat"), tuple(keys.items()), tuple(args.items())] += 1
    return found


def kind_of(value: object, key: str) -> str:
    # The engine of that day wrote 0 for lengths of nothing, and whole estimates, as integers.
    return "number" if key in ("dur", "duration estimated(us)") else type(value).__name__


@pytest.mark.parametrize("database", ["level1_rank0", "level1_rank1"])
def test_the_same_program_gives_the_same_kinds_of_events(database: str) -> None:
    ours = shapes(timeline((database, "real", None), OLD))
    real = shapes(real_trace())
    assert ours.keys() == real.keys()
    differences = {key: (ours[key], real[key]) for key in real if abs(ours[key] - real[key]) > 5}
    assert not differences


def test_metadata_are_those_of_the_real_timeline() -> None:
    def told(events: Sequence[Event]) -> set[tuple[str, str, str]]:
        names = layers(events)
        return {
            (names[event["pid"]], event["name"], str(event["args"]))
            for event in of_phase(events, "M")
            if names[event["pid"]] not in ONLY_REAL and "Thread" not in str(event["args"])
            if event["name"] != "thread_sort_index" or names[event["pid"]] != "Python"
            if event["name"] != "thread_sort_index" or names[event["pid"]] != "CANN"
        }

    assert told(timeline(("level1_rank0", "real", None), OLD)) == told(real_trace())


def test_arrows_have_the_ids_and_ends_of_the_real_timeline() -> None:
    """The figures that text-outputs.md 6.1 verified on the real timelines."""
    ours = timeline(("level1_rank0", "real", None), OLD)
    for events in (ours, real_trace()):
        starts = Counter((one["cat"], one["id"]) for one in of_phase(events, "s"))
        ends = Counter((one["cat"], one["id"]) for one in of_phase(events, "f"))
        assert set(starts.values()) == {1}
        assert starts.keys() == ends.keys()
        counts = Counter(cat for cat, _ in starts)
        assert counts == {
            "HostToDevice": 210,
            "async_npu": 210,
            "async_task_queue": 159,
            "fwdbwd": 27,
        }
        assert sum(count > 1 for (cat, _), count in ends.items() if cat == "HostToDevice") == 5
        assert {cat for (cat, _), count in ends.items() if count > 1} == {"HostToDevice"}
        moments = [(one["id"], one["ts"]) for one in of_phase(events, "f")]
        exact = [number == nanoseconds(ts) for number, ts in moments if not isinstance(number, str)]
        assert exact.count(True) == 210
        names = layers(events)
        tasks = {
            (one["pid"], one["tid"], one["ts"]): one["args"]
            for one in of_phase(events, "X")
            if names[one["pid"]] == "Ascend Hardware"
        }
        forms = Counter[str]()
        for one in of_phase(events, "f"):
            if one["cat"] != "HostToDevice":
                continue
            args = tasks.get((one["pid"], one["tid"], one["ts"]))
            number = int(one["id"])
            if args is None:
                assert number % (1 << 32) == (1 << 32) - 1
                forms["operator"] += 1
            elif number == args["connection_id"]:
                forms["copy"] += 1
            else:
                stream, task = args["Physic Stream Id"], args["Task Id"]
                place = (stream << 64) + (task << 48) + (args["Batch Id"] << 32)
                assert number == place + args["Subtask Id"]
                forms["kernel"] += 1
        assert forms == {"kernel": 187, "copy": 24, "operator": 4}


def test_call_stacks_and_shapes_are_spelled_as_in_the_real_timeline() -> None:
    """Both runs are of one program, so operators by name have inputs of the same forms."""

    def inputs(events: Sequence[Event]) -> set[tuple[str, Any, Any]]:
        return {
            (one["name"], one["args"].get("Input Dims"), one["args"].get("Input type"))
            for one in of_phase(events, "X")
            if one.get("cat") == "cpu_op"
        }

    def innermost(events: Sequence[Event]) -> set[str]:
        stacks = [
            one["args"].get("Call stack", "") for one in of_phase(events, "X") if "args" in one
        ]
        return {frame for stack in stacks for frame in stack.split(";\r\n")}

    ours, real = timeline(("level1_rank0", "real", None), OLD), real_trace()
    assert len(inputs(ours) ^ inputs(real)) <= 4
    assert len(innermost(ours) ^ innermost(real)) <= 4
