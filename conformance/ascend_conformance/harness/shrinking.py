"""The smallest case that still shows a failure: few operators first, then few switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from ascend_ref.capture import Switches
from ascend_simulator.choices import HardwareChoice, ModelChoice, Parallelism, Schedule
from ascend_simulator.scenario import Scenario, ScenarioError, validate

from .case import Case

Shows = Callable[[Case], bool]
"""Whether a case still shows the failure."""

MOST = 60
"""Cases that are tried for one failure."""
ADD = ModelChoice("single-operator", operator="Add", shape=(16,))
ONE_STEP = Schedule(warmup=0, active=1)
SMALL = {"layers": 1, "hidden": 64, "heads": 1, "sequence": 16, "vocabulary": 16, "tables": 1}


def shrink(case: Case, shows: Shows, most: int = MOST) -> Case:
    """The smallest case found within so many tries that still shows the failure.

    A case that is smaller at once is looked for first: one operator, then two, with the switches of
    the case or with those by default; then one part after another is made smaller.
    """
    tried: dict[str, bool] = {}

    def still_shows(candidate: Case) -> bool:
        known = candidate.to_yaml()
        if known not in tried:
            if len(tried) >= most or not _is_possible(candidate):
                return False
            tried[known] = shows(candidate)
        return tried[known]

    found = next(filter(still_shows, _tiny(case)), case)
    smaller: Case | None = found
    while smaller is not None:
        found = smaller
        smaller = next((one for one in _smaller(found) if one != found and still_shows(one)), None)
    return found


def _tiny(case: Case) -> Iterator[Case]:
    """The boldest steps, smallest cases first."""
    own = case.scenario
    for steps in (1, 2, 3):
        for capture in (Switches(), own.capture):
            schedule = replace(ONE_STEP, active=steps)
            yield replace(
                case,
                seed=0,
                scenario=Scenario("shrunk", model=ADD, schedule=schedule, capture=capture),
            )
    for hardware in (HardwareChoice(), own.hardware):
        yield replace(
            case,
            scenario=replace(own, name="shrunk", hardware=hardware, model=ADD, schedule=ONE_STEP,
                             parallelism=Parallelism(), faults=()),
        )


def _smaller(case: Case) -> Iterator[Case]:
    """Each part of a case made smaller, the ones that save most first."""
    own = case.scenario
    for made in _parts(own):
        yield replace(case, scenario=replace(own, **made))
    if case.seed:
        yield replace(case, seed=0)
    if own.name != "shrunk":
        yield replace(case, scenario=replace(own, name="shrunk", summary=""))


def _parts(own: Scenario) -> Iterator[dict[str, Any]]:
    if own.faults:
        yield {"faults": ()}
        for at in range(len(own.faults)):
            yield {"faults": own.faults[:at] + own.faults[at + 1 :]}
    yield {"model": ADD, "parallelism": Parallelism()}
    yield {"model": ADD}
    if own.model.kind != "single-operator":
        tiny = {one: value for one, value in SMALL.items() if getattr(own.model, one) > value}
        if tiny:
            yield {"model": replace(own.model, **tiny)}  # type: ignore[arg-type]
        yield {"model": ModelChoice("recommendation", tables=1, rows=1, width=8, batch=1, layers=1)}
    yield {"parallelism": Parallelism()}
    for ranks in (2, 4):
        if own.parallelism.ranks > ranks:
            yield {"parallelism": Parallelism(ranks)}
    yield {"schedule": ONE_STEP}
    if own.schedule.active > 1:
        yield {"schedule": replace(own.schedule, active=own.schedule.active - 1)}
    yield {"schedule": replace(ONE_STEP, active=own.schedule.active)}
    yield {"hardware": HardwareChoice()}
    yield {"hardware": HardwareChoice(own.hardware.product)}
    yield {"capture": Switches()}
    usual = Switches()
    for one in fields(own.capture):
        if getattr(own.capture, one.name) != getattr(usual, one.name):
            yield {"capture": replace(own.capture, **{one.name: getattr(usual, one.name)})}
    for model in _models(own.model):
        yield {"model": model}


def _models(model: ModelChoice) -> Iterator[ModelChoice]:
    usual = ModelChoice(model.kind)
    for one in fields(model):
        value = getattr(model, one.name)
        if one.name in SMALL and model.kind != "single-operator" and value > SMALL[one.name]:
            yield replace(model, **{one.name: SMALL[one.name]})  # type: ignore[arg-type]
        elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
            if one.name not in SMALL and value != getattr(usual, one.name):
                yield replace(model, **{one.name: min(getattr(usual, one.name), value)})  # type: ignore[arg-type]


def _is_possible(case: Case) -> bool:
    try:
        validate(case.scenario)
    except ScenarioError:
        return False
    return case.output != "msprof" or case.scenario.capture.npu
