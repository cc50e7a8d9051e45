"""Documents of simulated kernels."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from ...documents import ScenarioKind
from ...documents.schema import ScenarioSchema, read_schema
from ..choices import KernelScenario
from .consistency import problems


@cache
def kernel_schema() -> ScenarioSchema:
    """The schema, completed by the types of :class:`KernelScenario`."""
    return read_schema(__package__, "kernel.schema.yaml", KernelScenario)


KERNEL = ScenarioKind(
    KernelScenario,
    kernel_schema,
    __package__,
    problems,
    "kernel preset",
    "ascend-ref scenarios --of kernel",
)


def override(
    scenario: KernelScenario,
    *,
    mode: str | None = None,
    chip: str | None = None,
    block_dim: int | None = None,
) -> KernelScenario:
    """The scenario in another mode, on another chip, with other blocks; not validated."""
    device, capture = scenario.device, scenario.capture
    if chip is not None:
        device = replace(device, chip=chip)
    if block_dim is not None:
        device = replace(device, block_dim=block_dim)
    if mode is not None:
        capture = replace(capture, mode=mode)  # type: ignore[arg-type]
    return replace(scenario, device=device, capture=capture)
