"""Operators on vector cores alone: add, gelu, softmax."""

from __future__ import annotations

from math import prod

import numpy as np

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .frame import Ending, Frame
from .geometry import vector_geometry
from .listing import Code
from .model import Draft, Program, same
from .product import contiguous
from .recipes import c_type, recipe
from .source import source
from .tape import Tape
from .vector_part import Hand, VectorPart


def vector_program(scenario: KernelScenario, chip: KernelChip) -> Program:
    """The program of a vector operator."""
    kind, data_type = scenario.operator.kind, scenario.operator.data_type
    plan = vector_geometry(scenario, chip)
    text = source(
        kind,
        {
            "buffers": scenario.tiling.buffers,
            "tile": plan.tile,
            "type": c_type(data_type),
            "columns": plan.columns,
            "tile_rows": plan.tile // plan.columns,
        },
    )
    draft, one = Draft(scenario, chip, Code(text)), recipe(kind, data_type)
    frame = Frame(draft.code)
    part = VectorPart(draft, one, inputs=one.inputs)
    ending, total = Ending(draft.code), prod(plan.shape)
    names = (*("x", "y")[: one.inputs], "result")
    addresses = [draft.memory.tensor(name, total * one.size) for name in names]

    def tape(blocks: Integers, starts: Integers, count: int) -> Tape:
        tape = Tape(blocks)
        unit = tape.unit()
        frame.begin(tape, unit)
        for number in range(count):
            tape.stage = number
            first = (starts + number) * plan.tile
            elements = same(np.minimum(plan.tile, total - first))
            *inputs, output = [
                contiguous(
                    address + first * one.size,
                    elements * one.size,
                    store=address == addresses[-1],
                    local="UB",
                )
                for address in addresses
            ]
            frame.round(tape, unit)
            part.emit(tape, unit, Hand(elements, inputs, output))
        part.drain(tape, unit)
        ending.run(tape, unit)
        return tape

    cores, blocks = chip.vector_cores, plan.blocks
    return draft.program(("vector",), cores, blocks, plan.tiles, tape)
