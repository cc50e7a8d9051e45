"""Perfetto's trace processor sees all of every timeline, and finds nothing wrong (row 3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from consumer_traces import (
    DROPPED,
    differences,
    events_of,
    expected,
    overlapping,
    rebased,
    seen,
)
from slices import some

from ascend_ref.recorded import Recorded, from_captures, from_database
from ascend_ref.timeline import write_timeline
from ascend_simulator import simulate
from ascend_simulator.choices import Parallelism
from ascend_simulator.scenario import preset, preset_names

REAL = Path(__file__).parents[2] / ".." / "shared" / "data" / "text"
DATABASE = REAL.parent / "db" / "level1_rank1" / "ascend_pytorch_profiler_1.db"
WRITERS = ("adapter", "cpp", "python")
ADAPTERS = ("adapter", "adapter-2025-01")
SIZES = {
    "a3-dense": Parallelism(ranks=4, tensor=4),
    "dense-8": Parallelism(ranks=2, tensor=2),
    "dense-pipeline": Parallelism(ranks=4, pipeline=4),
    "edge-310b": Parallelism(),
    "moe-64": Parallelism(ranks=8, tensor=2, pipeline=2, expert=2),
    "moe-8": Parallelism(ranks=2, expert=2),
    "text-museum": Parallelism(),
    "troubled": None,
}
"""Smaller than in the preset but of the same kinds; the faults name ranks and steps."""
TWO_DEVICES = Parallelism(ranks=2, devices_per_process=2)
EXPERTS = 8
"""As many as fit on so few ranks."""
NAMES = {"python": "MsTx", "UB": "Ub"}
"""Layers that have another name: the process of the program's own marks, and one of Python's."""
OF_FRAMEWORK = ("Python", "Python GC"), ("async_npu", "async_task_queue", "fwdbwd")
"""Layers and arrows that a timeline of msprof does not have."""
OF_PYTHON = ("biu_group", "aic_core", "aiv", "AI Core Utilization", "Voltage Info")
"""Layers that the C++ engine does not have, so that the truth of its products has none either."""


class Case(NamedTuple):
    """A recording, and what the truth tells of its timeline, summed over its ranks."""

    recorded: Recorded
    processes: frozenset[str]
    slices: Counter[str]
    flows: Counter[str]


@cache
def simulated(name: str, level: Literal[0, 1, 2] | None = None) -> tuple[Any, list[dict[str, Any]]]:
    """A small run of a preset, and what is true of its ranks."""
    scenario = preset(name)
    size = SIZES.get(name, TWO_DEVICES)
    if size is not None:
        scenario = replace(
            scenario, parallelism=size, schedule=replace(scenario.schedule, active=1)
        )
    if name == "moe-64":
        scenario = replace(scenario, model=replace(scenario.model, experts=EXPERTS))
    if level is not None:
        scenario = replace(scenario, capture=replace(scenario.capture, level=level))
    run = simulate(scenario)
    return run, run.truth()["totals"]


def case(name: str, writer: str, level: Literal[0, 1, 2] | None = None) -> Case:
    """What one process of a run is written from, or its first rank for the framework's exporter."""
    run, totals = simulated(name, level)
    framework = writer in ADAPTERS
    together = run.rounds[0].scenario.parallelism.devices_per_process
    ranks = range(1 if framework else together)
    told = [totals[rank]["timeline"] for rank in ranks]
    captures = [run.capture(rank) for rank in ranks]
    return Case(
        from_captures(captures, "pytorch" if framework else "msprof"),
        frozenset(layer for one in told for layer in one["processes"]),
        sum((Counter(one["slices"]) for one in told), Counter()),
        sum((Counter(one["flows"]) for one in told), Counter()),
    )


def check(one: Case, writer: str, folder: Path) -> None:
    """Every file is accepted, and the first, which holds all, shows what the truth tells."""
    paths = write_timeline(one.recorded, folder, writer=writer, timestamp="20260101000000")
    assert [differences(path, folder) for path in paths] == [[] for _ in paths]
    there = expected(events_of(paths[0]))
    layers, arrows = ((), ()) if writer == "adapter" else OF_FRAMEWORK
    assert told(there["processes"]).keys() == one.processes - {*layers}
    assert told(there["slices"]) == without(one.slices, layers)
    assert there["flows"] == without(one.flows, arrows)


