"""Cases to try, drawn by Hypothesis; needs the extra ``strategies``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ascend_simulator.scenario.estimate import rows_per_rank
from ascend_simulator.strategies import scenarios

from .case import OUTPUTS, Case, can_hold

if TYPE_CHECKING:
    from .case import Output
    from .stages import Stage

MOST_ROWS = 40_000
"""Of a case, about: what is larger shows no more, and takes minutes."""
ATTEMPTS = 10
"""Scenarios that are drawn for each that is small enough, at most."""


@st.composite
def cases(draw: st.DrawFn, stage: str = "database-to-text", max_ranks: int = 2) -> Case:
    """Any case of a stage: product, model, switches, faults, whose profile, and the seed."""
    drawn = draw(scenarios(max_ranks=max_ranks, max_steps=2, max_faults=2))
    outputs: tuple[Output, ...] = tuple(one for one in OUTPUTS if can_hold(drawn, one))
    scenario = replace(drawn, schedule=replace(drawn.schedule, repeat=1))
    return Case(scenario, stage, draw(st.sampled_from(outputs)), draw(st.integers(0, 1 << 32)))


def size(case: Case) -> int:
    """About how many rows a case has."""
    return rows_per_rank(case.scenario) * case.scenario.parallelism.ranks


def draw_cases(stage: Stage, count: int, number: int) -> list[Case]:
    """So many cases, smallest first; the same ones for the same number."""
    found: dict[object, Case] = {}  # Hypothesis likes to repeat most of what it has drawn

    @seed(number)
    @settings(
        max_examples=ATTEMPTS * count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(stage.name, stage.ranks))
    def collect(case: Case) -> None:
        possible = stage.can_be_drawn(case) and case.is_possible
        if len(found) < count and possible and size(case) <= MOST_ROWS:
            one = case.scenario
            found.setdefault((case.output, one.hardware.product, one.model.kind, size(case)), case)

    if count:
        collect()
    return sorted(found.values(), key=size)
