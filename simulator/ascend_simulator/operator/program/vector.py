"""Operators on vector cores alone: add, gelu, softmax."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from ascend_ref.capture import Integers

from ..chip import KernelChip
from ..choices import KernelScenario
from .frame import Ending, Frame
from .geometry import VectorGeometry, vector_geometry
from .listing import Code
from .model import GlobalMemory, Program, by_count, divide, same
from .recipes import c_type, recipe
from .source import source
from .tape import Tape, Transfer
from .vector_part import Hand, VectorPart


@dataclass(frozen=True, slots=True)
class _Parts:
    frame: Frame
    part: VectorPart
    ending: Ending


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
    code = Code(text)
    parts = _Parts(
        frame=Frame.of(code),
        part=VectorPart(
            code,
            chip,
            recipe(kind, data_type),
            buffers=scenario.tiling.buffers,
            bank_conflicts=scenario.conditions.bank_conflicts,
            inputs=recipe(kind, data_type).inputs,
        ),
        ending=Ending.of(code),
    )
    memory = GlobalMemory()
    size = prod(plan.shape) * parts.part.recipe.size
    names = ("x", "y")[: parts.part.recipe.inputs]
    addresses = [memory.tensor(name, size) for name in (*names, "result")]
    starts, counts = divide(plan.tiles, plan.blocks, scenario.conditions.imbalance)
    tapes = [
        _tape(parts, plan, blocks, starts[blocks], count, addresses)
        for count, blocks in by_count(counts)
    ]
    return Program(
        chip=chip,
        op_type="AiCore" if chip.unified else "vector",
        units=("AiCore",) if chip.unified else ("vector",),
        block_dim=plan.blocks,
        cores=chip.vector_cores,
        kernel=f"{kind}_custom",
        code=code,
        tapes=tuple(tapes),
        tensors=tuple(memory.tensors),
    )


def _tape(
    parts: _Parts,
    plan: VectorGeometry,
    blocks: Integers,
    starts: Integers,
    count: int,
    addresses: list[int],
) -> Tape:
    tape = Tape(blocks)
    unit = tape.unit()
    total, size = prod(plan.shape), parts.part.recipe.size
    parts.frame.begin(tape, unit)
    for number in range(count):
        tape.stage = number
        first = (starts + number) * plan.tile
        elements = same(np.minimum(plan.tile, total - first))
        place = first * size
        *inputs, output = [
            Transfer(
                address=address + place,
                rows=1,
                row_bytes=elements * size,
                pitch=0,
                store=address == addresses[-1],
                local="UB",
            )
            for address in addresses
        ]
        parts.frame.round(tape, unit)
        parts.part.emit(tape, unit, Hand(elements, inputs, output))
    parts.part.drain(tape, unit)
    parts.ending.run(tape, unit)
    return tape
