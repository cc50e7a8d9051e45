"""The schema of simulated kernels."""

from __future__ import annotations

from functools import cache

from ...documents.schema import ScenarioSchema, read_schema
from ..choices import KernelScenario


@cache
def kernel_schema() -> ScenarioSchema:
    """The schema, completed by the types of :class:`KernelScenario`."""
    return read_schema(__package__, "kernel.schema.yaml", KernelScenario)
