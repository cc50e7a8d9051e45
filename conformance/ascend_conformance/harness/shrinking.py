"""The smallest case that still shows a failure: few operators first, then few switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any

from ascend_ref.capture import Switches
from ascend_simulator.choices import HardwareChoice, ModelChoice, ModelKind, Parallelism, Schedule
from ascend_simulator.program.cost import kinds
from ascend_simulator.program.single import COLLECTIVES, COPY, least_lengths
from ascend_simulator.scenario import Scenario, run_schema

from .attempts import Sought
from .case import Case
from .fewer_calls import with_fewest_calls

Holds = Callable[[Case], bool]
Smaller = Callable[[Case], Iterator[tuple[str, Case]]]
"""Smaller cases, with a name for what is made smaller in each."""
Made = Mapping[str, Any]
"""Fields and what they are made."""

ALONE: ModelKind = "single-operator"
LENGTH = 16
"""Of each dimension of an operator."""
LONG = 1 << 28
"""Of one that takes so long, and moves so much, that samples of the device show it."""
FEW = 3
"""Operators that are few enough."""
NETWORK = ModelChoice(layers=1, hidden=64, heads=1, sequence=16, vocabulary=16)
"""The one with a collective that has fewest operators."""
ONE_STEP = Schedule(warmup=0, active=1)
SMALL: Made = {
    **{"layers": 1, "hidden": 64, "heads": 1, "sequence": 16, "vocabulary": 16, "batch": 1},
    **{"microbatches": 1, "generate": 1, "tables": 1},
}
"""Fields of models, of which each kind reads some."""


def shrink(case: Case, sought: Sought) -> Case:
    """The smallest case found that still shows a failure.

    A case that is smaller at once is looked for first: one that was tried for another failure; one
    operator, with the switches by default, with those of the case that its file needs to be there
    at all, or with all of the case. Then one part after another is made smaller as long as the
    failure stays; after many exports only the number of operators. Of a larger model that is
    needed, as few host calls as possible are left.
    """
    known, needed = sought.smallest(), Switches()
    found = known
    if found is None or found.scenario.model.kind != ALONE:
        needed = _needed_switches(case, sought)
        found = next(filter(sought.shows, _tiny(case, needed)), None)

    is_small, found = found is not None, found or known or case
    if found.scenario.model.kind != ALONE:
        return _with_fewest_calls(found, needed, sought)

    def smaller(one: Case) -> Iterator[tuple[str, Case]]:
        return _fewer_operators(one) if is_small and sought.is_late else _smaller(needed, one)

    return _reduced(found, smaller, sought.shows)


def _with_fewest_calls(case: Case, needed: Switches, sought: Sought) -> Case:
    """The smallest case found of one that needs its model: what runs is made smaller, then few of
    its calls are left, then few switches, unless many exports went before.
    """
    found = case
    if found.calls is None:
        small = _reduced(found, lambda one: _made(one, _less_work(one.scenario)), sought.shows)
        sought.renew()
        found = with_fewest_calls(small, sought)
    return found if sought.is_late else _reduced(found, partial(_plainer, needed), sought.shows)


def _needed_switches(case: Case, sought: Sought) -> Switches:
    """The switches without which there is no file for a failure, found without an export."""
    own = case.scenario.capture
    able = next(filter(sought.can_show, _tiny(case, own)), None)
    if able is None or able.scenario.capture != own:
        return Switches() if able else own
    return _reduced(able, _fewer_switches, sought.can_show).scenario.capture


def _reduced(case: Case, smaller_ones: Smaller, holds: Holds) -> Case:
    """A case with every part made smaller that something does not need to hold."""
    found = case
    kept: set[str] = set()
    changed = True
    while changed:
        changed = False
        for what, smaller in smaller_ones(found):
            if what in kept or smaller == found:
                continue
            if holds(smaller):
                found, changed = smaller, True
                break
            kept.add(what)
    return found


@cache
def single_operators() -> tuple[ModelChoice, ...]:
    """The first operator of each unit that executes operators, and a copy."""
    first: dict[str, str] = {}
    for name, kind in kinds().items():
        first.setdefault(kind.unit, name)
    return tuple(map(_alone, (*first.values(), COPY)))


def _alone(operator: str) -> ModelChoice:
    return ModelChoice(ALONE, operator=operator, shape=(LENGTH,) * least_lengths(operator))


def _tiny(case: Case, needed: Switches) -> Iterator[Case]:
    """The boldest steps, smallest cases first: one operator, of each unit that executes some."""
    own = case.scenario
    product = HardwareChoice(own.hardware.product)
    first, *others = _programs(own)
    for hardware in dict.fromkeys((HardwareChoice(), product)):
        for capture in dict.fromkeys((Switches(), needed, own.capture)):
            yield replace(case, seed=0, scenario=_scenario(*first, hardware, capture))
    if own.model.kind == ALONE:
        return  # its parts are few
    for program in others:  # with all switches, of which there are fewer afterwards
        yield replace(case, seed=0, scenario=_scenario(*program, product, own.capture))
    model, parallelism, _ = first
    alone = replace(own, name="shrunk", summary="", parallelism=parallelism, faults=())
    yield replace(case, scenario=replace(alone, model=model, schedule=ONE_STEP))


def _scenario(
    model: ModelChoice,
    parallelism: Parallelism,
    steps: int,
    hardware: HardwareChoice,
    capture: Switches,
) -> Scenario:
    return Scenario(
        "shrunk",
        hardware=hardware,
        model=model,
        parallelism=parallelism,
        schedule=replace(ONE_STEP, active=steps),
        capture=capture,
    )


def _programs(own: Scenario) -> Iterator[tuple[ModelChoice, Parallelism, int]]:
    """Models, ranks and steps: an operator alone, then what has all that a case has and few
    operators, then other operators, and two of them for what is between them.
    """
    first, *others = single_operators()
    yield first, Parallelism(), 1
    together = min(own.parallelism.devices_per_process, 2)
    pair = Parallelism(2, devices_per_process=together)
    one, programs = Parallelism(), []
    if own.parallelism.ranks > 1:
        collective = _alone(COLLECTIVES[0])
        programs += [(model, pair, 1) for model in (first, collective)]
    programs += [(replace(first, shape=(LONG,)), pair if together > 1 else one, 2)]
    programs += [(first, one, 2)]
    programs += [(model, pair if together > 1 else one, 2) for model in others]
    programs += [(first, one, 3)]
    if own.parallelism.ranks > 1:
        programs += [(NETWORK, pair, 1)]
    if own.parallelism.pipeline > 1:
        programs += [(*_stages(own), 1)]
    for model, parallelism, steps in programs:
        yield replace(model, graph=own.model.graph), parallelism, steps


def _stages(own: Scenario) -> tuple[ModelChoice, Parallelism]:
    """The network with as many stages as a case, of a layer each: devices run other operators."""
    stages = own.parallelism.pipeline
    together = min(own.parallelism.devices_per_process, stages)
    parallelism = Parallelism(stages, pipeline=stages, devices_per_process=together)
    return replace(NETWORK, layers=stages), parallelism


def _smaller(needed: Switches, case: Case) -> Iterator[tuple[str, Case]]:
    """Each part of a case made smaller, the ones that save most first."""
    yield from _made(case, _less_work(case.scenario))
    yield from _plainer(needed, case)
    yield from _made(case, _model_fields(case.scenario.model))


def _plainer(needed: Switches, case: Case) -> Iterator[tuple[str, Case]]:
    """A case with nothing special but what runs."""
    yield from _made(case, _settings(case.scenario, needed))
    yield "seed", replace(case, seed=0)
    yield "name", replace(case, scenario=replace(case.scenario, name="shrunk", summary=""))


def _fewer_operators(case: Case) -> Iterator[tuple[str, Case]]:
    """Fewer ranks and steps where each of these has an operator of its own, and there are many."""
    own = case.scenario
    if own.schedule.active * own.parallelism.ranks > FEW:
        yield "schedule", replace(case, scenario=replace(own, schedule=ONE_STEP))
        yield "ranks", replace(case, scenario=replace(own, parallelism=Parallelism()))


def _fewer_switches(case: Case) -> Iterator[tuple[str, Case]]:
    return _made(case, _captures(case.scenario.capture, Switches()))


def _made(case: Case, parts: Iterator[tuple[str, Made]]) -> Iterator[tuple[str, Case]]:
    for what, made in parts:
        yield what, replace(case, scenario=replace(case.scenario, **made))


def _less_work(own: Scenario) -> Iterator[tuple[str, Made]]:
    """What runs made smaller."""
    yield "faults", {"faults": ()}
    for at, fault in enumerate(own.faults):
        yield f"fault {fault.kind}", {"faults": own.faults[:at] + own.faults[at + 1 :]}
    yield from _models(own)
    yield "ranks", {"parallelism": Parallelism()}
    if own.parallelism.ranks > 2:
        yield "two ranks", {"parallelism": Parallelism(2)}
    if own.parallelism.devices_per_process > 1:
        yield "processes", {"parallelism": replace(own.parallelism, devices_per_process=1)}
    yield "schedule", {"schedule": ONE_STEP}
    for steps in range(1, own.schedule.active + 1):
        yield f"{steps} steps", {"schedule": replace(ONE_STEP, active=steps)}


def _settings(own: Scenario, needed: Switches) -> Iterator[tuple[str, Made]]:
    yield "hardware", {"hardware": HardwareChoice()}
    yield "data sheet", {"hardware": HardwareChoice(own.hardware.product)}
    yield from _captures(own.capture, needed)


def _model_fields(own: ModelChoice) -> Iterator[tuple[str, Made]]:
    """An operator alone with what it does not need as by default."""
    model = ModelChoice(own.kind, operator=own.operator, shape=own.shape)
    yield "model fields", {"model": model}
    yield "model fields but the graph", {"model": replace(model, graph=own.graph)}
    for one in fields(model):
        made: Made = {one.name: getattr(model, one.name)}
        yield f"model {one.name}", {"model": replace(own, **made)}


def _small(kind: ModelKind) -> Made:
    read = run_schema().read_by("model", kind)
    return {name: value for name, value in SMALL.items() if name in read}


def _models(own: Scenario) -> Iterator[tuple[str, Made]]:
    """Fewer operators."""
    first, *others = single_operators()
    yield "model, ranks", {"model": first, "parallelism": Parallelism()}
    yield "model", {"model": first}
    if own.model.kind == ALONE:
        return
    if own.faults or own.hardware != HardwareChoice(own.hardware.product):  # else they were tiny
        for model in others:
            yield model.operator, {"model": model, "parallelism": Parallelism()}
        yield COLLECTIVES[0], {"model": _alone(COLLECTIVES[0])}
    small = {**_small(own.model.kind)}
    if "layers" in small:
        small["layers"] = own.parallelism.pipeline  # of each stage one
    tiny: Made = {one: value for one, value in small.items() if getattr(own.model, one) > value}
    yield "sizes", {"model": replace(own.model, **tiny)}
    if own.model != NETWORK:
        few = Parallelism(min(own.parallelism.ranks, 2))
        yield "small network", {"model": NETWORK, "parallelism": few}
    if own.parallelism.pipeline > 1:
        model, parallelism = _stages(own)
        yield "small stages", {"model": model, "parallelism": parallelism}


def _captures(own: Switches, needed: Switches) -> Iterator[tuple[str, Made]]:
    """Fewer switches: only those that the file needs, all but those of counters, then halves,
    quarters, … down to each alone.
    """
    usual, other = Switches(), _other(own)
    counters = replace(usual, level=own.level, aic_metrics=own.aic_metrics, aic_mode=own.aic_mode)
    names = list(other)
    yield "switches", {"capture": usual}
    if _other(needed).items() < other.items():
        yield "switches but those that are needed", {"capture": needed}
    yield "switches but counters", {"capture": counters}
    size = (len(names) + 1) // 2
    while size:
        for at in range(0, len(names), size):
            some = names[at : at + size]
            fewer = replace(own, **{one: getattr(usual, one) for one in some})
            yield f"switches {' '.join(some)}", {"capture": fewer}
        size //= 2


def _other(own: Switches) -> Made:
    """The switches that are not as by default."""
    usual = Switches()
    named = {one.name: getattr(own, one.name) for one in fields(own)}
    return {name: value for name, value in named.items() if value != getattr(usual, name)}
