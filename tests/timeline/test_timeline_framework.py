"""The framework's part of trace_view.json is what plain Python makes of the same rows."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from plain_framework import PlainFramework
from plain_timeline import CPP, OLD, Plain, canonical
from slices import some
from timeline_recordings import (
    nanoseconds,
    of_phase,
    real_database,
    real_trace,
    simulated,
    timeline,
)

from ascend_ref.spill import Spill
from ascend_ref.timeline.threads import nested

STYLES = {"adapter": CPP, "adapter-2025-01": OLD}
PARTS = {
    "operators": ("X", "cpu_op"),
    "queue": ("Xsf", "enqueue dequeue async_task_queue"),
    "backward": ("sf", "fwdbwd"),
    "functions": ("X", "python_function"),
}
RECORDINGS = [("observed-everything", "pytorch"), ("level1_rank1", "real")]


@cache
def plain(preset: str, kind: str, writer: str) -> PlainFramework:
    recorded = real_database(preset) if kind == "real" else simulated(preset, "pytorch")
    return PlainFramework(Plain(recorded, STYLES[writer]), named_enqueue=writer == "adapter")


@pytest.mark.parametrize("part", some(PARTS, every=2))
@pytest.mark.parametrize("writer", STYLES)
@pytest.mark.parametrize(("preset", "kind"), RECORDINGS)
def test_events_are_those_of_plain_python(preset: str, kind: str, writer: str, part: str) -> None:
    phases, cats = PARTS[part]
    events = timeline((preset, kind, None), writer)
    ours = [event for event in events if event["ph"] in phases and event.get("cat") in cats.split()]
    expected = Counter(map(canonical, getattr(plain(preset, kind, writer), part)()))
    assert expected
    assert Counter(map(canonical, ours)) == expected


@pytest.mark.parametrize("writer", STYLES)
@pytest.mark.parametrize(("preset", "kind"), RECORDINGS)
def test_operators_lead_to_what_they_caused(preset: str, kind: str, writer: str) -> None:
    expected = Counter(map(canonical, plain(preset, kind, writer).launches()))
    events = timeline((preset, kind, None), writer)
    ours = [event for event in events if event.get("cat") == "async_npu"]
    assert expected
    assert Counter(map(canonical, ours)) == expected


def test_numbers_of_python_calls_are_those_of_the_real_timeline() -> None:
    events = [one for one in of_phase(real_trace(), "X") if one.get("cat") == "python_function"]
    start = np.array([nanoseconds(one["ts"]) for one in events])
    end = start + np.array([round(one["dur"] * 1000) for one in events])
    threads = np.array([one["tid"] for one in events])
    identity, parent = nested(Spill(), np.arange(len(events)), threads, start, end)
    pairs = [
        (one["args"]["Python id"], one["args"]["Python parent id"], *rest)
        for one, *rest in zip(events, identity.tolist(), parent.tolist(), strict=True)
    ]
    # The profiler stops within the last call, whose inner returns it does not see.
    wrong = [pair for pair in pairs if pair[:2] != pair[2:]]
    assert len(wrong) == 1
    assert len(pairs) == 1282
