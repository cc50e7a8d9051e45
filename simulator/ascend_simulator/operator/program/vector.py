"""Operators on vector cores alone: add, gelu, softmax."""

from __future__ import annotations

from math import prod

import numpy as np

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .frame import Frame
from .geometry import vector_geometry
from .model import Draft, Program, same
from .product import contiguous
from .recipes import recipe
from .tape import Tape
from .vector_part import Hand, VectorPart


def vector_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """The program of a vector operator."""
    plan = vector_geometry(scenario, chip)
    rows, columns = plan.tile // plan.columns, plan.columns
    draft = Draft.of(scenario, chip, tile=plan.tile, columns=columns, tile_rows=rows)
    one = recipe(scenario.operator.kind, scenario.operator.data_type)
    frame = Frame(draft.code)
    part = VectorPart(draft, one, inputs=one.inputs)
    frame.end(draft.code, part.flags)
    total = prod(plan.shape)
    names = (*("x", "y")[: one.inputs], "result")
    addresses = [draft.tensor(name, total * one.size) for name in names]

    def work(tape: Tape, tiles: Integers, _: int) -> None:
        first = tiles * plan.tile
        elements = same(np.minimum(plan.tile, total - first))
        size = elements * one.size
        *inputs, output = [
            contiguous(place + first * one.size, size, store=place == addresses[-1], local="UB")
            for place in addresses
        ]
        part.emit(tape, 0, Hand(elements, inputs, output))

    return draft.program({"vector": frame}, work, plan.blocks, plan.tiles)
