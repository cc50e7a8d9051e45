"""Perfetto's trace processor sees every event, finds nothing wrong and drops nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
import timeline_trace_processor as trace_processor
from timeline_recordings import Event, layers, nanoseconds, of_phase, real_database, simulated

from ascend_ref.recorded import Recorded
from ascend_ref.timeline import write_timeline

WRITERS = [
    ("pytorch", "adapter"),
    ("pytorch", "adapter-2025-01"),
    ("msprof", "cpp"),
    ("msprof", "python"),
]
DROPPED = "slice_drop_overlapping_complete_event"


def counts(events: list[Event]) -> dict[str, int]:
    """What the trace processor should count."""
    return {
        "slices": sum(1 for _ in of_phase(events, "X")),
        "flows": sum(1 for _ in of_phase(events, "f")),
        "values": sum(len(event["args"]) for event in of_phase(events, "C")),
        "processes": len(layers(events)),
        "threads": len({(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}),
    }


def overlapping(events: list[Event]) -> dict[str, int]:
    """Slices that begin within another one of their thread and end after it, by layer."""
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in of_phase(events, "X"):
        start = nanoseconds(event["ts"])
        end = start + round(event["dur"] * 1000)
        tracks[event["pid"], event["tid"]].append((start, -end))
    names = layers(events)
    found: dict[str, int] = defaultdict(int)
    for (pid, _), slices in tracks.items():
        open_ends: list[int] = []
        for start, negative_end in sorted(slices):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and open_ends[-1] < -negative_end:
                found[names[pid]] += 1
            else:
                open_ends.append(-negative_end)
    return dict(found)


def written(recorded: Recorded, writer: str, folder: Path) -> dict[str, tuple[Path, list[Event]]]:
    found = {}
    for path in write_timeline(recorded, folder, writer=writer, timestamp="20260101000000"):
        text = path.read_bytes()
        copy = folder / f"rebased_{path.name}"
        copy.write_bytes(trace_processor.rebased(text))
        found[path.name] = (copy, json.loads(text))
    return found


@pytest.mark.parametrize(("output", "writer"), WRITERS)
@pytest.mark.parametrize("preset", ["observed-everything", "inference-310p"])
def test_nothing_is_wrong_and_nothing_lost(
    preset: str, output: str, writer: str, tmp_path: Path
) -> None:
    recorded = simulated(preset, "msprof" if output == "msprof" else "pytorch")
    for trace, events in written(recorded, writer, tmp_path).values():
        assert trace_processor.query(trace, trace_processor.PROBLEMS) == {}
        assert trace_processor.query(trace, trace_processor.COUNTS) == counts(events)


@pytest.mark.parametrize("level", [0, 2])
def test_other_levels_too(level: int, tmp_path: Path) -> None:
    recorded = simulated("observed-everything", "pytorch", level)
    ((trace, events),) = written(recorded, "adapter", tmp_path).values()
    assert trace_processor.query(trace, trace_processor.PROBLEMS) == {}
    assert trace_processor.query(trace, trace_processor.COUNTS) == counts(events)


@pytest.mark.parametrize("preset", ["recommendation", "level1_rank1"])
def test_what_is_dropped_are_tasks_that_overlap_on_their_stream(
    preset: str, tmp_path: Path
) -> None:
    """FFTS+ tasks of one operator run side by side under its stream, in real files as well."""
    real = preset.startswith("level")
    recorded = real_database(preset) if real else simulated(preset, "pytorch")
    ((trace, events),) = written(recorded, "adapter", tmp_path).values()
    overlaps = overlapping(events)
    assert overlaps["Ascend Hardware"] > 50
    problems = trace_processor.query(trace, trace_processor.PROBLEMS)
    assert problems == {DROPPED: sum(overlaps.values())}
    # The program of the real run has 5 functions that the Python trace cuts off.
    assert sum(overlaps.values()) - overlaps["Ascend Hardware"] <= (5 if real else 0)
    seen = trace_processor.query(trace, trace_processor.COUNTS)
    expected = counts(events)
    assert seen["slices"] == expected["slices"] - problems[DROPPED]
    assert seen["flows"] == expected["flows"]
