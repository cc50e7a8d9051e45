"""What one rank does in one step: operators, kernels, collectives, in the order of launch."""

from __future__ import annotations

from ..choices import ModelChoice, Parallelism
from ..hardware.model import Machine
from .cnn import network
from .dense import transformer
from .inference import server
from .model import Program as Program
from .recommendation import recommender
from .single import single_operator


def build(model: ModelChoice, machine: Machine, parallelism: Parallelism, stage: int) -> Program:
    """One step of a pipeline stage; every rank of the stage runs it.

    ``ValueError`` for a single operator that is not modelled.
    """
    match model.kind:
        case "dense-transformer" | "moe":
            return transformer(model, machine, parallelism, stage)
        case "llm-inference":
            return server(model, machine, parallelism, stage)
        case "cnn":
            return network(model, machine, parallelism)
        case "recommendation":
            return recommender(model, machine, parallelism)
        case "single-operator":
            return single_operator(model, machine, parallelism)
