"""Cases to try, drawn by Hypothesis; needs the extra ``strategies``."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ascend_simulator.scenario.estimate import rows_per_rank
from ascend_simulator.strategies import as_cann_asks, scenarios

from .case import OUTPUTS, Case, can_hold

if TYPE_CHECKING:
    from .case import Output
    from .stages import Stage

MOST_ROWS = 40_000
"""Of a case, about: what is larger shows no more, and takes minutes."""
ATTEMPTS = 10
"""Scenarios that are drawn in a round for each case that is wanted."""
ROUNDS = 8
"""Of draws, each with a seed of its own, until there are cases enough."""


@st.composite
def cases(draw: st.DrawFn, stage: str = "database-to-text", max_ranks: int = 2) -> Case:
    """Any case of a stage: product, model, switches, faults, whose profile, and the seed."""
    drawn = draw(scenarios(max_ranks=max_ranks, max_steps=2, max_faults=2))
    outputs: tuple[Output, ...] = tuple(one for one in OUTPUTS if can_hold(drawn, one))
    scenario = replace(drawn, schedule=replace(drawn.schedule, repeat=1))
    output = draw(st.sampled_from(outputs))
    if output == "msprof":
        scenario = draw(as_cann_asks(scenario))
    return Case(scenario, stage, output, draw(st.integers(0, 1 << 32)))


def size(case: Case) -> int:
    """About how many rows a case has."""
    return rows_per_rank(case.scenario) * case.scenario.parallelism.ranks


class _Enough(BaseException):
    """As many cases as wanted; no error, which Hypothesis would look for a smaller one of."""


def draw_cases(stage: Stage, count: int, number: int) -> list[Case]:
    """So many cases, smallest first; the same ones for the same number.

    They are fewer where many rounds of draws have no more that are possible, small and different.
    """
    if not count:
        return []
    found: dict[object, Case] = {}  # Hypothesis likes to repeat most of what it has drawn

    def collect(case: Case) -> None:
        possible = stage.can_be_drawn(case) and case.is_possible
        if possible and size(case) <= MOST_ROWS:
            one = case.scenario
            found.setdefault((case.output, one.hardware.product, one.model.kind, size(case)), case)
        if len(found) == count:
            raise _Enough

    settled = settings(
        max_examples=ATTEMPTS * count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    draw = settled(given(cases(stage.name, stage.ranks))(collect))
    with suppress(_Enough):
        for turn in range(ROUNDS):
            seed(number + (turn << 64))(draw)()
    return sorted(found.values(), key=size)
