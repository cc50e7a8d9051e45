"""The memories of a core: what lies in them at any time has room there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate

import pytest
from kernel_bytes import ATTENTION, CUBE, MIX, NEAR, UNIFIED, scenario

from ascend_simulator.operator.chip import Memory
from ascend_simulator.operator.program.tape import Quantity
from ascend_simulator.operator.world import run

TALL = (
    "operator: {kind: flash-attention, shape: [1, 1, 768, 256]}\ndevice: {chip: Ascend950PR_9599}"
)
FULL = "operator: {kind: matmul, shape: [384, 1024, 768]}\ndevice: {block_dim: 2}"


def peaks(text: str, buffers: int) -> tuple[dict[str, int], Mapping[Memory, int]]:
    """The most that lies in the memories next to the cube at any time, and their room."""
    tiling = f"buffers: {buffers}"
    text = (
        text.replace("tiling: {", f"tiling: {{{tiling}, ")
        if "tiling: {" in text
        else f"{text}\ntiling: {{{tiling}}}"
    )
    world = run(scenario(text), 0)
    found: dict[str, int] = defaultdict(int)
    for tape, timing in zip(world.program.tapes, world.timings, strict=True):
        changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
        operands: list[tuple[str, int, int]] = []
        first = -1
        for number, step in enumerate(tape.steps):
            start, end = int(timing.start[number, 0]), int(timing.end[number, 0])
            if step.move is not None and step.move.target in ("L0A", "L0B"):
                operands.append((step.move.target, start, one(step.move.size)))
            elif step.instruction.name == "MMAD":
                for memory, begin, size in operands:
                    changes[memory] += [(begin, size), (end, -size)]
                operands.clear()
                first = start if first < 0 else first
            elif step.instruction.name.startswith("FIX_L0C"):
                moved = step.move.size if step.move else step.transfers[0].size
                changes["L0C"] += [(first, one(moved)), (end, -one(moved))]
                first = -1
        for memory, own in changes.items():
            found[memory] = max(found[memory], *accumulate(change for _, change in sorted(own)))
    return found, world.chip.buffers


def one(size: Quantity) -> int:
    """That of the first block."""
    return size if isinstance(size, int) else int(size[0])


@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize("text", [ATTENTION, TALL, CUBE, FULL, MIX, NEAR, UNIFIED])
def test_what_the_cube_works_on_has_room(text: str, buffers: int) -> None:
    found, room = peaks(text, buffers)
    assert set(found) == ({"L0A", "L0B"} if text == UNIFIED else {"L0A", "L0B", "L0C"})
    assert all(size <= room[memory] for memory, size in found.items())  # type: ignore[index]
