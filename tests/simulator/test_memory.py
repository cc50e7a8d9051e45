"""The framework's allocator against one that plays event by event, and its promises."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_timeline import ascending, kernel, operator, program, random_program, scene, timeline

from ascend_ref.capture import Switches, Texts
from ascend_simulator.choices import FaultChoice
from ascend_simulator.memory import Memory, record_memory
from ascend_simulator.program.model import Collective, Launch, Program

ALL = Switches(memory=True)
MEBI = 1 << 20


def record(
    of: Program, steps: int = 2, faults: tuple[FaultChoice, ...] = (), **changes: int
) -> tuple[Memory, Texts]:
    texts = Texts()
    return record_memory(scene(timeline(of, steps, **changes), ALL, faults, texts), 4242), texts


def up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def naive_totals(memory: Memory, persistent: int) -> list[tuple[int, int, int, int]]:
    """(time, allocated, reserved, active) after each event of the framework, one by one."""
    blocks = memory.blocks
    events = []
    for place in range(len(blocks)):
        release, inactive = int(blocks.released[place]), int(blocks.inactive[place])
        shared = release >= 0 and not 0 <= inactive < release
        if inactive >= 0:
            events.append((inactive, 0, place, shared))
        if release >= 0:
            events.append((release, 1, place, shared))
        events.append((int(blocks.allocated[place]), 2, place, shared))
    events.sort()
    base = up(persistent, 512)
    allocated = active = base
    pools: dict[tuple[int, str], int] = defaultdict(int)
    most: dict[tuple[int, str], int] = defaultdict(int)
    seen = []
    for time, kind, place, shared in events:
        size = int(blocks.size[place])
        sort = "small" if size <= MEBI else "shared" if size < 10 * MEBI else "own"
        pool = (int(blocks.stream[place]), sort)
        taken = up(size, 2 * MEBI) if sort == "own" else size
        if kind == 2:
            allocated, active = allocated + size, active + size
            pools[pool] += taken
        if kind == (1 if shared else 0):
            allocated -= size
        if kind == 0:
            active -= size
            pools[pool] -= taken
        most[pool] = max(most[pool], pools[pool])
        segments = sum(
            up(value, 20 * MEBI if name == "shared" else 2 * MEBI)
            for (_, name), value in most.items()
        )
        seen.append((time, allocated, up(persistent, 2 * MEBI) + segments, active))
    return seen


def framework_rows(memory: Memory, texts: Texts) -> list[tuple[int, int, int, int]]:
    totals = memory.totals
    rows = totals.take(totals.component == texts.number("PTA"))
    columns = (rows.time, rows.allocated, rows.reserved, rows.active)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 25), st.integers(1, 3))
def test_totals_equal_those_of_an_allocator_that_plays_event_by_event(
    seed: int, operators: int, steps: int
) -> None:
    made = random_program(seed, operators)
    memory, texts = record(made, steps)
    expected = naive_totals(memory, made.persistent)
    assert framework_rows(memory, texts) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 25))
def test_blocks_keep_the_totals_of_their_own_events(seed: int, operators: int) -> None:
    memory, texts = record(random_program(seed, operators))
    rows = set(framework_rows(memory, texts))
    blocks = memory.blocks
    for place in range(len(blocks)):
        row = (
            int(blocks.allocated[place]),
            int(blocks.total_allocated[place]),
            int(blocks.total_reserved[place]),
            int(blocks.total_active[place]),
        )
        assert row in rows
        release = (
            int(blocks.released[place]),
            int(blocks.release_total_allocated[place]),
            int(blocks.release_total_reserved[place]),
            int(blocks.release_total_active[place]),
        )
        assert release in rows or release == (-1, -1, -1, -1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 25), st.booleans())
def test_what_is_allocated_is_active_and_what_is_active_is_reserved(
    seed: int, operators: int, warm: bool
) -> None:
    leak = FaultChoice("memory-leak", megabytes=3)
    broken = FaultChoice("fragmentation", megabytes=5, steps=(1, 1))
    made = random_program(seed, operators)
    memory, texts = record(made, 3, (leak, broken), first_step=int(warm))
    totals = memory.totals
    assert ascending(totals.time)
    assert (totals.allocated >= 0).all()
    assert (totals.allocated <= totals.reserved).all()
    assert (totals.active <= totals.reserved).all()
    of_framework = totals.component == texts.number("PTA")
    assert (totals.allocated[of_framework] <= totals.active[of_framework]).all()
    assert (np.diff(totals.reserved[of_framework]) >= 0).all()
    events = memory.workspaces
    assert (events.total_allocated <= events.total_reserved).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 25), st.integers(1, 3))
def test_a_block_lives_as_long_as_its_operators_say(seed: int, operators: int, steps: int) -> None:
    made = random_program(seed, operators)
    run = timeline(made, steps)
    memory, _ = record(made, steps)
    blocks = memory.blocks
    tensors = [tensor for each in made.operators for tensor in each.tensors]
    kept = sum(tensor.last_use is None for tensor in tensors)
    assert len(blocks) == kept + steps * (len(tensors) - kept)
    assert (blocks.released < 0).sum() == kept
    released = blocks.released >= 0
    assert (blocks.released[released] > blocks.allocated[released]).all()
    assert (blocks.allocated >= run.step_starts[0]).all()
    assert (blocks.released <= run.session[1]).all()
    assert (blocks.size % 512 == 0).all()


def test_a_block_goes_back_after_the_operator_that_uses_it_last() -> None:
    made = program(
        [operator([(1000, 1)]), operator(), operator()],
        [Launch(0, (kernel(),)), Launch(1, (kernel(),)), Launch(2, (kernel(),))],
    )
    run, (memory, _) = timeline(made), record(made)
    left = run.host.left[:, 1]
    assert (memory.blocks.inactive == left).all()
    assert (memory.blocks.released > left).all()
    assert (memory.blocks.released < run.host.handed[:, 2]).all()
    assert memory.blocks.size.tolist() == [1536, 1536]


def test_a_block_that_another_stream_uses_returns_when_that_stream_is_done() -> None:
    made = program(
        [operator([(1000, 1)]), operator(), operator([(1000, 2)]), operator([(1000, 3)])],
        [
            Launch(0, (kernel(),)),
            Collective(1, "allReduce", "dp", 1_000, "FP32"),
            Launch(2, (kernel(),)),
            Launch(3, (kernel(),)),
        ],
    )
    run, (memory, _) = timeline(made, 2), record(made, 2)
    shared = memory.blocks.take(memory.blocks.inactive - memory.blocks.released > 0)
    assert len(shared) == 1
    assert shared.inactive[0] >= run.end[0, 1]
    assert shared.inactive[0] in memory.blocks.allocated
    last = memory.blocks.take(memory.blocks.inactive < 0)
    assert len(last) == 1
    assert last.released[0] > 0


def test_steps_after_the_first_repeat_its_totals() -> None:
    made = random_program(5, 30)
    memory, texts = record(made, 3)
    rows = framework_rows(memory, texts)
    blocks = memory.blocks
    second, third = (
        [
            (int(blocks.name[place]), int(blocks.total_allocated[place]))
            for place in np.flatnonzero((blocks.allocated >= start) & (blocks.allocated < end))
        ]
        for start, end in zip(
            timeline(made, 3).step_starts[1:], timeline(made, 3).step_ends[1:], strict=True
        )
    )
    assert second == third
    assert rows[-1][2] == rows[len(rows) // 2][2]


def test_a_leak_adds_its_size_in_every_step_that_it_hits() -> None:
    made = random_program(5, 30)
    leak = FaultChoice("memory-leak", megabytes=40, steps=(1, 2))
    clean, clean_texts = record(made, 4)
    memory, texts = record(made, 4, (leak,))
    grown = framework_rows(memory, texts)[-1][1] - framework_rows(clean, clean_texts)[-1][1]
    assert grown == 80 * MEBI
    leaked = memory.blocks.take(memory.blocks.size == 40 * MEBI)
    assert leaked.released.tolist() == [-1, -1]
    run = timeline(made, 4)
    assert (leaked.allocated > run.step_starts[1:3]).all()
    assert (leaked.allocated < run.step_ends[1:3]).all()


def test_fragmentation_reserves_more_for_the_same_blocks() -> None:
    made = random_program(5, 30)
    clean, clean_texts = record(made, 3)
    memory, texts = record(made, 3, (FaultChoice("fragmentation", megabytes=64, steps=(1, 2)),))
    pairs = list(
        zip(framework_rows(memory, texts), framework_rows(clean, clean_texts), strict=True)
    )
    assert {(broken[1], broken[3]) == (whole[1], whole[3]) for broken, whole in pairs} == {True}
    more = [broken[2] - whole[2] for broken, whole in pairs]
    assert sorted(set(more)) == [0, 64 * MEBI, 128 * MEBI]
    assert more == sorted(more)


@pytest.mark.parametrize("kind", ["memory-leak", "fragmentation"])
def test_a_fault_of_another_rank_changes_nothing(kind: str) -> None:
    made = random_program(5, 30)
    clean, texts = record(made)
    hit, hit_texts = record(made, 2, (FaultChoice(kind, ranks=(1, 2)),))  # type: ignore[arg-type]
    assert framework_rows(hit, hit_texts) == framework_rows(clean, texts)


def test_a_warmed_up_allocator_does_not_grow() -> None:
    made = random_program(5, 30)
    memory, texts = record(made, 3, first_step=10)
    assert len({row[2] for row in framework_rows(memory, texts)}) == 1
    assert memory.footprint.time.tolist() == [timeline(made, 3).session[0]]


def test_the_footprint_is_what_the_rows_say() -> None:
    made = random_program(5, 30)
    memory, texts = record(made, 3)
    rows = framework_rows(memory, texts)
    times = np.array([row[0] for row in rows])
    last = np.diff(times) > 0
    at = memory.footprint.at(times)
    assert (at[:-1][last] == np.array([row[2] for row in rows])[:-1][last]).all()
    start = timeline(made, 3).session[0]
    assert memory.footprint.at(np.array([start]))[0] == up(made.persistent, 2 * MEBI)


def test_without_the_switch_only_the_footprint_is_left() -> None:
    made, texts = random_program(5, 30), Texts()
    off = record_memory(scene(timeline(made), Switches(), (), texts), 1)
    on, _ = record(made)
    assert [len(off.blocks), len(off.totals), len(off.workspaces), len(texts)] == [0, 0, 0, 0]
    assert off.footprint.framework.tolist() == on.footprint.framework.tolist()


def test_each_activity_records_its_own_memory() -> None:
    made = random_program(5, 30)
    host = record_memory(scene(timeline(made), Switches(memory=True, npu=False)), 1)
    device = record_memory(scene(timeline(made), Switches(memory=True, cpu=False)), 1)
    both, _ = record(made)
    assert len(host.workspaces) == 0 == len(device.blocks)
    assert len(host.blocks) == len(both.blocks)
    assert len(device.workspaces) == len(both.workspaces) > 0
    assert len(device.totals) == len(both.totals)
    assert len(host.totals) == len(both.totals) - len(both.workspaces)


def test_a_program_without_memory_leaves_no_rows() -> None:
    memory, _ = record(program([operator()], [Launch(0, (kernel(),))]))
    assert len(memory.blocks) == len(memory.totals) == len(memory.workspaces) == 0
    assert memory.footprint.framework.tolist() == [100 * MEBI]
