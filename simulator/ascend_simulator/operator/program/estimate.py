"""An estimate of how much a kernel makes, before anything of it is built.

The figures are orders of magnitude: they only distinguish an honest mistake from a kernel that a
machine can model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..chip import KernelChip
from ..choices import KernelScenario
from .geometry import (
    ACCUMULATOR_BYTES,
    AttentionGeometry,
    MatrixGeometry,
    activation,
    attention_geometry,
    gather_geometry,
    matrix_geometry,
    part_elements,
    result_type,
    vector_geometry,
)
from .recipes import element_bytes, recipe

_STEPS_AROUND = 20
_STEPS_PER_TILE = 20
_STEPS_PER_LOAD = 12
_STEPS_PER_MMAD = 9
_STEPS_PER_SCORE = 110


@dataclass(frozen=True, slots=True)
class Estimate:
    """steps: of the block with the most. executed: of all blocks, each of them an event of a
    timeline. lines: accesses to L2. records: of memory accesses.
    """

    steps: int
    executed: int
    lines: int
    records: int


_Traffic = npt.NDArray[np.object_]
"""Accesses to global memory: rows, their Byte, and those of the lines that they touch."""


@dataclass(frozen=True, slots=True)
class _Work:
    """steps, traffic: of a tile."""

    tiles: int
    blocks: int
    steps: int
    traffic: _Traffic


def estimate(scenario: KernelScenario, chip: KernelChip) -> Estimate:
    """About how much a kernel makes."""
    work = _work(scenario, chip)
    (rows, size, touched), executed = work.traffic * work.tiles, work.tiles * work.steps
    most = -(-work.tiles * scenario.conditions.imbalance // (work.blocks * 1000))
    return Estimate(
        steps=min(most, work.tiles) * work.steps + _STEPS_AROUND,
        executed=executed + work.blocks * _STEPS_AROUND,
        lines=touched // chip.cache.line,
        records=size // scenario.capture.access_bytes + rows + executed,
    )


def _rows(chip: KernelChip, count: int, size: int, pitch: int | None = None) -> _Traffic:
    """So many rows; those whose pitch is no multiple of a line begin and end within lines."""
    line = chip.cache.line
    whole = -(-size // line) * line
    touched = size + line if (pitch or size) % line else whole
    # Sums may exceed 64 bits.
    rows: _Traffic = count * np.array([1, size, touched], np.object_)
    return rows


def _work(scenario: KernelScenario, chip: KernelChip) -> _Work:
    kind, size = scenario.operator.kind, element_bytes(scenario.operator.data_type)
    match kind:
        case "add" | "gelu" | "softmax":
            plan = vector_geometry(scenario, chip)
            one = recipe(kind, scenario.operator.data_type)
            steps = _STEPS_PER_TILE + len(one.compute)
            traffic = _rows(chip, one.inputs + 1, plan.tile * size)
            return _Work(plan.tiles, plan.blocks, steps, traffic)
        case "flash-attention":
            attention = attention_geometry(scenario, chip)
            steps = attention.steps * _STEPS_PER_SCORE
            traffic = _attention_traffic(chip, attention, size)
            return _Work(attention.tiles, attention.blocks, steps, traffic)
        case "gather":
            gather = gather_geometry(scenario, chip)
            traffic = _rows(chip, gather.tile, gather.width * size) * 2
            return _Work(gather.tiles, gather.blocks, _STEPS_PER_TILE, traffic)
    matrix = matrix_geometry(scenario, chip)
    loads = -(-matrix.k // matrix.load)
    steps = loads * _STEPS_PER_LOAD + -(-matrix.k // matrix.step) * _STEPS_PER_MMAD
    pieces = _pieces(scenario, chip, matrix)
    steps += (2 + pieces) * _STEPS_PER_TILE
    traffic = _matrix_traffic(scenario, chip, matrix, size, pieces)
    return _Work(matrix.tiles, matrix.blocks, steps, traffic)


def _pieces(scenario: KernelScenario, chip: KernelChip, plan: MatrixGeometry) -> int:
    """Pieces in which vector cores take a tile of a product."""
    if chip.unified or scenario.operator.kind != "matmul-leakyrelu":
        return 0
    cores, elements = chip.vectors_per_cube, plan.tile_m * plan.tile_n
    part = part_elements(scenario, chip, activation(scenario), elements // cores)
    return -(-elements // (cores * part)) * cores


def _matrix_traffic(
    scenario: KernelScenario, chip: KernelChip, plan: MatrixGeometry, size: int, pieces: int
) -> _Traffic:
    load, width = min(plan.load, plan.k), element_bytes(result_type(scenario))
    loads = -(-plan.k // plan.load)
    traffic = _rows(chip, plan.tile_m * loads, load * size, plan.k * size)
    traffic += _rows(chip, plan.k, plan.tile_n * size, plan.n * size)
    traffic += _rows(chip, plan.tile_m, plan.tile_n * width, plan.n * width)
    if pieces:
        traffic += _rows(chip, pieces, plan.tile_m * plan.tile_n * width // pieces) * 2
    return traffic


def _attention_traffic(chip: KernelChip, plan: AttentionGeometry, size: int) -> _Traffic:
    """Keys and values for each step; scores, probabilities and products where they leave a core."""
    row, queries = plan.width * size, plan.queries
    step = _rows(chip, plan.keys, row) * 2
    if chip.family != "950":
        step += _rows(chip, queries, plan.keys * size)
        step += _rows(chip, 1, queries * plan.keys * (2 * ACCUMULATOR_BYTES + size))
        step += _rows(chip, 1, queries * plan.width * 2 * ACCUMULATOR_BYTES)
    whole: _Traffic = step * plan.steps + _rows(chip, queries, row) * 2
    return whole
