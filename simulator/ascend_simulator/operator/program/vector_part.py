"""The part of a kernel that runs on a vector unit: copy in, compute, copy out, tile after tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .costs import COPY_START, VECTOR_START, copy_within
from .flags import Flags
from .listing import Code, Instruction
from .model import Draft
from .recipes import REPEAT_BYTES, Recipe
from .tape import Quantity, Tape, Transfer, ceil_div


@dataclass(frozen=True, slots=True)
class Hand:
    """What a tile of a vector part works on: in and out by transfers, or by what lies in UB."""

    elements: Quantity
    inputs: Sequence[Transfer] = ()
    output: Transfer | None = None
    to_l1: Quantity | None = None


class VectorPart:
    """Code of one pass over a tile.

    prefix: of its marks in the source. inputs: copies into UB. accumulator: Byte of an element that
    is first moved from L0C (310P, whose vector unit reads it), or 0. The result leaves the tile by
    MTE3, to global memory or to L1.
    """

    def __init__(
        self,
        draft: Draft,
        recipe: Recipe,
        *,
        inputs: int,
        computes: bool = True,
        prefix: str = "",
        accumulator: int = 0,
    ) -> None:
        code = draft.code
        self.recipe, self.chip = recipe, draft.chip
        self._conflicts = draft.scenario.conditions.bank_conflicts
        self._accumulator = accumulator
        flags = self.flags = Flags(draft, prefix, draft.scenario.tiling.buffers)
        if inputs:
            flags.wait("in-free", "VECTOR", "MTE2", "in-wait")
        self._copies = [
            code.add("MTE2", "MOV_OUT_TO_UB_ALIGN", "XD,XN,XM,XT", f"{prefix}in-{number}")
            for number in range(inputs)
        ]
        if inputs:
            flags.set("in-full", "MTE2", "VECTOR", "in-set")
            flags.wait("in-full", "MTE2", "VECTOR", "compute-wait")
        flags.wait("out-free", "MTE3", "VECTOR", "out-alloc")
        self._moved = (
            code.add("VECTOR", "MOV_L0C32_TO_UB", "XD,XN,XT", f"{prefix}store")
            if accumulator
            else None
        )
        self._compute = _computation(code, recipe, prefix) if computes else []
        if inputs:
            flags.set("in-free", "VECTOR", "MTE2", "in-free")
        flags.set("out-full", "VECTOR", "MTE3", "compute-set")
        flags.wait("out-full", "VECTOR", "MTE3", "out-wait")
        self._out = code.add("MTE3", "MOV_UB_TO_OUT_ALIGN", "XD,XN,XM,XT", f"{prefix}out")
        flags.set("out-free", "MTE3", "VECTOR", "out-free")

    def emit(self, tape: Tape, unit: int, hand: Hand) -> None:
        """One tile."""
        flags = self.flags
        slot = flags.next(tape, unit, "hands")
        if hand.inputs:
            flags.take(tape, unit, "in-free", slot, unless_new=True)
            for copy, transfer in zip(self._copies, hand.inputs, strict=True):
                tape.transfer(unit, copy, transfer, "GM_TO_UB", COPY_START)
            flags.give(tape, unit, "in-full", slot)
            flags.take(tape, unit, "in-full", slot)
        leaves = hand.output is not None or hand.to_l1 is not None
        if leaves:
            flags.take(tape, unit, "out-free", flags.slot(tape, unit, "stored"), unless_new=True)
        self._calculate(tape, unit, hand.elements)
        if hand.inputs:
            flags.give(tape, unit, "in-free", slot)
        if leaves:
            self._leave(tape, unit, hand)

    def _calculate(self, tape: Tape, unit: int, elements: Quantity) -> None:
        recipe = self.recipe
        if self._moved is not None:
            size = elements * self._accumulator
            copy_within(tape, unit, self._moved, self.chip, "L0C_TO_UB", size)
        repeats = ceil_div(elements, recipe.lanes)
        for instruction, one in zip(self._compute, recipe.compute, strict=False):
            lost = repeats * self._conflicts // 1000
            group = lost // 2
            tape.run(
                unit,
                instruction,
                VECTOR_START + repeats * one.cycles,
                {
                    f"repeats {one.counter}": repeats,
                    "UB_TO_VEC": repeats * one.sources * REPEAT_BYTES,
                    "VEC_TO_UB": repeats * one.results * REPEAT_BYTES,
                    "bank group conflicts": group,
                    "bank conflicts": lost - group,
                },
                conflicts=lost,
                lanes=(elements, repeats * recipe.lanes),
            )

    def _leave(self, tape: Tape, unit: int, hand: Hand) -> None:
        slot = self.flags.next(tape, unit, "stored")
        self.flags.give(tape, unit, "out-full", slot)
        self.flags.take(tape, unit, "out-full", slot)
        if hand.output is not None:
            tape.transfer(unit, self._out, hand.output, "UB_TO_GM", COPY_START)
        elif hand.to_l1 is not None:
            copy_within(tape, unit, self._out, self.chip, "UB_TO_L1", hand.to_l1)
        self.flags.give(tape, unit, "out-free", slot)


def _computation(code: Code, recipe: Recipe, prefix: str) -> list[Instruction]:
    """Its instructions; conversions stand on the line of the nearest computation."""
    own = recipe.compute
    converted = sum(one.name == "VCONV" for one in own[: recipe.inputs])
    marks = [mark for mark in code.source.marks if mark.startswith(f"{prefix}compute-")]
    last = sum(mark.removeprefix(f"{prefix}compute-").isdigit() for mark in marks) - 1
    return [
        code.add(
            "VECTOR",
            one.name,
            "XD,XN,XM,XT",
            f"{prefix}compute-{min(max(number - converted, 0), last)}",
        )
        for number, one in enumerate(own)
    ]
