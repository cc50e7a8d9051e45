"""A matrix product whose tiles two vector cores pass through a leaky ReLU, block by block."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cube_part import Store
from .flags import CrossFlags
from .frame import Frame
from .geometry import ACCUMULATOR_BYTES, activation
from .matmul import SLOTS, ProductCode, matmul_draft
from .model import VECTORS, Program
from .product import Tile, contiguous, tile_at
from .tape import Quantity, Tape
from .vector_part import Hand, VectorPart


class Fused:
    """Tiles go from L0C to UB through global memory, but on ``near`` cores (950)."""

    def __init__(self, scenario: KernelScenario, chip: KernelChip) -> None:
        """Add the kernel to the code, and its operands."""
        self.near = chip.family == "950"
        store: Store = "ub" if self.near else "gm"
        draft, self.part = matmul_draft(scenario, chip, store)
        self.draft = draft
        reads = "VECTOR" if self.near else "MTE2"
        self.product = ProductCode(draft, store)
        plan = self.product.plan
        cross = self.cross = CrossFlags(draft)
        cross.wait("taken", "FIXP", "cube-wait")
        cross.set("done", "FIXP", "cube-set")
        self.product.frame.end(draft.code, *self.product.cube.flags, cross)
        self.frame = Frame(draft.code, "vector-")
        cross.wait("done", reads, "vector-wait")
        self.vector = VectorPart(draft, activation(scenario), inputs=int(not self.near))
        cross.set("taken", reads, "vector-set")
        self.frame.end(draft.code, self.vector.flags)
        self.tile_bytes = plan.tile_m * plan.tile_n * self.product.result_size
        self.c = draft.tensor("c", plan.tiles * self.tile_bytes)
        self.workspace = draft.tensor("workspace", plan.blocks * SLOTS * self.tile_bytes)

    def program(self) -> Program:
        """The program of a product with a leaky ReLU behind it, on separate cores."""
        frames = {"cube0": self.product.frame, "vector0": self.frame, "vector1": self.frame}
        plan = self.product.plan
        return self.draft.program(frames, self._work, plan.blocks, plan.tiles)

    def _work(self, tape: Tape, tiles: Integers, number: int) -> None:
        tile = tile_at(self.product.plan, tiles)
        slot = self.workspace + (tape.blocks * SLOTS + number % SLOTS) * self.tile_bytes
        self.product.accumulate(tape, tile)
        if number >= SLOTS:
            self.cross.take(tape, 0, VECTORS, "taken")
        elements = tile.rows * tile.columns
        through = contiguous(slot, elements * self.product.result_size, store=True, local="L0C")
        output = None if self.near else through
        self.product.cube.finish(tape, 0, elements * ACCUMULATOR_BYTES, output)
        self.cross.give(tape, 0, VECTORS, "done")
        for unit in VECTORS:
            self._activate(tape, unit, tile, slot)

    def _activate(self, tape: Tape, unit: int, tile: Tile, slot: Integers) -> None:
        self.cross.take(tape, unit, (0,), "done")
        plan, size = self.product.plan, self.product.result_size
        target = self.c + (tile.row * plan.columns + tile.column) * self.tile_bytes
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
