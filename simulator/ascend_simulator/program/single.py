"""One operator, again and again: what operator developers profile."""

from __future__ import annotations

from ..hardware.model import Machine
from ..scenario.model import ModelChoice
from .layers import matmul
from .model import Program
from .tape import Tape

REPEATS = 10


def single_operator(choice: ModelChoice, machine: Machine) -> Program:
    """Ten calls of one operator on operands that are already there."""
    tape = Tape(machine)
    m, n, k = choice.shape
    left = tape.constant(m, k, data_type=choice.data_type)
    right = tape.constant(k, n, data_type=choice.data_type)
    for _ in range(REPEATS):
        matmul(tape, "aten::mm", "aclnnMm", left, right, (m, n, k), (m, n))
    tape.synchronize("aten::item")
    return tape.program()
