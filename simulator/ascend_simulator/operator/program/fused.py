"""A matrix product whose tiles two vector cores pass through a leaky ReLU, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cross import CrossFlags
from .cube_part import ACCUMULATOR_BYTES, Store
from .frame import Ending, Frame
from .geometry import activation
from .listing import Code
from .matmul import SLOTS, ProductCode, activation_elements, matmul_source
from .model import MIX_UNITS, GlobalMemory, Program, by_count, divide
from .product import Tile, contiguous, tile_at
from .tape import Quantity, Tape
from .vector_part import Hand, VectorPart

VECTORS = (1, 2)
"""Units of the vector cores; the cube core is unit 0."""


def fused_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """The program of a product with a leaky ReLU behind it, on separate cores."""
    near = chip.family == "950"
    store: Store = "ub" if near else "gm"
    reads = "VECTOR" if near else "MTE2"
    code, memory = Code(matmul_source(scenario, chip, store)), GlobalMemory()
    product = ProductCode.of(scenario, chip, code, memory, store)
    plan, size = product.plan, product.result_size
    cross = CrossFlags(code, chip)
    cross.wait("taken", "FIXP", "cube-wait")
    cross.set("done", "FIXP", "cube-set")
    ending = Ending.of(code)
    frame = Frame.of(code, "vector-")
    cross.wait("done", reads, "vector-wait")
    vector = VectorPart(
        code,
        chip,
        activation(scenario),
        buffers=scenario.tiling.buffers,
        bank_conflicts=scenario.conditions.bank_conflicts,
        inputs=int(not near),
    )
    cross.set("taken", reads, "vector-set")
    whole = _Fused(
        product=product,
        ending=ending,
        vector=vector,
        frame=frame,
        vector_ending=Ending.of(code),
        cross=cross,
        near=near,
        part=activation_elements(scenario, chip, plan),
        c=memory.tensor("c", plan.rows * plan.columns * plan.tile_m * plan.tile_n * size),
        workspace=memory.tensor(
            "workspace", plan.blocks * SLOTS * plan.tile_m * plan.tile_n * size
        ),
    )
    starts, counts = divide(plan.rows * plan.columns, plan.blocks, scenario.conditions.imbalance)
    return Program(
        chip=chip,
        op_type="mix",
        units=MIX_UNITS,
        block_dim=plan.blocks,
        cores=chip.cube_cores,
        kernel="matmul_leakyrelu_custom",
        code=code,
        tapes=tuple(
            whole.tape(blocks, starts[blocks], count) for count, blocks in by_count(counts)
        ),
        tensors=tuple(memory.tensors),
    )


@dataclass(frozen=True, slots=True)
class _Fused:
    """near: tiles go from L0C to UB without global memory. part: elements of a vector tile."""

    product: ProductCode
    ending: Ending
    vector: VectorPart
    frame: Frame
    vector_ending: Ending
    cross: CrossFlags
    near: bool
    part: int
    c: int
    workspace: int

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
