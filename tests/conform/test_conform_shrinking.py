"""Failures whose cause is known, so that the smallest case is known, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest

from ascend_conformance.harness.attempts import Sought
from ascend_conformance.harness.case import Case
from ascend_conformance.harness.shrinking import ONE_STEP, shrink
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
    """A failure that certain scenarios show, of a file that is always there."""

    def __init__(
        self, cause: Callable[[Scenario], bool], tried: Case | None = None, late: bool = False
    ) -> None:
        self.cause = cause
        self.tried = tried
        self.late = late
        self.exports = 0

    @property
    def is_late(self) -> bool:
        return self.late

    def smallest(self) -> Case | None:
        return self.tried

    def can_show(self, case: Case) -> bool:
        return case.is_possible

    def shows(self, case: Case) -> bool:
        self.exports += case.is_possible
        return self.exports <= EXPORTS and case.is_possible and self.cause(case.scenario)


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
    sought = Known(lambda one: one.capture.sys_io > 0, TRIED, late=True)
    assert shrink(Case(LARGE, "raw-to-text", "msprof"), sought) == TRIED
    sought = Known(lambda one: one.parallelism.devices_per_process > 1, late=True)
    found = shrink(Case(LARGE, "raw-to-text", "msprof"), sought).scenario
    assert found.model.kind == "single-operator"
    assert found.capture == SWITCHES
