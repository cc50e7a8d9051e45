"""Workspaces of the graph engine and of the framework."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_timeline import kernel, operator, program, random_program, scene, timeline

from ascend_ref.capture import Switches, Texts, WorkspaceEvents
from ascend_simulator.memory import record_memory
from ascend_simulator.program.model import Copy, Launch, Program

ALL = Switches(memory=True)
GRAIN = 65_536


def events(of: Program, steps: int = 2) -> tuple[WorkspaceEvents, Texts]:
    texts = Texts()
    return record_memory(scene(timeline(of, steps), ALL, texts=texts), 4242).workspaces, texts


def convolution() -> Program:
    names = ("trans_TransData_0", "trans_TransData_1", "Conv2D1")
    return program(
        [operator(two_phase=False, workspace=3 * GRAIN - 1, api="aclopCompileAndExecute")],
        [Launch(0, (kernel(name),)) for name in names],
    )


def test_every_launch_takes_a_block_and_all_go_back_after_the_last() -> None:
    found, texts = events(convolution(), 1)
    assert [texts[number] for number in found.name.tolist()] == [
        "trans_TransData_0",
        "trans_TransData_1",
        "Conv2D1",
    ] * 2
    assert found.allocate.tolist() == [1, 1, 1, 0, 0, 0]
    assert found.total_allocated.tolist() == [GRAIN * held for held in (2, 3, 4, 4, 3, 2)]
    assert found.size.tolist() == [GRAIN] * 6
    assert set(found.thread.tolist()) == {4242}
    run = timeline(convolution(), 1)
    assert (found.time[:3] > run.host.taken[0, :3]).all()
    assert (found.time[3:] > found.time[2]).all()
    assert found.time[5] == run.host.done[0, 2]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 25), st.integers(1, 3))
def test_blocks_of_the_engine_never_share_an_address(seed: int, operators: int, steps: int) -> None:
    found, _ = events(random_program(seed, operators), steps)
    live: dict[int, int] = {}
    total = GRAIN
    for address, allocate, size, held in zip(
        found.address.tolist(),
        found.allocate.tolist(),
        found.size.tolist(),
        found.total_allocated.tolist(),
        strict=True,
    ):
        total += size if allocate else 0
        assert total == held  # with the own block, be it taken or given back
        total -= 0 if allocate else size
        if allocate:
            assert all(address + size <= low or low + long <= address for low, long in live.items())
            live[address] = size
        else:
            assert live.pop(address) == size
    assert not live
    assert found.time.tolist() == sorted(found.time.tolist())


def test_the_pool_grows_for_an_operator_that_needs_more() -> None:
    huge = program([operator(two_phase=False, workspace=1 << 30)], [Launch(0, (kernel(),))])
    found, _ = events(huge)
    assert set(found.total_reserved.tolist()) == {(1 << 30) + (2 << 20)}
    assert found.total_allocated.max() == (1 << 30) + GRAIN


def test_a_launch_takes_the_name_of_the_kernel_that_ran() -> None:
    kinds = (kernel("few_tokens"), kernel("many_tokens"))
    made = program([operator(two_phase=False, workspace=1)], [Launch(0, kinds)])
    run, texts = timeline(made, 2), Texts()
    run.variant[1, 0] = 1
    found = record_memory(scene(run, ALL, texts=texts), 1).workspaces
    assert [texts[name] for name in found.name.tolist()] == ["few_tokens"] * 2 + ["many_tokens"] * 2


def test_an_operator_without_kernels_names_its_call() -> None:
    made = program(
        [operator(two_phase=False, workspace=1, api="aclrtMemcpyAsync")],
        [Copy(0, 1_000, "host to device", 900)],
    )
    found, texts = events(made, 1)
    assert [texts[name] for name in found.name.tolist()] == ["aclrtMemcpyAsync"] * 2


def test_the_framework_keeps_the_largest_workspace_so_far() -> None:
    made = program(
        [operator(workspace=1 << 20), operator(workspace=9 << 20), operator(workspace=1)],
        [Launch(place, (kernel(),)) for place in range(3)],
    )
    texts = Texts()
    totals = record_memory(scene(timeline(made), ALL, texts=texts), 1).totals
    assert {texts[number] for number in totals.component.tolist()} == {"WORKSPACE"}
    held = [(1 << 20) + 512, 0, (9 << 20) + 512, 0, 512, 0]
    assert totals.allocated.tolist() == held * 2
    assert totals.active.tolist() == held * 2
    assert totals.reserved.tolist()[:3] == [2 << 20, 2 << 20, 10 << 20]
    assert set(totals.reserved.tolist()[2:]) == {10 << 20}
    assert (np.diff(totals.time) >= 0).all()


def test_components_have_two_or_three_rows_per_block() -> None:
    texts = Texts()
    memory = record_memory(scene(timeline(random_program(3, 30)), ALL, texts=texts), 1)
    rows = Counter(texts[number] for number in memory.totals.component.tolist())
    blocks = memory.blocks
    returned = int((blocks.released >= 0).sum() + (blocks.inactive >= 0).sum())
    assert rows["PTA"] == len(blocks) + returned
    assert rows["GE"] == len(memory.workspaces)
