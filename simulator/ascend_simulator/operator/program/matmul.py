"""Matrix products on cores that do not share their work: cube cores, or the cores of 310P."""

from __future__ import annotations

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .cube_part import CubePart, Load, Store
from .frame import Frame, run_scalar, scalar_code
from .geometry import ACCUMULATOR_BYTES, activation, matrix_geometry, part_elements, result_type
from .model import Draft, Program
from .product import Tile, left, result, right, tile_at
from .recipes import c_type, element_bytes
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
    """The cube's part of a product. result_size: Byte of an element. a, b: addresses."""

    def __init__(self, draft: Draft, store: Store) -> None:
        """Add it to the code, and its operands."""
        scenario, code = draft.scenario, draft.code
        plan = self.plan = matrix_geometry(scenario, draft.chip)
        self.size = draft.size
        self.result_size = element_bytes(result_type(scenario))
        self.frame, self.inner = Frame(code), scalar_code(code, "loop-k", 3)
        places = draft.chip.buffers["L0C"] // (plan.tile_m * plan.tile_n * ACCUMULATOR_BYTES)
        self.cube = CubePart(draft, step=plan.step, store=store, c_buffers=min(2, places) or 1)
        self.a = draft.tensor("a", plan.m * plan.k * self.size)
        self.b = draft.tensor("b", plan.k * plan.n * self.size)

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


def matmul_draft(scenario: KernelScenario, chip: KernelChip, store: Store) -> tuple[Draft, int]:
    """A product of which there is only the source, and elements of the vector tiles behind it."""
    plan = matrix_geometry(scenario, chip)
    elements = plan.tile_m * plan.tile_n
    if scenario.operator.kind == "matmul-leakyrelu" and not chip.unified:
        most = elements // chip.vectors_per_cube
        elements = part_elements(scenario, chip, activation(scenario), most)
    kind = result_type(scenario)
    draft = Draft.of(
        scenario,
        chip,
        tile_m=plan.tile_m,
        tile_n=plan.tile_n,
        tile_k=plan.step,
        step_k=plan.load // plan.step,
        m=plan.m,
        n=plan.n,
        k=plan.k,
        result=c_type(kind),
        accumulator="int32_t" if kind == "int32" else "float",
        store=_STORES[store].replace("$n", str(plan.n)),
        tile=elements,
        slots=SLOTS,
    )
    return draft, elements


def matmul_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """A product whose result leaves its core by FIXP, or, on 310P and also with a leaky ReLU, by
    the vector unit of the same core.
    """
    store: Store = "vector" if chip.unified else "gm"
    draft, _ = matmul_draft(scenario, chip, store)
    product, vector = ProductCode(draft, store), None
    plan, cube = product.plan, product.cube
    if chip.unified:
        vector = VectorPart(
            draft,
            activation(scenario),
            inputs=0,
            computes=scenario.operator.kind == "matmul-leakyrelu",
            accumulator=ACCUMULATOR_BYTES,
        )
    product.frame.end(draft.code, *cube.flags, *([vector.flags] if vector else []))
    c = draft.tensor("c", plan.m * plan.n * product.result_size)

    def work(tape: Tape, tiles: Integers, _: int) -> None:
        tile = tile_at(plan, tiles)
        product.accumulate(tape, tile)
        elements = tile.rows * tile.columns
        size = elements * ACCUMULATOR_BYTES
        output = result(plan, tile, c, product.result_size, "L0C" if vector is None else "UB")
        if vector is None:
            cube.finish(tape, 0, size, output)
        else:
            cube.finish(tape, 0, size)
            vector.emit(tape, 0, Hand(elements, (), output))
            cube.release(tape, 0)

    return draft.program({"cube": product.frame}, work, plan.blocks, plan.tiles)
