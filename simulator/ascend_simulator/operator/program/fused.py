"""A matrix product whose tiles two vector cores pass through a leaky ReLU, block by block."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cross import CrossFlags
from .cube_part import ACCUMULATOR_BYTES, Store
from .frame import Ending, Frame
from .geometry import activation
from .listing import Code
from .matmul import SLOTS, ProductCode, activation_elements, matmul_source
from .model import MIX_UNITS, Draft, Program
from .product import Tile, contiguous, tile_at
from .tape import Quantity, Tape
from .vector_part import Hand, VectorPart

VECTORS = (1, 2)
"""Units of the vector cores; the cube core is unit 0."""


def fused_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """The program of a product with a leaky ReLU behind it, on separate cores."""
    store: Store = "ub" if chip.family == "950" else "gm"
    draft = Draft(scenario, chip, Code(matmul_source(scenario, chip, store)))
    whole = _Fused(draft, store)
    plan, cores = whole.product.plan, chip.cube_cores
    tiles = plan.rows * plan.columns
    return draft.program(MIX_UNITS, cores, plan.blocks, tiles, whole.tape)


class _Fused:
    """Tiles go from L0C to UB through global memory, but on ``near`` cores (950)."""

    def __init__(self, draft: Draft, store: Store) -> None:
        """Add the kernel to the code, and its operands to the memory."""
        scenario, code, memory = draft.scenario, draft.code, draft.memory
        self.near = store == "ub"
        reads = "VECTOR" if self.near else "MTE2"
        self.product = ProductCode(draft, store)
        plan, size = self.product.plan, self.product.result_size
        cross = self.cross = CrossFlags(draft)
        cross.wait("taken", "FIXP", "cube-wait")
        cross.set("done", "FIXP", "cube-set")
        self.ending = Ending(code)
        self.frame = Frame(code, "vector-")
        cross.wait("done", reads, "vector-wait")
        one = activation(scenario)
        self.vector = VectorPart(draft, one, inputs=int(not self.near))
        cross.set("taken", reads, "vector-set")
        self.vector_ending = Ending(code)
        self.part = activation_elements(scenario, draft.chip, plan)
        tile = plan.tile_m * plan.tile_n * size
        self.c = memory.tensor("c", plan.rows * plan.columns * tile)
        self.workspace = memory.tensor("workspace", plan.blocks * SLOTS * tile)

    def tape(self, blocks: Integers, starts: Integers, count: int) -> Tape:
        """What the blocks execute that have so many tiles."""
        tape = Tape(blocks)
        cube = tape.unit()
        for _ in VECTORS:
            tape.unit()
        self.product.frame.begin(tape, cube)
        for unit in VECTORS:
            self.frame.begin(tape, unit)
        for number in range(count):
            tape.stage = number
            tile = tile_at(self.product.plan, starts + number)
            slot = self._slot(blocks, number)
            self._cube(tape, cube, tile, slot, number)
            for unit in VECTORS:
                self._activate(tape, unit, tile, slot)
        self.product.cube.drain(tape, cube)
        for unit in VECTORS:
            self.vector.drain(tape, unit)
            self.vector_ending.run(tape, unit)
        for _ in range(min(count, SLOTS)):
            self.cross.take(tape, cube, VECTORS, "taken")
        self.ending.run(tape, cube)
        return tape

    def _slot(self, blocks: Integers, number: int) -> Integers:
        """Address of the workspace that the tile goes through."""
        plan = self.product.plan
        size = plan.tile_m * plan.tile_n * self.product.result_size
        return self.workspace + (blocks * SLOTS + number % SLOTS) * size

    def _cube(self, tape: Tape, cube: int, tile: Tile, slot: Integers, number: int) -> None:
        self.product.frame.round(tape, cube)
        self.product.accumulate(tape, tile)
        if number >= SLOTS:
            self.cross.take(tape, cube, VECTORS, "taken")
        elements = tile.rows * tile.columns
        through = contiguous(slot, elements * self.product.result_size, store=True, local="L0C")
        self.product.cube.finish(
            tape, cube, elements * ACCUMULATOR_BYTES, None if self.near else through
        )
        self.cross.give(tape, cube, VECTORS, "done")

    def _activate(self, tape: Tape, unit: int, tile: Tile, slot: Integers) -> None:
        self.frame.round(tape, unit)
        self.cross.take(tape, unit, (0,), "done")
        plan, size = self.product.plan, self.product.result_size
        number = tile.row * plan.columns + tile.column
        target = self.c + number * plan.tile_m * plan.tile_n * size
        for place, count in self._pieces(unit, tile):
            source = contiguous(slot + place * size, count * size, store=False, local="UB")
            output = contiguous(target + place * size, count * size, store=True, local="UB")
            self.vector.emit(tape, unit, Hand(count, () if self.near else (source,), output))
        self.cross.give(tape, unit, (0,), "taken")

    def _pieces(self, unit: int, tile: Tile) -> Iterator[tuple[Quantity, Quantity]]:
        """Start and length of what the unit works on; as equal as possible."""
        elements, plan = tile.rows * tile.columns, self.product.plan
        share = VECTORS.index(unit)
        number = -(-plan.tile_m * plan.tile_n // (len(VECTORS) * self.part))
        pieces = number * len(VECTORS)
        for piece in range(share * number, (share + 1) * number):
            start = elements * piece // pieces
            yield start, elements * (piece + 1) // pieces - start
