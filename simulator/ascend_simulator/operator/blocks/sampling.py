"""Sampled states of warps (950), and block 0x0F, which sums them up.

The samples are divided as in a kernel that waits for memory: instructions that need a loaded value
wait for the scoreboard; all other states are rare.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import bin_catalog

from ..world import World
from .numbers import single

SAMPLE_CYCLES = 512
"""Cycles of a warp between two samples."""
ACTIVE = "Active"

_WAITS: dict[str, dict[str, int]] = {
    "ISETP": {"IBuf_Empty": 20, "Warp_Level_Sync": 10},
    "IDIV": {"Nop_Cycles": 50, "Others": 20},
    "LDG.32": {"Resource_conflict": 40},
    "IMAD": {"Scoreboard_Not_Ready": 320, "Register_bank_conflict": 10},
    "LDG": {"Resource_conflict": 50},
    "STG": {"Scoreboard_Not_Ready": 430, "Resource_conflict": 20},
    "IADD": {"Others": 10},
    "BRA": {"Divergence_Stack_Spill": 20},
}
"""Thousandths of the samples without issue, by instruction and state."""


def stall_states() -> list[str]:
    """The states in which nothing is issued."""
    return [str(one.value) for one in bin_catalog().enums["stall_states"].members]


def samples(world: World) -> Integers:
    """Samples by instruction and state; the last state is that of issuing."""
    states = stall_states()
    found = np.zeros((len(world.program.code.instructions), len(states) + 1), np.int64)
    simt = world.program.simt
    if simt is None:
        return found
    busy = int(world.counters.pipe("VECTOR").busy.sum())
    total = busy * simt.warps // SAMPLE_CYCLES
    active = int(simt.rounds.sum()) * simt.warps // SAMPLE_CYCLES
    waiting = max(total - active * len(simt.body), 0)
    for one in simt.body:
        found[one.index, -1] = active
        for state, thousandths in _WAITS[one.name].items():
            found[one.index, states.index(state)] = -(-waiting * thousandths // 1000)
    return found


def sampling_columns(own: Integers, every: Integers) -> dict[str, Any]:
    """The two columns of some instructions; ``own``: their samples by state."""
    columns = {}
    for name, count in (("Not Issue", len(own) - 1), ("All Samples", len(own))):
        names = [*stall_states(), ACTIVE][:count]
        whole = int(every[:count].sum())
        part = int(own[:count].sum())
        columns[f"Stall Sampling({name})"] = {
            "Percent": single(part / whole) if whole else 0.0,
            "Details": {state: int(one) for state, one in zip(names, own, strict=False)},
        }
    return columns


def top_stalls(world: World) -> dict[str, Any] | None:
    """The payload of 0x0F; None where nothing was sampled."""
    every = samples(world).sum(axis=0)[:-1]
    if not every.any():
        return None
    return {
        "top_stall_reason_table": {
            state: int(one) for state, one in zip(stall_states(), every, strict=True)
        }
    }
