"""A gather by SIMT threads of the vector cores (950)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers

from ...draws import Draws
from ..chip import KernelChip
from ..choices import KernelScenario
from .frame import Ending, Frame
from .geometry import THREADS, WARP, GatherGeometry, gather_geometry
from .listing import Code, Instruction
from .model import Draft, Program, SimtCode, divide, same
from .recipes import c_type, element_bytes
from .source import source
from .tape import Tape, Transfer

INDEX_BYTES = 4
CACHE_LINE = 128
LOCAL = "PRIVATE"
"""Threads load into registers of their own, past the memories of the core."""
SCHEDULERS = 4
"""Warps that a vector core issues from at once (upstream-msopprof roofline.cpp)."""
LAUNCH_CYCLES = 96

_BODY = (
    ("ISETP", "P0,R0,R1", "simt-loop"),
    ("IDIV", "R2,R0,R3", "simt-index"),
    ("LDG.32", "R4,R2", "simt-index"),
    ("IMAD", "R5,R4,R3,R6", "simt-load"),
    ("LDG", "R7,R5", "simt-load"),
    ("STG", "R0,R7", "simt-store"),
    ("IADD", "R0,R0,R8", "simt-loop"),
    ("BRA", "P0", "simt-end"),
)
LOADS, STORES = 2, 1
"""Of the body's instructions."""


def gather_program(scenario: KernelScenario, chip: KernelChip, seed: int) -> Program:
    """The program of a gather; the seed chooses the indices."""
    plan = gather_geometry(scenario, chip)
    size = element_bytes(scenario.operator.data_type)
    text = source(
        scenario.operator.kind,
        {
            "threads": THREADS,
            "width": plan.width,
            "type": c_type(scenario.operator.data_type),
            "count": plan.count,
            "tile": plan.tile,
        },
    )
    draft = Draft(scenario, chip, Code(text))
    code, memory = draft.code, draft.memory
    frame = Frame(code)
    launch = code.add("VECTOR", "SIMT_VF", "PC,XN", "launch")
    ending = Ending(code)
    code.function()
    body = tuple(code.add("SIMT", name, operands, mark) for name, operands, mark in _BODY)
    table = memory.tensor("table", plan.rows * plan.width * size)
    indices = memory.tensor("indices", plan.count * INDEX_BYTES)
    result = memory.tensor("result", plan.count * plan.width * size)
    chosen = Draws(seed, "gather").between(0, plan.rows - 1, plan.tiles * plan.tile)
    _, counts = divide(plan.tiles, plan.blocks, scenario.conditions.imbalance)
    simt = SimtCode(launch, THREADS // WARP, body, counts * _rounds(plan))
    work = _Work(plan, size, (table, indices, result), chosen)

    def tape(blocks: Integers, starts: Integers, count: int) -> Tape:
        tape = Tape(blocks)
        unit = tape.unit()
        frame.begin(tape, unit)
        for number in range(count):
            tape.stage = number
            frame.round(tape, unit)
            work.launch(tape, unit, launch, starts + number)
        ending.run(tape, unit)
        return tape

    cores, blocks = chip.vector_cores, plan.blocks
    return draft.program(("vector",), cores, blocks, plan.tiles, tape, simt)


def _rounds(plan: GatherGeometry) -> int:
    """How often each warp runs through its loop in one launch."""
    return -(-plan.tile * plan.width // THREADS)


class _Work:
    """What a launch moves; ``places``: addresses of table, indices and result."""

    def __init__(
        self, plan: GatherGeometry, size: int, places: tuple[int, int, int], chosen: Integers
    ) -> None:
        self._plan, self._size, self._chosen = plan, size, chosen
        self._table, self._indices, self._result = places

    def launch(self, tape: Tape, unit: int, instruction: Instruction, tiles: Integers) -> None:
        plan = self._plan
        first = tiles * plan.tile
        held = same(np.minimum(plan.tile, plan.count - first))
        row_bytes = plan.width * self._size
        chosen = self._chosen[first[:, None] + np.arange(plan.tile)]
        transfers = (
            Transfer(self._indices + first * INDEX_BYTES, 1, held * INDEX_BYTES, 0, False, LOCAL),
            Transfer(self._table, held, row_bytes, 0, False, LOCAL, offsets=chosen * row_bytes),
            Transfer(self._result + first * row_bytes, 1, held * row_bytes, 0, True, LOCAL),
        )
        rounds, warps = _rounds(plan), THREADS // WARP
        line = -(-row_bytes // CACHE_LINE) * CACHE_LINE
        tape.run(
            unit,
            instruction,
            LAUNCH_CYCLES + len(_BODY) * rounds * warps // SCHEDULERS,
            {
                "SIMT rounds": rounds,
                "GM_TO_DCACHE": held * (INDEX_BYTES + line),
                "DCACHE_TO_VEC": rounds * warps * LOADS * CACHE_LINE,
                "VEC_TO_DCACHE": rounds * warps * STORES * CACHE_LINE,
                "DCACHE_TO_GM": held * row_bytes,
            },
            transfers=transfers,
            bound="GM_TO_UB",
        )
