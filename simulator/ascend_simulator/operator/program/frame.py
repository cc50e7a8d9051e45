"""What stands around the work of every kernel: the beginning, the loop, the end."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Frame:
    """Code before the loop of one function, and of each round of the loop."""

    entry: list[Instruction]
    loads: list[Instruction]
    loop: list[Instruction]

    @classmethod
    def of(cls, code: Code, prefix: str = "") -> Frame:
        """Add it to the code; ``prefix`` of its marks."""
        code.function()
        return cls(
            entry=scalar_code(code, f"{prefix}entry", 4),
            loads=[
                code.add("SCALAR", "LD_XD_XN_IMM", "XD,XN,IMM", f"{prefix}prologue")
                for _ in range(3)
            ],
            loop=scalar_code(code, f"{prefix}loop", 5),
        )

    def begin(self, tape: Tape, unit: int) -> None:
        """Execute what comes before the loop."""
        run_scalar(tape, unit, self.entry)
        for one in self.loads:
            tape.run(unit, one, SCALAR_LOAD_CYCLES)

    def round(self, tape: Tape, unit: int) -> None:
        """Execute the head of the loop once."""
        run_scalar(tape, unit, self.loop)


@dataclass(frozen=True, slots=True)
class Ending:
    """Code behind the loop."""

    barrier: Instruction
    end: Instruction

    @classmethod
    def of(cls, code: Code) -> Ending:
        """Add it to the code."""
        return cls(
            barrier=code.add("ALL", BARRIER, "PIPE:ALL", "end"),
            end=code.add("SCALAR", END, "", "end"),
        )

    def run(self, tape: Tape, unit: int) -> None:
        """Wait for all pipes, and end."""
        tape.barrier(unit, self.barrier)
        tape.run(unit, self.end, SCALAR_CYCLES)
