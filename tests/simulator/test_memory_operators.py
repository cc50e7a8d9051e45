"""Blocks of memory lie in the operators whose names they carry, as in every real profile."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_operators import PlainOperator, names_of
from real_ranks import RANKS, connected
from tiny_timeline import kernel, operator, program, scene, timeline

from ascend_ref.capture import Capture, Switches, Texts
from ascend_ref.capture.model import NONE
from ascend_simulator.choices import Scenario
from ascend_simulator.memory import record_memory
from ascend_simulator.program.model import Launch, Program, Tensor
from ascend_simulator.run import simulate
from ascend_simulator.scenario import preset
from ascend_simulator.strategies import scenarios

PRESETS = ("cnn-910a", "cnn-910b", "dense-8", "moe-8", "edge-310b", "recommendation")
OPERATOR = 50001


class Block(NamedTuple):
    """A block with the times at which it was taken and given back, None where it was not."""

    name: str
    allocated: int
    released: int | None
    inactive: int | None


class Level(NamedTuple):
    """What the framework holds after an event."""

    time: int
    allocated: int
    active: int


class Seen(NamedTuple):
    """What a profile shows: blocks, operators, levels of PTA."""

    blocks: list[Block]
    operators: list[PlainOperator]
    levels: list[Level]


def real(path: str) -> Seen:
    with connected(path) as database:
        names = dict(database.execute("SELECT id, value FROM STRING_IDS"))
        calls = database.execute(
            f"SELECT startNs, endNs, globalTid, name FROM PYTORCH_API WHERE type = {OPERATOR}"
        ).fetchall()
        blocks = database.execute(
            "SELECT name, allocationTime, releaseTime, activeReleaseTime FROM OP_MEMORY"
            " WHERE streamPtr IS NOT NULL ORDER BY allocationTime"
        ).fetchall()
        levels = database.execute(
            "SELECT timestamp, totalAllocated, totalActive FROM MEMORY_RECORD JOIN STRING_IDS s"
            " ON s.id = component WHERE s.value = 'PTA' ORDER BY MEMORY_RECORD.rowid"
        ).fetchall()
    return Seen(
        [
            Block(names[name], *(None if time is None else int(time) for time in times))
            for name, *times in blocks
        ],
        [PlainOperator(int(a), int(b), thread, names[name]) for a, b, thread, name in calls],
        [Level(*map(int, row)) for row in levels],
    )


def simulated(capture: Capture) -> Seen:
    calls, blocks, texts = capture.activities, capture.memory_blocks, capture.texts.all
    kept = calls.take(calls.kind == OPERATOR)
    columns = (kept.start, kept.end, kept.thread, kept.name)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    totals = capture.memory_totals
    totals = totals.take(totals.component == capture.texts.number("PTA"))
    times = (blocks.allocated, blocks.released, blocks.inactive)
    levels = (totals.time, totals.allocated, totals.active)
    return Seen(
        [
            Block(texts[name], *(None if time == NONE else time for time in own))
            for name, *own in zip(
                blocks.name.tolist(), *(time.tolist() for time in times), strict=True
            )
        ],
        [PlainOperator(start, end, thread, texts[name]) for start, end, thread, name in rows],
        [Level(*row) for row in zip(*(level.tolist() for level in levels), strict=True)],
    )


def assert_named(seen: Seen) -> int:
    """Some thread has every block in its operator; returns how many lie in ``empty_tensor``."""
    events = [block.allocated for block in seen.blocks]
    found: dict[int, set[str]] = {time: set() for time in events}
    for thread in {one.thread for one in seen.operators}:
        names = names_of([(time, thread) for time in events], list(seen.operators))
        for time, name in zip(events, names, strict=True):
            found[time].add(name)
    for block in seen.blocks:
        assert block.name in found[block.allocated]
    around = [(one.start, one.end) for one in seen.operators if one.name == "empty_tensor"]
    return sum(any(start <= time <= end for start, end in around) for time in events)


@pytest.mark.parametrize("path", RANKS)
def test_a_real_block_is_taken_in_the_operator_that_it_names(path: str) -> None:
    seen = real(path)
    assert assert_named(seen) > 0.75 * len(seen.blocks)


def first_capture(scenario: Scenario, seed: int) -> Capture:
    switches = replace(scenario.capture, memory=True, cpu=True)
    return simulate(replace(scenario, capture=switches), seed).capture(0)


@pytest.mark.parametrize("name", PRESETS)
def test_a_block_of_a_preset_is_taken_in_the_operator_that_it_names(name: str) -> None:
    seen = simulated(first_capture(preset(name), 5))
    assert assert_named(seen) > 0.75 * len(seen.blocks)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(), st.integers(0, 1 << 32))
def test_a_block_is_taken_in_the_operator_that_it_names(scenario: Scenario, seed: int) -> None:
    assert_named(simulated(first_capture(scenario, seed)))


def strangers(seen: Seen) -> list[tuple[int, int]]:
    """By how much (allocated, active) the levels fall without a block that the profile shows."""
    own = {time for block in seen.blocks for time in block[1:]}
    return [
        (after.allocated - before.allocated, after.active - before.active)
        for before, after in pairwise([seen.levels[0], *seen.levels])
        if after.time not in own
    ]


@pytest.mark.parametrize("path", RANKS)
def test_a_real_step_gives_back_as_many_blocks_of_an_earlier_one_as_it_leaves(path: str) -> None:
    seen = real(path)
    left = [block for block in seen.blocks if block.released is None]
    assert [block.inactive for block in left] == [None] * 24
    assert len(strangers(seen)) == 48


def test_a_simulated_step_gives_back_the_blocks_of_an_earlier_one() -> None:
    scenario = preset("cnn-910b")
    seen = simulated(first_capture(scenario, 5))
    left = [block for block in seen.blocks if block.released is None]
    assert [block.inactive for block in left] == [None] * 24
    falls = strangers(seen)
    assert len(falls) == 48
    assert all(allocated <= 0 and active <= 0 for allocated, active in falls)


def held_on(size: int = 1000) -> Program:
    """The result of the first operator is kept until it has run again."""
    made = operator([(4_000, 1)])
    made = replace(made, tensors=(*made.tensors, Tensor(size, 1, 0)))
    return program([made, operator()], [Launch(place, (kernel(),)) for place in range(2)])


def test_a_block_that_the_script_holds_on_to_goes_back_in_the_next_step() -> None:
    texts = Texts()
    run = timeline(held_on(), 3)
    blocks = record_memory(scene(run, Switches(memory=True), texts=texts), 1).blocks
    held = blocks.take(blocks.size == 1536)
    assert held.inactive.tolist() == [*run.host.left[1:, 0].tolist(), NONE]
    assert held.released.tolist()[2] == NONE
    assert (held.released[:2] > held.inactive[:2]).all()


@pytest.mark.parametrize("first_step", [0, 10])
def test_a_profile_begins_with_what_the_steps_before_it_hold(first_step: int) -> None:
    switches = Switches(memory=True)
    run = timeline(held_on(), 3, first_step=first_step)
    memory = record_memory(scene(run, switches, texts=Texts()), 1)
    earlier = first_step > 0
    assert len(memory.blocks) == 6
    assert len(memory.totals) == 6 + 2 * 5 + 2 * earlier
    persistent = 100 << 20
    taken, other = 4_096, 1_536
    assert memory.blocks.total_allocated[:2].tolist() == [
        persistent + taken + earlier * other,
        persistent + taken + other + earlier * other,
    ]
    assert memory.totals.allocated[-1] == persistent + other
    # A profile of later steps continues with the totals with which an earlier one would have ended.
    long = record_memory(scene(timeline(held_on(), 5), switches, texts=Texts()), 1)
    levels = [long.blocks.total_allocated[place : place + 2].tolist() for place in (2, 4, 6)]
    own = [memory.blocks.total_allocated[place : place + 2].tolist() for place in (0, 2, 4)]
    assert own == (levels if earlier else [own[0], *levels[1:]])


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(2, 6), st.integers(1, 4))
def test_a_later_profile_shows_the_end_of_a_longer_one(
    data: st.DataObject, operators: int, steps: int
) -> None:
    """With what every step holds on to: the levels are those of a profile from the first step on,
    from its second step on.
    """
    made = []
    for place in range(operators):
        sizes = data.draw(st.lists(st.integers(1, 30 << 20), max_size=3))
        tensors = []
        for size in sizes:
            last = data.draw(st.integers(place, operators - 1))
            until = data.draw(st.none() | st.integers(0, place))
            tensors.append(Tensor(size, last, until))
        made.append(replace(operator(), tensors=tuple(tensors)))
    whole = program(made, [Launch(place, (kernel(),)) for place in range(operators)])
    switches = Switches(memory=True)
    cold = record_memory(scene(timeline(whole, steps + 2), switches, texts=Texts()), 1)
    warm = record_memory(scene(timeline(whole, steps, first_step=9), switches, texts=Texts()), 1)
    count = len(warm.totals)
    for name in ("allocated", "active", "reserved"):
        late = getattr(cold.totals, name)[len(cold.totals) - count :]
        assert getattr(warm.totals, name).tolist() == late.tolist()
    assert np.all(warm.totals.allocated <= warm.totals.active)
