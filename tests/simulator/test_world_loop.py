"""The vectorised world against a plain event loop over the same tasks, to the nanosecond."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from event_loop import Deadlock, EventLoop, RankPlay
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slices import some
from world_cases import Simulated, kernel, programs, simulated, world_of

from ascend_simulator.choices import Algorithm, HardwareChoice, Parallelism, Scenario
from ascend_simulator.program.model import (
    Await,
    Collective,
    Launch,
    Operator,
    Program,
    Synchronize,
)
from ascend_simulator.scenario import parse
from ascend_simulator.session.setting import FIRST_SESSION_NS, Setting
from ascend_simulator.session.simulate import BEFORE_STEPS_NS
from ascend_simulator.strategies import scenarios
from ascend_simulator.world.rank import host_times

SLOW = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
FIRST_STEP = FIRST_SESSION_NS + BEFORE_STEPS_NS
Row = tuple[int, int, int, str]


def played(world: Setting) -> list[RankPlay]:
    return EventLoop(world, FIRST_STEP).run()


def expected_tasks(rank: RankPlay, ahead: int) -> Counter[Row]:
    return Counter(
        (task.start + ahead, task.end + ahead, task.stream, task.kind)
        for task in rank.tasks
        if task.stream is not None
    )


def found_tasks(run: Simulated, rank: int) -> Counter[Row]:
    capture = run.captures[rank]
    tasks, texts = capture.tasks, capture.texts.all
    rows = zip(
        tasks.start.tolist(),
        tasks.end.tolist(),
        tasks.stream.tolist(),
        (texts[number] for number in tasks.kind.tolist()),
        strict=True,
    )
    return Counter(row for row in rows if not row[3].startswith("PROFILING_"))


def expected_transfers(rank: RankPlay, ahead: int, collectives: int) -> Counter[object]:
    return Counter(
        (step * collectives + number, task.small, task.start + ahead, task.end + ahead)
        for (step, number), tasks in rank.runs.items()
        for task in tasks
    )


def found_transfers(run: Simulated, rank: int) -> Counter[object]:
    capture = run.captures[rank]
    transfers, tasks, texts = capture.transfers, capture.tasks, capture.texts.all
    start, end = np.empty_like(tasks.start), np.empty_like(tasks.end)
    start[tasks.identity], end[tasks.identity] = tasks.start, tasks.end
    return Counter(
        (collective, (texts[kind], plane, target, size), begin, finish)
        for collective, kind, plane, target, size, begin, finish in zip(
            transfers.collective.tolist(),
            transfers.kind.tolist(),
            transfers.plane.tolist(),
            transfers.target.tolist(),
            transfers.size.tolist(),
            start[transfers.task].tolist(),
            end[transfers.task].tolist(),
            strict=True,
        )
    )


def assert_same_host(run: Simulated, rank: int, by_hand: RankPlay, ahead: int) -> None:
    world, meetings = run.world, run.meetings[rank]
    host = host_times(world.clocks(rank), meetings)
    starts = [task.end + ahead for task in by_hand.step_starts]
    assert meetings.step_starts.tolist() == starts
    assert meetings.step_ends.tolist() == [row[-1].leave.end + ahead for row in by_hand.hosts]
    begin = [[item.hand.start + ahead for item in row] for row in by_hand.hosts]
    assert host.begin.tolist() == begin
    assert host.handed.tolist() == [
        [item.hand.end + ahead for item in row] for row in by_hand.hosts
    ]
    assert host.left.tolist() == [[item.leave.end + ahead for item in row] for row in by_hand.hosts]
    for name, moment in (
        ("taken", lambda item: item.take.start),
        ("seen", lambda item: item.take.end + 1_000),
        ("done", lambda item: item.finish.end),
    ):
        assert getattr(host, name).tolist() == [
            [moment(item) + ahead if item.take else -1 for item in row] for row in by_hand.hosts
        ], name
    pauses = [
        [item.hand.start + ahead - item.pause, item.hand.start + ahead]
        for row in by_hand.hosts
        for item in row
        if item.pause
    ]
    assert host.collections.tolist() == pauses


def assert_same(world: Setting) -> None:
    run = simulated(world)
    for rank, by_hand in enumerate(played(world)):
        ahead = world.disturbances.skew(rank)
        assert_same_host(run, rank, by_hand, ahead)
        assert found_tasks(run, rank) == expected_tasks(by_hand, ahead)
        count = len(world.of(rank).collectives)
        assert found_transfers(run, rank) == expected_transfers(by_hand, ahead, count)


@pytest.mark.exhaustive
@SLOW
@given(st.data(), scenarios(), st.sampled_from([0, 5_000, 90_000]), st.integers(0, 1 << 32))
def test_random_programs_run_as_in_the_event_loop(
    data: st.DataObject, scenario: Scenario, gap: int, seed: int
) -> None:
    resting = replace(scenario, hardware=replace(scenario.hardware, kernel_gap=gap))
    own = data.draw(programs(scenario.parallelism))
    assert_same(world_of(resting, seed, own))


@pytest.mark.campaign
@settings(SLOW, max_examples=10)
@given(scenarios(), st.integers(0, 1 << 32))
def test_programs_of_models_run_as_in_the_event_loop(scenario: Scenario, seed: int) -> None:
    assert_same(world_of(scenario, seed))


@pytest.mark.exhaustive
@pytest.mark.parametrize("tensor", some([6, 2, 4], every=3))
@pytest.mark.parametrize("algorithm", some(["auto", "mesh", "pairwise", "pipeline"], every=2))
def test_groups_that_reach_over_hosts_and_others_that_do_not(
    tensor: int, algorithm: Algorithm
) -> None:
    """With 12 ranks on hosts of 3, 4 or 6 only some groups of a dimension are within one host."""
    for per_host in (3, 4, 6):
        scenario = Scenario(
            "uneven",
            hardware=HardwareChoice(devices_per_host=per_host, algorithm=algorithm),
            parallelism=Parallelism(12, tensor=tensor),
        )
        operators = tuple(Operator("c10d::x", "hcom", "main", 1_000) for _ in range(4))
        items = (
            Collective(0, "allReduce", "tp", 100_003, "FP32"),
            Collective(1, "alltoallv", "tp", 100_003, "FP32"),
            Collective(2, "allGather", "dp", 1_000, "FP16"),
            Synchronize(3),
        )
        assert_same(world_of(scenario, 1, [Program(operators, items)]))


def waiting(peer: int, *, first: str) -> Program:
    """A stage that sends to and receives from the other one, and waits after each."""
    operators = tuple(Operator("c10d::x", "hcom", "main", 1_000) for _ in range(5))
    second = "receive" if first == "send" else "send"
    items = (
        Collective(0, first, "pp", 8, "FP32", peer=peer),  # type: ignore[arg-type]
        Await(1, 0),
        Collective(2, second, "pp", 8, "FP32", peer=peer),  # type: ignore[arg-type]
        Await(3, 2),
        Synchronize(4),
    )
    return Program(operators, items)


def test_stages_that_wait_for_each_other_are_refused() -> None:
    scenario = Scenario("stuck", parallelism=Parallelism(2, pipeline=2))
    world = world_of(scenario, 1, [waiting(1, first="receive"), waiting(-1, first="receive")])
    with pytest.raises(Deadlock):
        played(world)
    with pytest.raises(ValueError, match="wait for each other: stage 0 at item 1, stage 1 at"):
        simulated(world)
    assert_same(world_of(scenario, 1, [waiting(1, first="send"), waiting(-1, first="receive")]))


def test_a_step_may_be_over_before_its_first_task_begins() -> None:
    """Then no part of the step is left to add up; the first stage's host returns at once."""
    scenario = parse(
        "{model: {kind: llm-inference, layers: 2}, parallelism: {ranks: 2, pipeline: 2}, "
        "schedule: {warmup: 0, active: 1}, capture: {level: 0, cpu: false}}"
    )
    operator = Operator("aten::mul", "aclnnMul", "main", 5_000)
    launch = Launch(0, (kernel(20, "AI_VECTOR_CORE", subtask=False),))
    first = Program((operator, operator), (launch, Synchronize(1)))
    world = world_of(scenario, 0, [first, Program((operator,), (Synchronize(0),))])
    assert [totals.step_trace_time for totals in simulated(world).totals] == [(), ()]
