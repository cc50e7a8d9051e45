"""About how much a kernel makes, before anything of it is built.

The figures stand for orders of magnitude: they only tell an honest mistake from a kernel that a
machine can model.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..chip import KernelChip
from ..scenario.model import KernelScenario
from .geometry import (
    attention_geometry,
    gather_geometry,
    matrix_geometry,
    shape_of,
    vector_geometry,
)
from .recipes import element_bytes, recipe

_STEPS_AROUND = 20
_STEPS_PER_TILE = 20
_STEPS_PER_LOAD = 12
_STEPS_PER_MMAD = 9
_STEPS_PER_SCORE = 90


@dataclass(frozen=True, slots=True)
class Estimate:
    """steps: of the block with the most. lines: accesses to L2. events, records: of the file."""

    steps: int
    lines: int
    events: int
    records: int


def estimate(scenario: KernelScenario, chip: KernelChip) -> Estimate:
    """About so much does a kernel make."""
    tiles, blocks, per_tile, traffic = _work(scenario, chip)
    line = chip.cache.line
    most = -(-tiles * scenario.conditions.imbalance // (blocks * 1000))
    steps = most * per_tile + _STEPS_AROUND
    moved = traffic // min(scenario.capture.access_bytes, line)
    return Estimate(
        steps=steps,
        lines=traffic // line + tiles,
        events=tiles * per_tile + blocks * _STEPS_AROUND,
        records=moved + tiles * per_tile,
    )


def _work(scenario: KernelScenario, chip: KernelChip) -> tuple[int, int, int, int]:
    """Tiles, blocks, steps of a tile, Byte to and from global memory."""
    kind, size = scenario.operator.kind, element_bytes(scenario.operator.data_type)
    shape = shape_of(scenario)
    match kind:
        case "add" | "gelu" | "softmax":
            plan = vector_geometry(scenario, chip)
            one = recipe(kind, scenario.operator.data_type)
            steps = _STEPS_PER_TILE + len(one.compute)
            return plan.tiles, plan.blocks, steps, prod(shape) * size * (one.inputs + 1)
        case "flash-attention":
            attention = attention_geometry(scenario, chip)
            steps = attention.steps * _STEPS_PER_SCORE
            bytes_per_step = attention.keys * (attention.queries * 16 + attention.width * 2 * size)
            traffic = attention.tiles * attention.steps * bytes_per_step
            return attention.tiles, attention.blocks, steps, traffic
        case "gather":
            gather = gather_geometry(scenario, chip)
            line = max(gather.width * size, chip.cache.line)
            return gather.tiles, gather.blocks, _STEPS_PER_TILE, gather.count * line * 2
    matrix = matrix_geometry(scenario, chip, (shape[0], shape[1], shape[2]))
    loads = -(-matrix.k // matrix.load)
    steps = loads * _STEPS_PER_LOAD + -(-matrix.k // matrix.step) * _STEPS_PER_MMAD
    fused = kind == "matmul-leakyrelu"
    steps += 2 * _STEPS_PER_TILE * (2 if fused else 1)
    # Rows of a load are shorter than a line where a step is; each takes a whole one.
    row = max(matrix.load * size, chip.cache.line)
    column = max(matrix.tile_n * size, chip.cache.line)
    per_tile = loads * (matrix.tile_m * row + matrix.load * column)
    per_tile += matrix.tile_m * column * (4 if fused else 1)
    tiles = matrix.rows * matrix.columns
    return tiles, matrix.blocks, steps, tiles * per_tile
