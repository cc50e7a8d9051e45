"""Timelines do not depend on how many rows are handled at once."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from slices import few, some
from timeline_recordings import Event, real_database, simulated, written
from tiny_batches import tiny_batches

from ascend_ref.recorded import Output, Recorded

WRITERS = ("adapter", "adapter-2025-01")
SIMULATED = [
    ("observed-everything", "pytorch", "adapter-2025-01"),
    ("text-museum", "msprof", "cpp"),
    ("text-museum", "pytorch", "adapter"),
    ("text-museum", "msprof", "python"),
    ("observed-everything", "pytorch", "adapter"),
]


def alike(events: list[Event]) -> Counter[str]:
    """Events without their order: kinds of events take turns batch by batch."""
    return Counter(json.dumps(event, sort_keys=True) for event in events)


def check(recorded: Recorded, writer: str) -> None:
    expected = written(recorded, writer)
    with tiny_batches(loaded=1 << 16):
        found = written(recorded, writer)
    assert {name: alike(events) for name, events in found.items()} == {
        name: alike(events) for name, events in expected.items()
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", few(WRITERS, every=2))
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("level1_rank1", marks=pytest.mark.exhaustive),
        pytest.param("level1_rank0", marks=pytest.mark.campaign),
        "level0_rank0",
    ],
)
def test_those_of_real_databases(name: str, writer: str) -> None:
    check(real_database(name), writer)


@pytest.mark.parametrize(("preset", "output", "writer"), some(SIMULATED, every=5))
def test_those_of_simulated_recordings(preset: str, output: Output, writer: str) -> None:
    check(simulated(preset, output), writer)
