"""What a kernel is thought to make, before it is built, is not much less than what it makes."""

from __future__ import annotations

import pytest
from kernel_bytes import DEVICE, scenario

from ascend_simulator.operator.chip import chip
from ascend_simulator.operator.program.estimate import estimate
from ascend_simulator.operator.world import run

SMALL_PIECES = (
    "operator: {kind: matmul-leakyrelu, shape: [256, 64, 256]}\n"
    "device: {block_dim: 1}\ntiling: {elements: 100}"
)
SHORT_ROWS = "operator: {kind: flash-attention, shape: [1, 4, 192, 16]}\ntiling: {m: 16, n: 16}"
LONG_ROWS = "operator: {kind: flash-attention, shape: [1, 4, 192, 128]}\ntiling: {m: 64, n: 16}"


@pytest.mark.parametrize("text", [*DEVICE, SMALL_PIECES, SHORT_ROWS, LONG_ROWS])
def test_estimates_are_not_far_below(text: str) -> None:
    one = scenario(text)
    world, about = run(one, 0), estimate(one, chip(one.device.chip))
    tapes = world.program.tapes
    assert max(len(tape.steps) for tape in tapes) <= 1.2 * about.steps
    assert sum(len(tape.steps) * len(tape.blocks) for tape in tapes) <= 1.2 * about.executed
    assert len(world.lines.line) <= 1.2 * about.lines
