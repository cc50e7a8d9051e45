"""The part of a kernel that runs on a cube unit: a product of tiles, through L1 and L0 to L0C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .costs import COPY_START, FRACTALS_PER_L0A_READ, MMAD_START, ROW_CYCLES, copy_within, fractals
from .flags import Flags
from .geometry import ACCUMULATOR_BYTES
from .model import Draft
from .recipes import element_bytes
from .tape import Quantity, Tape, Transfer, ceil_div

L0_BYTES = 512
"""Of a fractal: what the cube reads of either operand in a cycle."""

Store = Literal["gm", "ub", "vector"]
"""Where a product goes from L0C: by FIXP to global memory or (950) to UB, or by the vector unit."""


@dataclass(frozen=True, slots=True)
class Load:
    """One load of both operands to L1. a: None where it lies there already. k: inner length."""

    a: Transfer | None
    b: Transfer
    k: int


class CubePart:
    """Code of one product.

    prefix: of its marks. step: inner length of one MMAD. c_buffers: tiles that L0C holds.
    """

    def __init__(
        self,
        draft: Draft,
        *,
        step: int,
        store: Store,
        prefix: str = "",
        c_buffers: int = 1,
    ) -> None:
        code, data_type = draft.code, draft.scenario.operator.data_type
        buffers = draft.scenario.tiling.buffers
        self.chip, self._size, self._step = draft.chip, element_bytes(data_type), step
        self._kind = "INT" if data_type == "int8" else "FP"
        drain = "VECTOR" if store == "vector" else "FIXP"
        l1 = self._l1 = Flags(draft, prefix, buffers)
        l0 = self._l0 = Flags(draft, prefix, buffers)
        c = self._c = Flags(draft, prefix, c_buffers)
        self.flags = (l1, l0, c)
        l1.wait("l1-free", "MTE1", "MTE2", "l1-wait")
        self._load_a = code.add(
            "MTE2", "MOV_OUT_TO_L1_MULTI_ND2NZ", "XD,XN,XM,XT", f"{prefix}load-a"
        )
        self._load_b = code.add(
            "MTE2", "MOV_OUT_TO_L1_MULTI_ND2NZ", "XD,XN,XM,XT", f"{prefix}load-b"
        )
        l1.set("l1-full", "MTE2", "MTE1", "l1-set")
        l1.wait("l1-full", "MTE2", "MTE1", "l1-ready")
        l0.wait("l0-free", "CUBE", "MTE1", "l0-wait")
        self._split_a = code.add("MTE1", "LOAD_L1_TO_L0A_2D", "XD,XN,XM", f"{prefix}split-a")
        self._split_b = code.add("MTE1", "LOAD_L1_TO_L0B_2D", "XD,XN,XM", f"{prefix}split-b")
        l1.set("l1-free", "MTE1", "MTE2", "l1-free")
        l0.set("l0-full", "MTE1", "CUBE", "l0-set")
        l0.wait("l0-full", "MTE1", "CUBE", "l0-ready")
        c.wait("c-free", drain, "CUBE", "c-wait")
        self._mmad = code.add("CUBE", "MMAD", "XD,XN,XM,XT", f"{prefix}mmad")
        l0.set("l0-free", "CUBE", "MTE1", "l0-free")
        c.set("c-full", "CUBE", drain, "c-set")
        c.wait("c-full", "CUBE", drain, "c-ready")
        name = "FIX_L0C_TO_OUT" if store == "gm" else "FIX_L0C_TO_UB"
        self._fix = (
            None if store == "vector" else code.add("FIXP", name, "XD,XN,XM,XT", f"{prefix}store")
        )
        c.set("c-free", drain, "CUBE", "c-free")

    def begin(self, tape: Tape, unit: int) -> None:
        """Begin a tile: wait until its place in L0C is free."""
        self._c.take(tape, unit, "c-free", self._c.slot(tape, unit, "tiles"), unless_new=True)

    def accumulate(
        self, tape: Tape, unit: int, load: Load, m: Quantity, n: Quantity, *, first: bool
    ) -> None:
        """Load both operands and multiply them, step by step; ``first``: L0C is not read."""
        slot = self._l1.next(tape, unit, "loads")
        self._l1.take(tape, unit, "l1-free", slot, unless_new=True)
        for instruction, one in ((self._load_a, load.a), (self._load_b, load.b)):
            if isinstance(one, Transfer):
                cycles = COPY_START + (one.rows - 1) * ROW_CYCLES
                tape.transfer(unit, instruction, one, "GM_TO_L1", cycles)
        self._l1.give(tape, unit, "l1-full", slot)
        self._l1.take(tape, unit, "l1-full", slot)
        steps = -(-load.k // self._step)
        for step in range(steps):
            k = min(self._step, load.k - step * self._step)
            self._multiply(
                tape, unit, (m, n, k), first and step == 0, slot if step == steps - 1 else None
            )

    def finish(self, tape: Tape, unit: int, size: Quantity, output: Transfer | None = None) -> None:
        """Move a finished tile of ``size`` Byte out of L0C (with ``vector``, leave it there)."""
        slot = self._c.slot(tape, unit, "tiles")
        self._c.give(tape, unit, "c-full", slot)
        self._c.take(tape, unit, "c-full", slot)
        if self._fix is not None:
            if output is not None:
                tape.transfer(unit, self._fix, output, "L0C_TO_GM", COPY_START)
            else:
                copy_within(tape, unit, self._fix, self.chip, "L0C_TO_UB", size, "FIXP_TO_UB")
            self.release(tape, unit)

    def release(self, tape: Tape, unit: int) -> None:
        """Free the tile's place in L0C."""
        self._c.give(tape, unit, "c-free", self._c.next(tape, unit, "tiles"))

    def _multiply(
        self,
        tape: Tape,
        unit: int,
        tile: tuple[Quantity, Quantity, int],
        first: bool,
        frees: int | None,
    ) -> None:
        """One step; ``frees``: the place in L1 that it uses for the last time."""
        m, n, k = tile
        slot = self._l0.next(tape, unit, "splits")
        self._l0.take(tape, unit, "l0-free", slot, unless_new=True)
        a, b = m * k * self._size, k * n * self._size
        for instruction, path, size in (
            (self._split_a, "L1_TO_L0A", a),
            (self._split_b, "L1_TO_L0B", b),
        ):
            copy_within(tape, unit, instruction, self.chip, path, size)
        if frees is not None:
            self._l1.give(tape, unit, "l1-free", frees)
        self._l0.give(tape, unit, "l0-full", slot)
        self._l0.take(tape, unit, "l0-full", slot)
        cycles = fractals(m, n, k, self._size)
        result = ceil_div(m, 16) * ceil_div(n, 16) * 16 * 16 * ACCUMULATOR_BYTES
        tape.run(
            unit,
            self._mmad,
            MMAD_START + cycles,
            {
                f"MMAD {self._kind}": 1,
                "L0A_TO_CUBE": ceil_div(cycles, FRACTALS_PER_L0A_READ) * L0_BYTES,
                "L0B_TO_CUBE": cycles * L0_BYTES,
                "CUBE_TO_L0C": result,
                "L0C_TO_CUBE": 0 if first else result,
            },
        )
        self._l0.give(tape, unit, "l0-free", slot)
