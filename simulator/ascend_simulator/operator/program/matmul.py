"""Matrix products on cores that do not share their work: cube cores, or the cores of 310P."""

from __future__ import annotations

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cube_part import ACCUMULATOR_BYTES, CubePart, Load, Store
from .frame import Ending, Frame, run_scalar, scalar_code
from .geometry import (
    MatrixGeometry,
    activation,
    matrix_geometry,
    part_elements,
    result_type,
    shape_of,
)
from .listing import Code
from .model import Draft, Program
from .product import Tile, left, result, right, tile_at
from .recipes import c_type, element_bytes
from .source import SourceText, source
from .tape import Tape
from .vector_part import Hand, VectorPart

SLOTS = 2
"""Tiles between cube and vectors: one is written while the other is read."""
_STORES: dict[Store, str] = {
    "gm": "Fixpipe(cGm_[tile.m * BASE_M * $n + tile.n * BASE_N], c1_, fixpipe_);",
    "ub": "Fixpipe(resultLocal_, c1_, fixpipe_);",
    "vector": "DataCopy(resultLocal_, c1_, BASE_M * BASE_N, enhanced_);",
}


class ProductCode:
    """The cube's part of a product. size, result_size: Byte of an element. a, b: addresses."""

    def __init__(self, draft: Draft, store: Store) -> None:
        """Add it to the code, and its operands to the memory."""
        scenario, code, memory = draft.scenario, draft.code, draft.memory
        m, k, n = shape_of(scenario)
        plan = self.plan = matrix_geometry(scenario, draft.chip, (m, k, n))
        size = self.size = element_bytes(scenario.operator.data_type)
        self.result_size = element_bytes(result_type(scenario))
        self.frame, self.inner = Frame(code), scalar_code(code, "loop-k", 3)
        self.cube = CubePart(
            draft, step=plan.step, store=store, c_buffers=_places(plan, draft.chip)
        )
        self.a = memory.tensor("a", m * k * size)
        self.b = memory.tensor("b", k * n * size)

    def accumulate(self, tape: Tape, tile: Tile) -> None:
        """Compute one tile, up to L0C."""
        self.cube.begin(tape, 0)
        for start in range(0, self.plan.k, self.plan.load):
            k = min(self.plan.load, self.plan.k - start)
            run_scalar(tape, 0, self.inner)
            load = Load(
                a=left(self.plan, tile, self.a, start, k, self.size),
                b=right(self.plan, tile, self.b, start, k, self.size),
                k=k,
            )
            self.cube.accumulate(tape, 0, load, tile.rows, tile.columns, first=start == 0)


def matmul_source(scenario: KernelScenario, chip: KernelChip, store: Store) -> SourceText:
    """The source of a product."""
    m, k, n = shape_of(scenario)
    plan = matrix_geometry(scenario, chip, (m, k, n))
    kind = result_type(scenario)
    return source(
        scenario.operator.kind,
        {
            "buffers": scenario.tiling.buffers,
            "tile_m": plan.tile_m,
            "tile_n": plan.tile_n,
            "tile_k": plan.step,
            "step_k": plan.load // plan.step,
            "m": m,
            "n": n,
            "k": k,
            "type": c_type(scenario.operator.data_type),
            "result": c_type(kind),
            "accumulator": "int32_t" if kind == "int32" else "float",
            "store": _STORES[store].replace("$n", str(n)),
            "tile": activation_elements(scenario, chip, plan),
            "slots": SLOTS,
        },
    )


def activation_elements(scenario: KernelScenario, chip: KernelChip, plan: MatrixGeometry) -> int:
    """Elements of the vector tiles behind a product."""
    elements = plan.tile_m * plan.tile_n
    if chip.unified or scenario.operator.kind != "matmul-leakyrelu":
        return elements
    most = elements // chip.vectors_per_cube
    return part_elements(scenario, chip, activation(scenario), most)


def matmul_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """The program of a product; on 310P also with a leaky ReLU behind it."""
    store: Store = "vector" if chip.unified else "gm"
    draft = Draft(scenario, chip, Code(matmul_source(scenario, chip, store)))
    whole = _Alone(draft, store)
    plan = whole.product.plan
    tiles, cores = plan.rows * plan.columns, chip.cube_cores
    return draft.program(("cube",), cores, plan.blocks, tiles, whole.tape)


class _Alone:
    """A product whose result leaves its core by FIXP, or by the vector unit of the same core."""

    def __init__(self, draft: Draft, store: Store) -> None:
        """Add the kernel to the code, and its operands to the memory."""
        product = self.product = ProductCode(draft, store)
        self.vector: VectorPart | None = None
        if draft.chip.unified:
            self.vector = VectorPart(
                draft,
                activation(draft.scenario),
                inputs=0,
                computes=draft.scenario.operator.kind == "matmul-leakyrelu",
                accumulator=ACCUMULATOR_BYTES,
            )
        self.ending = Ending(draft.code)
        self.c = draft.memory.tensor("c", product.plan.m * product.plan.n * product.result_size)

    def tape(self, blocks: Integers, starts: Integers, count: int) -> Tape:
        """What the blocks execute that have so many tiles."""
        tape = Tape(blocks)
        unit = tape.unit()
        self.product.frame.begin(tape, unit)
        for number in range(count):
            tape.stage = number
            tile = tile_at(self.product.plan, starts + number)
            self.product.frame.round(tape, unit)
            self.product.accumulate(tape, tile)
            self._leave(tape, unit, tile)
        self.product.cube.drain(tape, unit)
        if self.vector is not None:
            self.vector.drain(tape, unit)
        self.ending.run(tape, unit)
        return tape

    def _leave(self, tape: Tape, unit: int, tile: Tile) -> None:
        product, elements = self.product, tile.rows * tile.columns
        local = "L0C" if self.vector is None else "UB"
        output = result(product.plan, tile, self.c, product.result_size, local)
        if self.vector is None:
            product.cube.finish(tape, unit, elements * ACCUMULATOR_BYTES, output)
        else:
            product.cube.finish(tape, unit, elements * ACCUMULATOR_BYTES)
            self.vector.emit(tape, unit, Hand(elements, (), output))
            product.cube.release(tape, unit)


def _places(plan: MatrixGeometry, chip: KernelChip) -> int:
    """Tiles that L0C holds."""
    return min(2, chip.buffers["L0C"] // (plan.tile_m * plan.tile_n * ACCUMULATOR_BYTES)) or 1
