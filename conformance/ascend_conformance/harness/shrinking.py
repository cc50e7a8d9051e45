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
NETWORK = ModelChoice(layers=1, hidden=64, heads=1, sequence=16, vocabulary=16)
"""The one with a collective that has fewest operators."""
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
            try:
                tried[known] = shows(candidate)
            except ScenarioError:  # its memory, which only the simulation knows
                return False
        return tried[known]

    found = next(filter(still_shows, _tiny(case)), case)
    kept: set[str] = set()
    changed = True
    while changed:
        changed = False
        for what, smaller in _smaller(found):
            if what in kept or smaller == found:
                continue
            if still_shows(smaller):
                found, changed = smaller, True
                break
            kept.add(what)
    return found


def _tiny(case: Case) -> Iterator[Case]:
    """The boldest steps, smallest cases first."""
    own = case.scenario
    for steps in (1, 2, 3):
        for capture in (Switches(), own.capture):
            schedule = replace(ONE_STEP, active=steps)
            scenario = Scenario("shrunk", model=ADD, schedule=schedule, capture=capture)
            yield replace(case, seed=0, scenario=scenario)
    alone = replace(own, name="shrunk", summary="", parallelism=Parallelism(), faults=())
    yield replace(case, scenario=replace(alone, model=ADD, schedule=ONE_STEP))


def _smaller(case: Case) -> Iterator[tuple[str, Case]]:
    """Each part of a case made smaller, the ones that save most first, with a name for it."""
    own = case.scenario
    for what, made in _parts(own):
        yield what, replace(case, scenario=replace(own, **made))
    yield "seed", replace(case, seed=0)
    yield "name", replace(case, scenario=replace(own, name="shrunk", summary=""))


def _parts(own: Scenario) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "faults", {"faults": ()}
    for at, fault in enumerate(own.faults):
        yield f"fault {fault.kind}", {"faults": own.faults[:at] + own.faults[at + 1 :]}
    yield "model, ranks", {"model": ADD, "parallelism": Parallelism()}
    yield "model", {"model": ADD}
    if own.model.kind != "single-operator":
        tiny = {one: value for one, value in SMALL.items() if getattr(own.model, one) > value}
        yield "sizes", {"model": _model(own.model, **tiny)}
        yield "small network", {"model": NETWORK, "parallelism": Parallelism(2)}
    yield "ranks", {"parallelism": Parallelism()}
    if own.parallelism.ranks > 2:
        yield "two ranks", {"parallelism": Parallelism(2)}
    yield "schedule", {"schedule": ONE_STEP}
    for steps in range(1, own.schedule.active + 1):
        yield f"{steps} steps", {"schedule": replace(ONE_STEP, active=steps)}
    yield "hardware", {"hardware": HardwareChoice()}
    yield "data sheet", {"hardware": HardwareChoice(own.hardware.product)}
    usual, capture = Switches(), own.capture
    yield "switches", {"capture": usual}
    counters = replace(
        usual, level=capture.level, aic_metrics=capture.aic_metrics, aic_mode=capture.aic_mode
    )
    yield "switches but counters", {"capture": counters}
    for one in fields(capture):
        value = getattr(usual, one.name)
        yield f"switch {one.name}", {"capture": replace(capture, **{one.name: value})}
    for one in fields(own.model):
        least = SMALL.get(one.name) if own.model.kind != "single-operator" else None
        value = getattr(ModelChoice(own.model.kind), one.name) if least is None else least
        yield f"model {one.name}", {"model": _model(own.model, **{one.name: value})}


def _model(model: ModelChoice, **changes: Any) -> ModelChoice:
    return replace(model, **changes)


def _is_possible(case: Case) -> bool:
    try:
        validate(case.scenario)
    except ScenarioError:
        return False
    return case.output != "msprof" or case.scenario.capture.npu
