"""Exporters of raw files: our own conforms, each with one bug is caught, and msprof is tried."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from aged_records import AGED
from raw_zoo import BUGS, OF_AGED
from run_zoo import SMALL, run
from slices import few, marked, some
from zoo import Timeline

from ascend_conformance.harness.case import Case
from ascend_conformance.harness.conform import conform
from ascend_conformance.harness.drawing import draw_cases
from ascend_conformance.harness.expected import read_expected
from ascend_conformance.harness.exporters import Exporter, Function
from ascend_conformance.harness.limits import Limits
from ascend_conformance.harness.named import exporter_of
from ascend_conformance.harness.stages import STAGES
from ascend_conformance.harness.trial import PLAINLY
from ascend_ref.capture import Switches
from ascend_simulator.choices import ModelChoice, Parallelism
from ascend_simulator.program.single import COLLECTIVES, COPY
from ascend_simulator.scenario import RUN, Scenario, preset

STAGE = STAGES["raw-to-text"]
CHECKOUT = os.environ.get("ASCEND_REF_MSPROF")
FEW = ("last-slice-dropped", "host-counter-as-nanoseconds", "no-dictionary")
DEFECTIVE = ("api_statistic", "msprof_tx", "nic", "npu_mem", "op_summary", "roce", "task_time")
"""Files of msprof with defects that the drawn cases show."""
KNOWN = Path(__file__).parents[2] / "examples" / "msprof.expected.yaml"


@cache
def cases() -> tuple[Case, ...]:
    """A few cases of all products that raw files are written for."""
    names = ("single-op", "cnn-910a", "edge-310b", "moe-8")
    return tuple(Case(RUN.preset(name), STAGE.name, "msprof") for name in names)


@pytest.mark.parametrize("count", [2, marked(4, pytest.mark.exhaustive)])
def test_our_own_export_is_what_was_recorded(count: int) -> None:
    reference = Function("reference", STAGE.reference)
    outcome = conform(reference, STAGE, draw_cases(STAGE, count, 1))
    assert outcome.shown == []
    assert outcome.cases == count
    assert {"api_statistic", "op_summary", "task_time"} <= outcome.features.keys()


@pytest.mark.campaign
@pytest.mark.parametrize(
    "stage", ["raw-to-text", marked("raw-to-database", pytest.mark.exhaustive)]
)
@pytest.mark.parametrize(
    "switches",
    few(
        [
            Switches(task_time=False, aicpu=True, l2=True, soc_pmu=True),
            Switches(level=2, task_time=False, hccl=False, runtime_api=False),
            Switches(level=0, runtime_api=True),
            Switches(level=2, runtime_api=False),
        ],
        every=4,
    ),
    ids=["no times of tasks", "calls of ACL alone", "runtime at level 0", "level 2 without it"],
)
def test_our_own_export_of_what_options_of_cann_leave_is_what_was_recorded(
    switches: Switches, stage: str
) -> None:
    model = ModelChoice("cnn", batch=2, image=32, channels=8, graph=True, preprocess="device")
    own = Scenario(
        model=model, parallelism=Parallelism(2), capture=replace(switches, cpu=False, mstx=True)
    )
    found = STAGES[stage]
    outcome = conform(
        Function("reference", found.reference), found, [Case(own, found.name, "msprof")]
    )
    assert outcome.shown == []
    assert outcome.cases == 1


@pytest.mark.parametrize(
    ("operator", "graph"), some(product([*COLLECTIVES, COPY], [False, True]), every=3)
)
def test_our_own_export_of_what_runs_alone_is_what_was_recorded(operator: str, graph: bool) -> None:
    pair = Parallelism(2, devices_per_process=2) if operator in COLLECTIVES else Parallelism()
    own = Scenario(
        model=ModelChoice("single-operator", operator=operator, shape=(64, 16), graph=graph),
        parallelism=pair,
        capture=Switches(mstx=True, level=int(graph)),
    )
    outcome = conform(
        Function("reference", STAGE.reference), STAGE, [Case(own, STAGE.name, "msprof")]
    )
    assert outcome.shown == []
    assert outcome.cases == 1


@pytest.mark.campaign
def test_our_own_export_is_what_was_recorded_in_many_cases() -> None:
    test_our_own_export_is_what_was_recorded(40)


def export_with_long_calls(source: Path, target: Path) -> None:
    """An exporter that has calls in the first timeline last 1 ms longer, marks in the other one."""
    STAGE.reference(source, target)
    for path in target.rglob("msprof_*.json"):
        timeline = Timeline(path)
        for event in timeline.layer("python" if "_tx_" in path.name else "CANN"):
            event["dur"] += 1000
        timeline.write()


@pytest.mark.exhaustive
def test_of_two_timelines_the_one_that_differs_is_named() -> None:
    switches = Switches(mstx=True)
    case = Case(replace(preset("single-op"), capture=switches), STAGE.name, "msprof")
    outcome = conform(Function("long", export_with_long_calls), STAGE, [case], most=0)
    shown = {one.failure.signature for one in outcome.shown}
    assert {("timeline", "CANN.dur"), ("msprof_tx", "MsTx.dur")} == {
        (feature, place.partition(": ")[2]) for feature, _, place in shown if ".dur" in place
    }


@pytest.mark.exhaustive
def test_an_aged_head_that_is_kept_is_caught_and_shrunk() -> None:
    assert conform(Function("reference", AGED.reference), AGED, cases()[:1]).shown == []
    caught = run(OF_AGED["aged-head-kept"], cases()[:1], AGED)
    assert caught.passes, caught
    assert caught.operators is not None
    assert caught.operators <= SMALL


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", some(FEW, every=3))
def test_a_bug_is_caught_and_shrunk(name: str) -> None:
    caught = run(BUGS[name], cases(), STAGE)
    assert caught.passes, caught
    assert caught.operators is not None
    assert caught.operators <= SMALL


needs_checkout = pytest.mark.skipif(
    CHECKOUT is None, reason="ASCEND_REF_MSPROF names no checkout of msprof"
)


def msprof() -> Exporter:
    return exporter_of(f"msprof:{CHECKOUT}", STAGE.name, Limits(120, 4096), STAGE.reference)


@needs_checkout
def test_msprof_shows_only_what_is_known_of_it() -> None:
    others = [Case(RUN.preset(name), STAGE.name, "msprof") for name in ("text-museum", "950-dense")]
    every = (*cases(), *others)
    outcome = conform(msprof(), STAGE, every, PLAINLY, read_expected(KNOWN), most=0)
    assert [one.failure.finding for one in outcome.shown if one.failure.fails] == []
    assert outcome.cases == len(every)
    assert "step_trace" in outcome.features


@needs_checkout
def test_defects_of_msprof_are_found_and_shrunk_without_a_word_on_them() -> None:
    outcome = conform(msprof(), STAGE, draw_cases(STAGE, 16, 2))
    found = [one for one in outcome.shown if one.failure.fails]
    assert {one.failure.feature for one in found} >= set(DEFECTIVE)
    assert {
        one.failure.signature: one.tried.operators for one in found if one.tried.operators >= 5
    } == {}
