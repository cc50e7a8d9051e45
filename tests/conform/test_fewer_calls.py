"""Cases of which only some host calls are left: the fewest are found, and what is left is whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slices import few

from ascend_conformance.engine.fewest import fewest_of
from ascend_conformance.harness.case import Case, Output, read_case
from ascend_conformance.harness.conform import conform
from ascend_conformance.harness.exporters import Function
from ascend_conformance.harness.stages import STAGES
from ascend_conformance.harness.writing import count_of_calls
from ascend_ref.capture import HostCalls, Switches
from ascend_simulator import simulate
from ascend_simulator.choices import ModelChoice, Parallelism
from ascend_simulator.loss import outermost_calls, with_calls
from ascend_simulator.scenario import Scenario

ITEMS = 40
NETWORK = Scenario(
    model=ModelChoice(layers=2, hidden=64, heads=1, sequence=16, vocabulary=16),
    parallelism=Parallelism(2, devices_per_process=2),
)
RANKS = replace(NETWORK, parallelism=Parallelism(2))
COUNTED = Switches(level=2, aic_metrics="PipeUtilization", aic_mode="task-based", l2=True)

sets = st.frozensets(st.integers(0, ITEMS - 1), min_size=1, max_size=4)


@given(st.lists(sets, min_size=1, max_size=3))
def test_fewest_items_hold_and_hold_no_longer_without_any_of_them(
    enough: list[frozenset[int]],
) -> None:
    def holds(some: tuple[int, ...]) -> bool:
        return any(one <= {*some} for one in enough)

    found = fewest_of(tuple(range(ITEMS)), holds)
    assert holds(found)
    assert not any(holds((*found[:at], *found[at + 1 :])) for at in range(len(found)))


def outer_by_hand(calls: HostCalls) -> list[int]:
    """The row of the outermost call around each: the earliest on its thread that is not over."""
    rows = list(zip(calls.thread.tolist(), calls.start.tolist(), calls.end.tolist(), strict=True))
    return [
        next(
            row
            for row, (other, start, end) in enumerate(rows)
            if other == thread and (start <= begin < end or row == own)
        )
        for own, (thread, begin, _) in enumerate(rows)
    ]


@pytest.mark.parametrize("graph", [False, True])
def test_a_call_is_counted_with_the_outermost_one_around_it(graph: bool) -> None:
    scenario = replace(
        NETWORK, model=replace(NETWORK.model, graph=graph), capture=Switches(level=2)
    )
    calls = simulate(scenario).capture(0).calls
    outer = outer_by_hand(calls)
    found = outermost_calls(calls)
    assert len({*outer}) > 10
    assert [sorted({*outer}).index(one) for one in outer] == found.tolist()


def test_calls_take_all_that_they_launched_with_them() -> None:
    capture = simulate(replace(NETWORK, capture=COUNTED)).capture(1)
    count = int(outermost_calls(capture.calls).max()) + 1
    every = with_calls(capture, range(count))
    assert len(every.tasks) == len(capture.tasks)
    assert every.collectives.name.tolist() == capture.collectives.name.tolist()
    none = with_calls(capture, ())
    launched = np.isin(capture.tasks.connection, capture.calls.connection)
    assert len(none.tasks) == len(capture.tasks) - launched.sum()
    assert [*map(len, (none.calls, none.kernels, none.collectives, none.transfers))] == [0] * 4
    parts = [with_calls(capture, (one,)) for one in range(count)]
    for table in ("calls", "kernels", "collectives", "transfers"):
        found = sum(len(getattr(one, table)) for one in parts)
        assert found == len(getattr(capture, table))
    rows = [one.records["l2_cache"]["name"].size for one in parts if "l2_cache" in one.records]
    assert sum(rows) == capture.records["l2_cache"]["name"].size


@pytest.mark.parametrize(
    ("stage", "output"),
    few(
        [
            *(("raw-to-text", "msprof"), ("raw-to-database", "msprof")),
            *(("database-to-text", "msprof"), ("framework-to-profile", "pytorch")),
            ("database-to-text", "pytorch"),
        ],
        every=5,
    ),
)
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_what_is_left_is_exported_as_it_was_recorded(
    stage: str, output: Output, data: st.DataObject
) -> None:
    case = Case(replace(NETWORK, capture=COUNTED), stage, output)
    if output == "pytorch":
        case = replace(case, scenario=replace(RANKS, capture=replace(COUNTED, l2=False)))
    numbers = st.integers(0, count_of_calls(case) - 1)
    calls = data.draw(st.frozensets(numbers, min_size=1, max_size=30).map(sorted))
    case = replace(case, calls=tuple(calls))
    outcome = conform(Function("reference", STAGES[stage].reference), STAGES[stage], [case])
    assert [one.failure.finding.message for one in outcome.shown] == []
    assert outcome.cases == 1
    assert outcome.features


Row = dict[str, str]
RARE = "7.320"
"""The last digits of one start in five hundred: starts are multiples of 20 ns."""


def export_with(change: Callable[[list[Row]], None], source: Path, target: Path) -> None:
    """Our own export with the rows of op_summary changed."""
    STAGES["raw-to-text"].reference(source, target)
    for path in target.rglob("op_summary_*.csv"):
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        change(rows)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def round_wrongly(rows: list[Row]) -> None:
    """A fault that the operators show whose start ends in some digits: few of hundreds."""
    for row in rows:
        if row["Task Start Time(us)"].strip().endswith(RARE):
            row["Task Duration(us)"] = "1"


def forget_the_device(rows: list[Row]) -> None:
    """A fault that two operators of one number show, which are others on their devices."""
    shapes: dict[tuple[str, str], str] = {}
    for row in rows:
        place = row["Stream ID"], row["Task ID"]
        row["Output Shapes"] = shapes.setdefault(place, row["Output Shapes"])


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("change", "most", "pipeline"),
    [
        pytest.param(round_wrongly, 1, 1, marks=pytest.mark.exhaustive),
        pytest.param(forget_the_device, 2, 2, marks=pytest.mark.campaign),
    ],
)
def test_what_few_of_many_operators_show_is_shrunk_to_these(
    change: Callable[[list[Row]], None], most: int, pipeline: int, tmp_path: Path
) -> None:
    parallelism = Parallelism(2, pipeline=pipeline, devices_per_process=2)
    case = Case(replace(NETWORK, parallelism=parallelism), "raw-to-text", "msprof")
    exporter = Function("few", partial(export_with, change))
    outcome = conform(exporter, STAGES["raw-to-text"], [case], out=tmp_path / "failures")
    operators = {one.failure.signature: one.tried.operators for one in outcome.shown}
    assert operators
    assert max(operators.values()) <= most, operators
    found = outcome.shown[0]
    assert found.tried.case.calls is not None
    assert found.folder is not None
    assert read_case(found.folder / "case.yaml") == found.tried.case
    assert f"{len(found.tried.case.calls)} of its host calls" in found.failure.finding.message
