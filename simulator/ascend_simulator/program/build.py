"""Programs of scenarios."""

from __future__ import annotations

from ..hardware.model import Machine
from ..scenario.model import ModelChoice, Parallelism
from .dense import transformer
from .model import Program
from .single import single_operator


def build(model: ModelChoice, machine: Machine, parallelism: Parallelism, stage: int) -> Program:
    """One step of a pipeline stage; every rank of the stage runs it."""
    if model.kind == "single-operator":
        return single_operator(model, machine)
    return transformer(model, machine, parallelism, stage)
