"""Timelines do not depend on how many rows are handled at once."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from slices import some
from timeline_recordings import Event, real_database, simulated, written
from tiny_batches import tiny_batches

from ascend_ref.recorded import Output, Recorded

WRITERS = {"msprof": ("cpp", "python"), "pytorch": ("adapter", "adapter-2025-01")}
SIMULATED = [
    ("observed-everything", "pytorch"),
    ("text-museum", "pytorch"),
    pytest.param("text-museum", "msprof", marks=pytest.mark.exhaustive),
]


def alike(events: list[Event]) -> Counter[str]:
    """Events without their order: kinds of events take turns batch by batch."""
    return Counter(json.dumps(event, sort_keys=True) for event in events)


def check(recorded: Recorded) -> None:
    for writer in WRITERS[recorded.output]:
        expected = written(recorded, writer)
        with tiny_batches(loaded=1 << 16):
            found = written(recorded, writer)
        assert {name: alike(events) for name, events in found.items()} == {
            name: alike(events) for name, events in expected.items()
        }


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("level1_rank1", marks=pytest.mark.exhaustive),
        pytest.param("level1_rank0", marks=pytest.mark.exhaustive),
        "level0_rank0",
    ],
)
def test_those_of_real_databases(name: str) -> None:
    check(real_database(name))


@pytest.mark.parametrize(("preset", "output"), some(SIMULATED, every=2))
def test_those_of_simulated_recordings(preset: str, output: Output) -> None:
    check(simulated(preset, output))
