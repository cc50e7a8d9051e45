"""Every event that is written is of exactly one kind of the spec."""

from __future__ import annotations

from collections import Counter

import pytest
from timeline_recordings import Event, real_database, simulated, written

from ascend_ref.recorded import Recorded
from ascend_spec import timeline_catalog

FILES = {
    "msprof": "timeline",
    "msprof_tx": "msprof_tx",
    "step_trace": "step_trace_json",
    "trace_view.json": "trace_view",
}
WRITERS = [
    ("msprof", "cpp"),
    ("msprof", "python"),
    ("pytorch", "adapter"),
    ("pytorch", "adapter-2025-01"),
]


def strangers(events: list[Event], file: str, writer: str) -> Counter[str]:
    """Events that are of no kind, or of several."""
    spec = timeline_catalog()
    told: dict[int, dict[str, str]] = {}
    for event in events:
        if event["name"] in ("process_name", "process_labels"):
            told.setdefault(event["pid"], {})[event["name"]] = next(iter(event["args"].values()))
    forms = Counter(
        (event["pid"], event["ph"], event["name"], event.get("cat"), *event.get("args", ()))
        for event in events
        if event["ph"] in "XC"
    )
    found: Counter[str] = Counter()
    for (pid, phase, name, cat, *args), count in forms.items():
        process = told[pid]
        layer = spec.layers["Step Trace"]
        if "process_labels" in process:
            found_layer = spec.layer_of(*process.values(), writer)
            assert found_layer is not None, process
            layer = found_layer
        kinds = spec.kinds(layer, phase, name, cat, args, writer, file)
        if len(kinds) != 1:
            found[f"{layer.name}: {name} {args}: {[one.kind for one in kinds]}"] = count
    return found


@pytest.mark.parametrize(("output", "writer"), WRITERS)
def test_every_event_is_of_one_kind(output: str, writer: str) -> None:
    recorded = simulated("observed-everything", "msprof" if output == "msprof" else "pytorch")
    for name, events in written(recorded, writer).items():
        assert strangers(events, FILES[name], writer) == Counter()


@pytest.mark.parametrize("name", ["level0_rank0", "level1_rank1"])
def test_every_event_of_a_real_recording_is_of_one_kind(name: str) -> None:
    recorded: Recorded = real_database(name)
    for writer in ("adapter", "adapter-2025-01"):
        events = written(recorded, writer)["trace_view.json"]
        assert strangers(events, "trace_view", writer) == Counter()


def test_an_older_adapter_copies_the_timeline_of_msprof() -> None:
    recorded = real_database("level1_rank1")
    assert written(recorded, "adapter-2026-08") == written(recorded, "adapter")


@pytest.mark.parametrize(("output", "writer"), WRITERS)
def test_every_process_and_thread_has_a_name(output: str, writer: str) -> None:
    recorded = simulated("observed-everything", "msprof" if output == "msprof" else "pytorch")
    for events in written(recorded, writer).values():
        processes = Counter(one["pid"] for one in events if one["name"] == "process_name")
        threads = Counter(
            (one["pid"], one["tid"]) for one in events if one["name"] == "thread_name"
        )
        assert set(processes.values()) == {1}
        assert set(threads.values()) == {1}
        assert {one["pid"] for one in events} == processes.keys()
        assert {(one["pid"], one["tid"]) for one in events if one["ph"] in "Xsf"} <= threads.keys()
