"""The schema of simulated runs."""

from __future__ import annotations

from functools import cache

from ..choices import Scenario
from ..documents.schema import ScenarioSchema, read_schema


@cache
def run_schema() -> ScenarioSchema:
    """The schema, completed by the types of :class:`Scenario`."""
    return read_schema(__package__, "scenario.schema.yaml", Scenario)
