"""Recordings for tests, and the events of the timelines that are written from them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ascend_ref.recorded import Output, Recorded, from_captures, from_database
from ascend_ref.timeline import write_timeline
from ascend_simulator.cli.presets import named
from ascend_simulator.run import simulate
from ascend_simulator.scenario import override

Event = dict[str, Any]

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
REAL_TRACE = DATA / "text" / "pytorch_level1_rank0" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"


@cache
def simulated(preset: str, output: Output, level: int | None = None) -> Recorded:
    """One step of a preset: of rank 0, or as a process of its first two devices."""
    run = simulate(override(named(preset), ranks=None, steps=1, level=level))
    ranks = range(1 if output == "pytorch" else min(2, len(run.rounds[0].meetings)))
    return from_captures([run.capture(rank) for rank in ranks], output)


@cache
def real_database(name: str) -> Recorded:
    """A real database; skips the test where it is not there."""
    folder = DATA / "db" / name
    if not folder.is_dir():
        pytest.skip(f"needs the real profiles of {DATA}")
    (path,) = folder.glob("ascend_pytorch_profiler_*.db")
    return from_database(path)


@cache
def real_trace() -> tuple[Event, ...]:
    """The events of the real timeline; skips the test where it is not there."""
    if not REAL_TRACE.is_file():
        pytest.skip(f"needs the real timeline of {DATA}")
    return tuple(json.loads(REAL_TRACE.read_text(encoding="utf-8")))


def written(recorded: Recorded, writer: str, **options: Any) -> dict[str, list[Event]]:
    """The events of each file, by the begin of its name."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_timeline(
            recorded, Path(folder), writer=writer, timestamp="20260101000000", **options
        )
        return {
            path.name.removesuffix("_20260101000000.json"): json.loads(
                path.read_text(encoding="utf-8")
            )
            for path in paths
        }


@cache
def timeline(recorded_key: tuple[str, str, int | None], writer: str) -> list[Event]:
    """The whole timeline of a simulated recording, or of a real database for output ``real``."""
    preset, output, level = recorded_key
    if output == "real":
        recorded = real_database(preset)
    else:
        recorded = simulated(preset, "msprof" if output == "msprof" else "pytorch", level)
    files = written(recorded, writer)
    return files.get("trace_view.json") or files["msprof"]


def layers(events: list[Event] | tuple[Event, ...]) -> dict[int, str]:
    """Names of processes by pid."""
    return {
        event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"
    }


def of_phase(events: list[Event] | tuple[Event, ...], phase: str) -> Iterator[Event]:
    """The events of one phase."""
    return (event for event in events if event["ph"] == phase)


def nanoseconds(text: str) -> int:
    """An instant of a timeline."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction.ljust(3, "0"))
