"""Cycles that instructions take in addition to those for the bytes that they move.

Fitted to bin-blocks.md 8.3 (mix.bin, 910B4, two blocks): 80 MMAD of 512 fractals in 46,050 cycles,
5,348 vector repeats by about 170 instructions in 6,592, 166 copies of 1.3 MB to UB in 14,750.
"""

from __future__ import annotations

from ..chip import KernelChip
from .listing import Instruction
from .tape import Move, Quantity, Tape, ceil_div

SCALAR_CYCLES = 1
SCALAR_LOAD_CYCLES = 12
MMAD_START = 64
VECTOR_START = 8
COPY_START = 28
"""Of a copy by MTE1, MTE2, MTE3 or FIXP."""
ROW_CYCLES = 1
"""Of each further row of a copy that gathers rows."""

FRACTAL = 16
"""Rows and columns of what the cube multiplies in a cycle; its inner length is 32 Byte."""
FRACTAL_BYTES = 32
FRACTALS_PER_L0A_READ = 4
"""The cube keeps a fractal of the left operand for so many of the right one (mix.bin)."""


def fractals(m: Quantity, n: Quantity, k: Quantity, size: int) -> Quantity:
    """Cycles of the cube for a product of tiles; ``size``: Byte of an element."""
    return ceil_div(m, FRACTAL) * ceil_div(n, FRACTAL) * ceil_div(k, FRACTAL_BYTES // size)


def copy_within(
    tape: Tape,
    unit: int,
    instruction: Instruction,
    chip: KernelChip,
    path: str,
    size: Quantity,
    counter: str | None = None,
) -> None:
    """Execute a copy within a core; ``counter``: what counts its Byte, if it is not the path."""
    rate = chip.port(path)
    source, _, target = path.partition("_TO_")
    tape.run(
        unit,
        instruction,
        COPY_START + ceil_div(size * rate.denominator, rate.numerator),
        {counter or path: size},
        move=Move(source, target, size),
    )
