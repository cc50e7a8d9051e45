"""A gather by SIMT threads of the vector cores (950)."""

from __future__ import annotations

import numpy as np

from ascend_ref.capture import Integers

from ...draws import Draws
from ..chip import KernelChip
from ..choices import KernelScenario
from .frame import Frame
from .geometry import THREADS, WARP, gather_geometry
from .model import Draft, Program, SimtCode, divide, same
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
    draft = Draft.of(
        scenario, chip, threads=THREADS, width=plan.width, count=plan.count, tile=plan.tile
    )
    code, row_bytes = draft.code, plan.width * draft.size
    frame = Frame(code)
    launch = code.add("VECTOR", "SIMT_VF", "PC,XN", "launch")
    frame.end(code)
    code.function()
    body = tuple(code.add("SIMT", name, operands, mark) for name, operands, mark in _BODY)
    table = draft.tensor("table", plan.rows * row_bytes)
    indices = draft.tensor("indices", plan.count * INDEX_BYTES)
    result = draft.tensor("result", plan.count * row_bytes)
    listed = Draws(seed, "gather").between(0, plan.rows - 1, plan.tiles * plan.tile)
    # How often each warp runs through its loop in one launch.
    rounds, warps = -(-plan.tile * plan.width // THREADS), THREADS // WARP
    _, counts = divide(plan.tiles, plan.blocks, scenario.conditions.imbalance)
    simt = SimtCode(launch, warps, body, counts * rounds)
    line = -(-row_bytes // CACHE_LINE) * CACHE_LINE

    def work(tape: Tape, tiles: Integers, _: int) -> None:
        first = tiles * plan.tile
        held = same(np.minimum(plan.tile, plan.count - first))
        chosen = listed[first[:, None] + np.arange(plan.tile)]
        tape.run(
            0,
            launch,
            LAUNCH_CYCLES + len(_BODY) * rounds * warps // SCHEDULERS,
            {
                "SIMT rounds": rounds,
                "GM_TO_DCACHE": held * (INDEX_BYTES + line),
                "DCACHE_TO_VEC": rounds * warps * LOADS * CACHE_LINE,
                "VEC_TO_DCACHE": rounds * warps * STORES * CACHE_LINE,
                "DCACHE_TO_GM": held * row_bytes,
            },
            transfers=(
                Transfer(indices + first * INDEX_BYTES, 1, held * INDEX_BYTES, 0, False, LOCAL),
                Transfer(table, held, row_bytes, 0, False, LOCAL, offsets=chosen * row_bytes),
                Transfer(result + first * row_bytes, 1, held * row_bytes, 0, True, LOCAL),
            ),
            bound="GM_TO_UB",
        )

    return draft.program({"vector": frame}, work, plan.blocks, plan.tiles, simt)
