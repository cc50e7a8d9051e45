"""What stands around the work of every kernel: the beginning, the loop, the end."""

from __future__ import annotations

from .costs import SCALAR_CYCLES, SCALAR_LOAD_CYCLES
from .listing import BARRIER, END, Code, Instruction
from .tape import Tape

_SCALAR_NAMES = ("MOV_XD_IMM", "ADD", "MADD", "SHL", "CMP", "JUMPC")


def scalar_code(code: Code, mark: str, count: int) -> list[Instruction]:
    """So many instructions of the scalar unit: addresses, counters, a branch."""
    return [
        code.add("SCALAR", _SCALAR_NAMES[number % len(_SCALAR_NAMES)], "XD,XN,XM", mark)
        for number in range(count)
    ]


def run_scalar(tape: Tape, unit: int, instructions: list[Instruction]) -> None:
    """Execute them."""
    for one in instructions:
        tape.run(unit, one, SCALAR_CYCLES)


class Frame:
    """Code before the loop of one function, and of each round of the loop."""

    def __init__(self, code: Code, prefix: str = "") -> None:
        """Add it to the code; ``prefix`` of its marks."""
        code.function()
        self._entry = scalar_code(code, f"{prefix}entry", 4)
        self._loads = [
            code.add("SCALAR", "LD_XD_XN_IMM", "XD,XN,IMM", f"{prefix}prologue") for _ in range(3)
        ]
        self._loop = scalar_code(code, f"{prefix}loop", 5)

    def begin(self, tape: Tape, unit: int) -> None:
        """Execute what comes before the loop."""
        run_scalar(tape, unit, self._entry)
        for one in self._loads:
            tape.run(unit, one, SCALAR_LOAD_CYCLES)

    def round(self, tape: Tape, unit: int) -> None:
        """Execute the head of the loop once."""
        run_scalar(tape, unit, self._loop)


class Ending:
    """Code behind the loop."""

    def __init__(self, code: Code) -> None:
        """Add it to the code."""
        self._barrier = code.add("ALL", BARRIER, "PIPE:ALL", "end")
        self._end = code.add("SCALAR", END, "", "end")

    def run(self, tape: Tape, unit: int) -> None:
        """Wait for all pipes, and end."""
        tape.barrier(unit, self._barrier)
        tape.run(unit, self._end, SCALAR_CYCLES)