def told(counts: Counter[str]) -> Counter[str]:
    """What a file shows, under the names of the truth."""
    return Counter(
        {
            NAMES.get(name, name): count
            for name, count in counts.items()
            if not name.startswith(OF_PYTHON)
        }
    )


def without(counts: Counter[str], names: Collection[str]) -> Counter[str]:
    return Counter({name: count for name, count in counts.items() if name not in names})


@pytest.mark.parametrize(("name", "writer"), some(product(preset_names(), WRITERS), every=16))
def test_every_preset_shows_what_is_true(name: str, writer: str, tmp_path: Path) -> None:
    check(case(name, writer), writer, tmp_path)


@pytest.mark.parametrize("level", [0, 1])
def test_levels(level: Literal[0, 1], tmp_path: Path) -> None:
    one = case("observed-everything", "adapter", level)
    if level == 0:
        one.slices.pop("CANN")
        one.flows.pop("HostToDevice")
        one = one._replace(processes=one.processes - {"CANN"})
    check(one, "adapter", tmp_path)


def test_an_older_exporter(tmp_path: Path) -> None:
    """It knew fewer layers than the truth tells of."""
    recorded = case("observed-everything", ADAPTERS[1]).recorded
    (path,) = write_timeline(recorded, tmp_path, writer=ADAPTERS[1])
    assert differences(path, tmp_path) == []


@pytest.mark.parametrize(
    "name",
    [
        "pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT/trace_view.json",
        "mindspore_legacy/msprof_0_2_1.json",
        "mindspore_legacy/step_trace_0_2_1.json",
    ],
)
def test_real_timelines(name: str, tmp_path: Path) -> None:
    path = REAL / name
    if not path.is_file():
        pytest.skip(f"needs the real timelines of {REAL}")
    assert differences(path, tmp_path) == []


def test_the_timeline_of_a_real_database(tmp_path: Path) -> None:
    """FFTS+ tasks of one operator run side by side under its stream, as in the real timeline."""
    if not DATABASE.is_file():
        pytest.skip(f"needs the real databases of {DATABASE.parent}")
    (path,) = write_timeline(from_database(DATABASE), tmp_path, writer="adapter")
    assert differences(path, tmp_path) == []
    overlaps = overlapping(events_of(path))
    assert overlaps["Ascend Hardware"] > 50
    # The program has 5 functions that the Python trace cuts off.
    assert overlaps.total() - overlaps["Ascend Hardware"] <= 5


def test_the_real_timeline_loses_what_is_known(tmp_path: Path) -> None:
    """169 slices (consumers.md 2.5), of which 113 overlap; the others touch."""
    path = REAL / "pytorch_level1_rank0" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    if not path.is_file():
        pytest.skip(f"needs the real timelines of {REAL}")
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    assert seen(copy)["problems"] == {DROPPED: 169}
    assert seen(rebased(copy, tmp_path / "exact.json"))["problems"] == {DROPPED: 113}
    assert overlapping(events_of(copy)) == {"Ascend Hardware": 108, "Python": 5}


def without_an_end(events: list[Any]) -> None:
    events.remove(next(event for event in events if event["ph"] == "f"))


def overlapping_partly(events: list[Any]) -> None:
    """A slice that begins in the middle of the last and longest one, and ends after it."""
    slices = [event for event in events if event["ph"] == "X"]
    last = max(slices, key=lambda event: float(event["ts"]) + event["dur"])
    begin = float(last["ts"]) + last["dur"] / 2
    events.append({**last, "ts": f"{begin:.3f}", "dur": last["dur"]})


def without_an_instant(events: list[Any]) -> None:
    del next(event for event in events if event["ph"] == "X")["ts"]


@pytest.mark.parametrize(
    ("change", "problems", "flows"),
    [
        (without_an_end, {}, -1),
        (overlapping_partly, {DROPPED: 1}, 0),
        (without_an_instant, {"json_tokenizer_failure": 1}, 0),
    ],
)
def test_a_defect_is_noticed(
    change: Callable[[list[Any]], None], problems: dict[str, int], flows: int, tmp_path: Path
) -> None:
    (path,) = write_timeline(case("single-op", "adapter").recorded, tmp_path, writer="adapter")
    exact = rebased(path, tmp_path / "exact.json")
    there, events = seen(exact), json.loads(exact.read_text())
    assert there["problems"] == {}
    change(events)
    exact.write_text(json.dumps(events))
    found = seen(exact)
    assert found["problems"] == problems
    assert found["flows"].total() - there["flows"].total() == flows
