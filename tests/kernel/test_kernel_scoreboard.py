"""The scoreboard against a loop from cycle to cycle."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from cycle_by_cycle import Act, Loop
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_bytes import DEVICE, scenario

from ascend_simulator.operator.program.listing import Instruction
from ascend_simulator.operator.program.tape import FlagKey, Step
from ascend_simulator.operator.timing import schedule
from ascend_simulator.operator.world import run

SMALL_UNIFIED = (
    "operator: {kind: matmul, shape: [300, 90, 500]}\n"
    "device: {chip: Ascend310P3, block_dim: 1}\ntiling: {m: 64, n: 64}"
)
PIPES = ("SCALAR", "MTE2", "VECTOR", "MTE3")


def as_step(act: Act) -> Step:
    code = Instruction(0, 0, act.pipe, "X", "", 1, 0)
    key = (0, act.flag, 0, act.flag, 0) if act.flag else None
    return Step(
        instruction=code,
        unit=act.unit,
        cycles=act.cycles,
        stage=0,
        cold=act.cold,
        sets=key if act.kind == "set" else None,
        waits=key if act.kind == "wait" else None,
        barrier=act.kind == "barrier",
    )


@st.composite
def programs(draw: st.DrawFn) -> list[Act]:
    """Work on some pipes of two sub-cores, with flags whose SET always comes before its WAIT."""
    acts: list[Act] = []
    pending: list[tuple[str, str]] = []
    for number in range(draw(st.integers(1, 60))):
        unit, pipe = draw(st.integers(0, 1)), draw(st.sampled_from(PIPES))
        cold = draw(st.integers(0, 9)) == 9
        match draw(st.sampled_from(["work", "work", "work", "set", "wait", "barrier"])):
            case "set" if pipe != "SCALAR":
                pending.append((f"flag{number}", pipe))
                acts.append(Act(unit, pipe, 1, "set", f"flag{number}", cold))
            case "wait" if pending:
                flag, _ = pending.pop(draw(st.integers(0, len(pending) - 1)))
                acts.append(Act(unit, pipe, 1, "wait", flag, cold))
            case "barrier":
                acts.append(Act(unit, "ALL", 1, "barrier", "", cold))
            case _:
                acts.append(Act(unit, pipe, draw(st.integers(1, 40)), cold=cold))
    return acts


@given(programs())
@settings(max_examples=60, deadline=None)
def test_every_instruction_runs_when_a_loop_over_cycles_says(acts: list[Act]) -> None:
    timing = schedule([as_step(act) for act in acts], [act.cycles for act in acts], 1)
    Loop(acts).run()
    found = list(zip(timing.start[:, 0], timing.end[:, 0], strict=True))
    assert found == [(act.start, act.end) for act in acts]


def test_a_full_queue_stops_the_scalar_unit() -> None:
    acts = [Act(0, "VECTOR", 100) for _ in range(20)] + [Act(0, "MTE3", 1)]
    timing = schedule([as_step(act) for act in acts], [act.cycles for act in acts], 1)
    Loop(acts).run()
    assert int(timing.start[-1, 0]) == acts[-1].start > 100


def test_blocks_of_one_tape_do_not_disturb_each_other() -> None:
    acts = [Act(0, "MTE2", 5), Act(0, "MTE2", 1, "set", "f"), Act(0, "VECTOR", 1, "wait", "f")]
    lengths = [np.array([5, 50]), 1, 1]
    timing = schedule([as_step(act) for act in acts], lengths, 2)
    alone = schedule([as_step(act) for act in acts], [50, 1, 1], 1)
    assert timing.end[:, 1].tolist() == alone.end[:, 0].tolist()
    assert timing.end[2, 0] < timing.end[2, 1]


def test_a_wait_for_a_flag_that_nobody_sets_is_refused() -> None:
    acts = [Act(0, "VECTOR", 1, "wait", "f")]
    with pytest.raises(ValueError, match="nobody sets"):
        schedule([as_step(act) for act in acts], [1], 1)


@pytest.mark.parametrize("buffers", [1, 2, 3])
@pytest.mark.parametrize("text", [*DEVICE, SMALL_UNIFIED])
def test_every_flag_of_a_program_is_set_and_awaited_in_turn(text: str, buffers: int) -> None:
    program = run(scenario(_with(text, buffers)), 0).program
    for tape in program.tapes:
        held: Counter[FlagKey] = Counter()
        for step in tape.steps:
            if step.sets is not None:
                held[step.sets] += 1
            elif step.waits is not None:
                held[step.waits] -= 1
            # Flags within a core hold one bit; those between cores count.
            key = step.flag
            assert key is None or 0 <= held[key] <= (1 if key[0] == key[2] else 15)
        assert not any(held.values())


def _with(text: str, buffers: int) -> str:
    if "tiling: {" in text:
        return text.replace("tiling: {", f"tiling: {{buffers: {buffers}, ")
    return f"{text}\ntiling: {{buffers: {buffers}}}"
