"""Documents of simulated runs."""

from __future__ import annotations

from dataclasses import replace

from ..choices import Scenario
from ..documents import ScenarioKind
from .consistency import problems
from .estimate import rows_per_rank
from .schema import run_schema

RUN = ScenarioKind(
    Scenario,
    run_schema,
    __package__,
    problems,
    "preset",
    "ascend-ref scenarios",
    size=lambda one: rows_per_rank(one) * one.parallelism.ranks,
)


def override(
    scenario: Scenario,
    *,
    ranks: int | None = None,
    steps: int | None = None,
    level: int | None = None,
) -> Scenario:
    """The scenario with other ranks, captured steps per round or level; not validated."""
    changed = scenario
    if ranks is not None:
        changed = replace(changed, parallelism=replace(changed.parallelism, ranks=ranks))
    if steps is not None:
        changed = replace(changed, schedule=replace(changed.schedule, active=steps))
    if level is not None:
        changed = replace(changed, capture=replace(changed.capture, level=level))  # type: ignore[arg-type]
    return changed
