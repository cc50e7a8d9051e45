"""Matrix products on cores that do not share their work: cube cores, or the cores of 310P."""

from __future__ import annotations

from dataclasses import dataclass

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
from .listing import Code, Instruction
from .model import GlobalMemory, Program, divided
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


@dataclass(frozen=True, slots=True)
class ProductCode:
    """The cube's part of a product. size, result_size: Byte of an element. a, b: addresses."""

    plan: MatrixGeometry
    size: int
    result_size: int
    frame: Frame
    inner: list[Instruction]
    cube: CubePart
    a: int
    b: int

    @classmethod
    def of(
        cls,
        scenario: KernelScenario,
        chip: KernelChip,
        code: Code,
        memory: GlobalMemory,
        store: Store,
    ) -> ProductCode:
        """Add it to the code, and its operands to the memory."""
        m, k, n = shape_of(scenario)
        plan = matrix_geometry(scenario, chip, (m, k, n))
        size = element_bytes(scenario.operator.data_type)
        return cls(
            plan=plan,
            size=size,
            result_size=element_bytes(result_type(scenario)),
            frame=Frame.of(code),
            inner=scalar_code(code, "loop-k", 3),
            cube=CubePart(
                code, chip, scenario, step=plan.step, store=store, c_buffers=_places(plan, chip)
            ),
            a=memory.tensor("a", m * k * size),
            b=memory.tensor("b", k * n * size),
        )

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
    code, memory = Code(matmul_source(scenario, chip, store)), GlobalMemory()
    product = ProductCode.of(scenario, chip, code, memory, store)
    fused = scenario.operator.kind == "matmul-leakyrelu"
    vector = None
    if chip.unified:
        vector = VectorPart(
            code,
            chip,
            scenario,
            activation(scenario),
            inputs=0,
            computes=fused,
            accumulator=ACCUMULATOR_BYTES,
        )
    plan = product.plan
    whole = _Alone(
        product=product,
        vector=vector,
        ending=Ending.of(code),
        c=memory.tensor("c", plan.m * plan.n * product.result_size),
    )
    tiles, cores = plan.rows * plan.columns, chip.cube_cores
    return divided(scenario, chip, code, memory, ("cube",), cores, plan.blocks, tiles, whole.tape)


@dataclass(frozen=True, slots=True)
class _Alone:
    """A product whose result leaves its core by FIXP, or by the vector unit of the same core."""

    product: ProductCode
    vector: VectorPart | None
    ending: Ending
    c: int

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
