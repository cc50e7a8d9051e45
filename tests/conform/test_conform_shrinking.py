"""Failures whose cause is known, so that the smallest case is known, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from ascend_conformance.harness.attempts import Attempts, Looked, Sought
from ascend_conformance.harness.case import Case
from ascend_conformance.harness.exporters import Function
from ascend_conformance.harness.shrinking import ALONE, ONE_STEP, shrink
from ascend_conformance.harness.stages import STAGES
from ascend_conformance.harness.trial import Asked
from ascend_ref.capture import Switches
from ascend_simulator.choices import (
    FaultChoice,
    HardwareChoice,
    ModelChoice,
    ModelKind,
    Parallelism,
    Schedule,
)
from ascend_simulator.scenario import Scenario

EXPORTS = 40
"""Cases that may be tried: all of the boldest, and those that few switches are found with."""
SWITCHES = Switches(
    **{"mstx": True, "l2": True, "sys_io": 100, "sys_hardware_mem": 50, "aicpu": True, "gc": True}
)
LARGE = Scenario(
    hardware=HardwareChoice("A3", kernel_gap=90_000),
    parallelism=Parallelism(4, devices_per_process=2),
    schedule=Schedule(active=2),
    capture=SWITCHES,
    faults=(FaultChoice("data-loading-stall"), FaultChoice("gc-pause")),
)


class Known(Sought):
    """A failure that certain scenarios show, of a file that scenarios with some switch have.

    ``late``: the exports after which a small case is left as it is.
    """

    def __init__(
        self,
        cause: Callable[[Scenario], bool],
        tried: Case | None = None,
        late: int = EXPORTS,
        has_file: Callable[[Switches], bool] = lambda _: True,
    ) -> None:
        self.cause = cause
        self.tried = tried
        self.late = late
        self.has_file = has_file
        self.exports = 0

    def renew(self) -> None:
        """There are no more exports."""

    @property
    def is_late(self) -> bool:
        return self.exports >= self.late

    def smallest(self) -> Case | None:
        return self.tried

    def can_show(self, case: Case) -> bool:
        return case.is_possible and self.has_file(case.scenario.capture)

    def shows(self, case: Case) -> bool:
        can_show = self.can_show(case)
        self.exports += can_show
        return self.exports <= EXPORTS and can_show and self.cause(case.scenario)


def shrunk(own: Scenario, cause: Callable[[Scenario], bool]) -> Scenario:
    case = Case(own, "raw-to-text", "msprof", 7)
    assert case.is_possible
    assert cause(own)
    return shrink(case, Known(cause)).scenario


@pytest.mark.parametrize("kind", get_args(ModelKind))
def test_any_model_becomes_one_operator(kind: ModelKind) -> None:
    found = shrunk(replace(LARGE, model=ModelChoice(kind)), lambda one: True)
    assert found.model.kind == "single-operator"
    assert (found.parallelism, found.schedule) == (Parallelism(), ONE_STEP)
    assert (found.capture, found.faults, found.hardware) == (Switches(), (), HardwareChoice())


@pytest.mark.parametrize("kind", ["dense-transformer", "moe", "recommendation", "llm-inference"])
def test_a_model_that_is_needed_becomes_small(kind: ModelKind) -> None:
    found = shrunk(replace(LARGE, model=ModelChoice(kind)), lambda one: one.model.kind == kind)
    assert (found.model.layers, found.model.hidden) == (1, 64)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kind", ["dense-transformer", "moe", "recommendation", "llm-inference"])
def test_nothing_that_is_made_smaller_becomes_larger_again(kind: ModelKind, ranks: int) -> None:
    own = Scenario(model=ModelChoice(kind), parallelism=Parallelism(ranks))
    sought = Known(lambda one: one.model.kind == kind)
    found = shrink(Case(own, "raw-to-text", "msprof"), sought).scenario
    assert sought.exports < EXPORTS
    assert found.parallelism == Parallelism()


def test_devices_of_one_process_stay_where_they_are_needed() -> None:
    found = shrunk(LARGE, lambda one: one.parallelism.devices_per_process > 1)
    assert found.model.kind == "single-operator"
    assert found.parallelism == Parallelism(2, devices_per_process=2)
    assert found.capture == Switches()


def test_a_collective_stays_alone_where_one_is_needed() -> None:
    def communicates(one: Scenario) -> bool:
        alone = one.model.kind == "single-operator" and one.model.operator != "allReduce"
        return one.parallelism.ranks > 1 and not alone

    found = shrunk(LARGE, communicates)
    assert found.model.operator == "allReduce"
    assert found.parallelism == Parallelism(2)


def test_an_operator_of_a_graph_stays_alone_where_one_is_needed() -> None:
    own = replace(LARGE, model=ModelChoice(graph=True))
    found = shrunk(own, lambda one: one.model.graph and one.capture.mstx)
    assert found.model.kind == "single-operator"
    assert found.parallelism == Parallelism()
    assert found.capture == Switches(mstx=True)


TRIED = Case(
    Scenario(model=ModelChoice("single-operator", operator="Add", shape=(16,)), capture=SWITCHES),
    "raw-to-text",
    "msprof",
)


def test_a_small_case_that_was_tried_before_is_tried_first() -> None:
    sought = Known(lambda one: one.capture.sys_io > 0, TRIED)
    found = shrink(Case(LARGE, "raw-to-text", "msprof"), sought).scenario
    assert found.capture == Switches(sys_io=100)
    assert sought.exports < 12


def test_a_small_case_is_left_as_it_is_after_many_exports() -> None:
    sought = Known(lambda one: one.capture.sys_io > 0, TRIED, late=0)
    assert shrink(Case(LARGE, "raw-to-text", "msprof"), sought) == TRIED
    sought = Known(lambda one: one.parallelism.devices_per_process > 1, late=0)
    found = shrink(Case(LARGE, "raw-to-text", "msprof"), sought).scenario
    assert found.model.kind == "single-operator"
    assert found.capture == SWITCHES


def test_a_small_case_is_left_as_it_is_once_exports_are_many() -> None:
    def needs(one: Scenario) -> bool:
        return one.capture.sys_io > 0 and one.capture.gc

    sought = Known(needs, TRIED, late=2)
    assert needs(shrink(Case(LARGE, "raw-to-text", "msprof"), sought).scenario)
    longer = Known(needs, TRIED)
    found = shrink(Case(LARGE, "raw-to-text", "msprof"), longer).scenario
    assert found.capture == Switches(sys_io=100, gc=True)
    assert sought.exports < longer.exports


def test_the_switches_that_a_file_needs_are_tried_first() -> None:
    """Another operator than the first, which is found with all switches."""

    def loads(one: Scenario) -> bool:
        return one.model.operator == "FlashAttentionScore"

    sought = Known(loads, has_file=lambda one: one.mstx and one.sys_io > 0)
    found = shrink(Case(replace(LARGE, faults=()), "raw-to-text", "msprof"), sought).scenario
    assert (found.model.operator, found.capture) == (
        "FlashAttentionScore",
        Switches(mstx=True, sys_io=100),
    )
    assert sought.exports < 19


def test_operators_that_did_not_show_a_failure_are_not_tried_again() -> None:
    own = Scenario(model=ModelChoice("moe"))
    tried: list[Scenario] = []

    def is_network(one: Scenario) -> bool:
        tried.append(one)
        return one.model.kind == "moe"

    shrunk(own, is_network)
    operators = [one.model.operator for one in tried if one.model.kind == ALONE]
    assert operators.count("FlashAttentionScore") == 1


TINY = Case(
    Scenario(model=ModelChoice(ALONE, operator="Add", shape=(16,))), "raw-to-text", "msprof"
)


@pytest.mark.exhaustive
def test_a_small_case_is_exported_once_and_its_files_are_gone_at_the_end() -> None:
    stage = STAGES["raw-to-text"]
    sources: list[Path] = []

    def wrong(source: Path, target: Path) -> None:
        sources.append(source)
        stage.reference(source, target)
        for path in target.rglob("*.csv"):
            path.write_text(path.read_text().replace("Add", "Sub"))

    with Attempts(Function("wrong", wrong), stage, Asked()) as attempts:
        for feature in ("op_summary", "op_statistic"):
            shown = attempts.shown(TINY, Looked(feature, judged=False), feature, EXPORTS)
            assert {one for one, *_ in shown} == {feature}
        with attempts.tried(TINY) as (tried, _):
            assert {"op_summary", "op_statistic"} <= {one.feature for one in tried.failures}
    assert len(sources) == 1
    assert not sources[0].exists()


def test_a_case_tried_for_another_failure_is_kept_when_all_exports_are_used_up() -> None:
    small = Case(Scenario(schedule=ONE_STEP), "raw-to-text", "msprof", 0)
    sought = Known(lambda own: own in (LARGE, small.scenario), small)
    sought.exports = EXPORTS
    assert shrink(Case(LARGE, "raw-to-text", "msprof", 7), sought) == small
