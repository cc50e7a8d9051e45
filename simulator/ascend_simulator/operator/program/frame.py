"""What stands around the work of every kernel: the beginning, the loop, the end."""

from __future__ import annotations

from .costs import SCALAR_CYCLES, SCALAR_LOAD_CYCLES
from .flags import CrossFlags, Flags
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
    """Code of one function around its work: before the loop, in each round of it, and behind it."""

    def __init__(self, code: Code, prefix: str = "") -> None:
        """Add what stands before the work to the code; ``prefix`` of its marks."""
        code.function()
        self._entry = scalar_code(code, f"{prefix}entry", 4)
        self._loads = [
            code.add("SCALAR", "LD_XD_XN_IMM", "XD,XN,IMM", f"{prefix}prologue") for _ in range(3)
        ]
        self._loop = scalar_code(code, f"{prefix}loop", 5)

    def end(self, code: Code, *flags: Flags | CrossFlags) -> None:
        """Add what stands behind the loop; ``flags``: to wait for where they are still set."""
        self._flags = flags
        self._barrier = code.add("ALL", BARRIER, "PIPE:ALL", "end")
        self._end = code.add("SCALAR", END, "", "end")

    def begin(self, tape: Tape, unit: int) -> None:
        """Execute what comes before the loop."""
        run_scalar(tape, unit, self._entry)
        for one in self._loads:
            tape.run(unit, one, SCALAR_LOAD_CYCLES)

    def round(self, tape: Tape, unit: int) -> None:
        """Execute the head of the loop once."""
        run_scalar(tape, unit, self._loop)

    def finish(self, tape: Tape, unit: int) -> None:
        """Wait for all flags and pipes, and end."""
        for one in self._flags:
            one.drain(tape, unit)
        tape.barrier(unit, self._barrier)
        tape.run(unit, self._end, SCALAR_CYCLES)
