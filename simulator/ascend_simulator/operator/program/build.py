"""From a scenario to the program of its kernel."""

from __future__ import annotations

from ..chip import chip
from ..choices import KernelScenario
from .attention import Attention
from .fused import Fused
from .gather import gather_program
from .matmul import matmul_program
from .model import Program
from .vector import vector_program


def build(scenario: KernelScenario, seed: int) -> Program:
    """The program of a scenario that is possible; the seed chooses what a gather reads."""
    on = chip(scenario.device.chip)
    match scenario.operator.kind:
        case "add" | "gelu" | "softmax":
            return vector_program(scenario, on)
        case "matmul":
            return matmul_program(scenario, on)
        case "matmul-leakyrelu":
            return matmul_program(scenario, on) if on.unified else Fused(scenario, on).program()
        case "flash-attention":
            return Attention(scenario, on).program()
        case "gather":
            return gather_program(scenario, on, seed)
