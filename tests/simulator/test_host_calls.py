"""The host's calls: nesting, numbers, the calls that device tasks point to, the marks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from host_loop import FFTS, PLAIN, random_program, timeline
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_timeline import scene

from ascend_ref.capture import HostCalls, Integers, Switches, Texts
from ascend_ref.capture.model import NONE
from ascend_simulator.choices import Algorithm, Parallelism, ProductName
from ascend_simulator.hardware.model import Chip
from ascend_simulator.host import HostIds, HostRecords, HostScript, record_host
from ascend_simulator.program.model import (
    Annotate,
    Await,
    Collective,
    Copy,
    Launch,
    Operator,
    Program,
    Synchronize,
)
from ascend_simulator.run import simulate
from ascend_simulator.scenario import RUN
from ascend_simulator.world.timeline import RankTimeline

IDS = HostIds(3_217_657)
ACL, NODE, HCCL, RUNTIME = 20_000, 10_000, 5_500, 5_000
FULL = Switches(level=2, stack=True, mstx=True, gc=True, host_sys=("osrt",))

programs = st.builds(random_program, st.integers(0, 1 << 32), st.integers(0, 40))
chips = st.sampled_from([FFTS, PLAIN])


def recorded(
    program: Program, chip: Chip = FFTS, switches: Switches = FULL, seed: int = 0, steps: int = 2
) -> tuple[HostScript, RankTimeline, Texts, HostRecords]:
    script = HostScript(program, chip)
    run = timeline(script, seed, steps)
    texts = Texts()
    return script, run, texts, record_host(script, scene(run, switches, (), texts), IDS)


def outer_of(start: Integers, end: Integers, thread: Integers) -> list[int]:
    """Row of the innermost interval around each one, in order of start; fails where two cross."""
    stacks: dict[int, list[int]] = defaultdict(list)
    found = []
    ends = end.tolist()
    for row, (begin, finish, owner) in enumerate(
        zip(start.tolist(), ends, thread.tolist(), strict=True)
    ):
        assert begin <= finish
        stack = stacks[owner]
        while stack and ends[stack[-1]] < finish:
            assert ends[stack[-1]] <= begin, (row, stack[-1])
            stack.pop()
        found.append(stack[-1] if stack and begin <= ends[stack[-1]] else NONE)
        stack.append(row)
    return found


def texts_of(texts: Texts, numbers: Iterable[int]) -> list[str]:
    every = texts.all
    return [every[number] for number in numbers]


@given(programs, chips)
@settings(deadline=None, max_examples=40)
def test_the_plan_covers_exactly_what_passes_the_queue(program: Program, chip: Chip) -> None:
    made = HostScript(program, chip).plan
    for place, item in enumerate(program.items):
        queued = isinstance(item, Launch | Collective | Await | Copy) or (
            isinstance(item, Annotate) and item.on_device
        )
        assert (made.occupied[place] > 0) == queued
        assert 0 <= made.visible[place] <= made.occupied[place]
    assert (made.before >= 0).all()
    assert (made.after >= 0).all()
    working = {item.operator for item in program.items if not isinstance(item, Annotate)}
    marks = [item for item in program.items if isinstance(item, Annotate)]
    spent = int(made.before.sum() + made.after.sum())
    rest = spent - sum(program.operators[number].host for number in working)
    assert rest == sum(1_500 if item.on_device else 300 for item in marks)


@given(programs, chips, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_calls_nest_as_layers_do(program: Program, chip: Chip, seed: int) -> None:
    _, run, texts, host = recorded(program, chip, seed=seed)
    calls = host.calls
    assert (np.diff(calls.start) >= 0).all()
    assert (calls.connection == 936 + np.arange(len(calls))).all()
    assert host.profiling_connection == 936 + len(calls)
    assert calls.start.min() >= run.session[0]
    assert calls.end.max() <= run.session[1]
    allowed = {ACL: (ACL,), NODE: (ACL,), HCCL: (NODE,), RUNTIME: (ACL, NODE, HCCL, RUNTIME)}
    outer = outer_of(calls.start, calls.end, calls.thread)
    for level, around in zip(calls.level.tolist(), outer, strict=True):
        if level != ACL or around != NONE:
            assert around != NONE
            assert calls.level[around] in allowed[level]
    names = texts_of(texts, calls.name)
    assert all(
        name == "launch" for name, level in zip(names, calls.level, strict=True) if level == NODE
    )


@given(programs, chips, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_a_task_points_to_the_call_that_launched_it(
    program: Program, chip: Chip, seed: int
) -> None:
    script, run, texts, host = recorded(program, chip, seed=seed)
    calls = host.calls
    names = dict(zip(calls.connection.tolist(), texts_of(texts, calls.name), strict=True))
    first_of = {
        place: part.first for part in script.runs for place in range(part.first, part.last + 1)
    }
    launching = {
        first_of[place] for place, item in enumerate(program.items) if isinstance(item, Launch)
    }
    row_of = {connection: row for row, connection in enumerate(calls.connection.tolist())}
    used = set()
    for (step, place), connection in np.ndenumerate(host.connections.launch):
        item = program.items[place]
        if not isinstance(item, Launch | Collective | Await | Copy):
            assert connection == NONE
            continue
        row = row_of[connection]
        assert calls.level[row] == (NODE if isinstance(item, Launch | Collective) else ACL)
        if isinstance(item, Copy) and first_of[place] in launching:
            assert run.host.taken[step, first_of[place]] <= calls.start[row]
            assert calls.start[row] <= run.host.seen[step, place]
        else:
            assert run.host.taken[step, place] <= calls.start[row]
            assert calls.end[row] <= run.host.seen[step, place]
        used.add(connection)
        others = [int(table[step, place]) for table in host.connections[1:]]
        if isinstance(item, Collective):
            assert [names[other] for other in others] == [
                "aclrtRecordEvent",
                "aclrtStreamWaitEvent",
                "aclrtRecordEvent",
                "aclrtRecordEvent",
            ]
            assert others[0] < others[1] < connection < others[2] < others[3]
            used.update(others)
        else:
            assert others == [NONE] * 4
    pointed = sum(
        isinstance(item, Launch | Await)
        or (isinstance(item, Copy) and first_of[place] not in launching)
        for place, item in enumerate(program.items)
    )
    # The copies next to kernels share the call around them (db-schema.md 4.5).
    pointed += len(
        {
            first_of[place]
            for place, item in enumerate(program.items)
            if isinstance(item, Copy) and first_of[place] in launching
        }
    )
    events = sum(isinstance(item, Collective) for item in program.items)
    assert len(used) == 2 * (pointed + 5 * events)


@given(programs, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_levels_change_numbers_but_no_time(program: Program, seed: int) -> None:
    def rows(switches: Switches) -> list[tuple[object, ...]]:
        _, _, texts, host = recorded(program, switches=switches, seed=seed)
        calls = host.calls
        names = texts_of(texts, calls.name)
        found = zip(calls.start, calls.end, calls.level, calls.thread, names, strict=True)
        return [row for row in found if row[2] != RUNTIME]

    assert rows(Switches(level=0)) == rows(Switches(level=1)) == rows(Switches(level=2))


@pytest.mark.parametrize(
    ("switches", "levels"),
    [
        (Switches(level=0, runtime_api=True), {ACL, NODE, HCCL, RUNTIME}),
        (Switches(level=2, runtime_api=False), {ACL, NODE, HCCL}),
        (Switches(level=2), {ACL, NODE, HCCL, RUNTIME}),
        (Switches(level=2, task_time=False), {ACL, RUNTIME}),
        (Switches(task_time=False), {ACL}),
    ],
)
def test_switches_decide_which_levels_of_calls_are_recorded(
    switches: Switches, levels: set[int]
) -> None:
    """Launches come with the times of tasks, calls of the runtime with their switch."""
    *_, host = recorded(random_program(3, 40), switches=switches)
    assert set(host.calls.level.tolist()) == levels


@given(programs, chips, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_every_run_of_a_call_is_the_stretched_plan(program: Program, chip: Chip, seed: int) -> None:
    """The consumer's calls, expanded one by one."""
    script, run, texts, host = recorded(program, chip, seed=seed)
    expected = []
    for step in range(run.steps):
        for part in script.runs:
            for call in part.passage.calls if part.passage else ():
                moments = []
                for moment, side in ((call.start, 0), (call.end, 1)):
                    place, offset = part.first, moment
                    while offset - side >= script.plan.occupied[place]:
                        offset -= int(script.plan.occupied[place])
                        place += 1
                    taken, done = (
                        int(table[step, place]) for table in (run.host.taken, run.host.done)
                    )
                    factor = ((done - taken) << 20) // int(script.plan.occupied[place])
                    moments.append(taken + (offset * factor >> 20))
                expected.append((*moments, call.name))
    calls = host.calls.take(host.calls.thread == IDS.process + 3_538)
    found = zip(calls.start.tolist(), calls.end.tolist(), texts_of(texts, calls.name), strict=True)
    assert sorted(found) == sorted(expected)


def test_without_the_device_activity_there_are_no_calls() -> None:
    program = random_program(3, 30)
    *_, texts, host = recorded(program, switches=Switches(npu=False))
    assert not len(host.calls)
    assert not len(host.links)
    assert (host.connections.launch == NONE).all()
    assert len(host.activities)
    assert "launch" not in texts.all


def test_what_a_compiled_graph_and_a_collective_call() -> None:
    kernel = next(
        item.variants[0] for item in random_program(1, 40).items if isinstance(item, Launch)
    )
    operators = (
        Operator("aten::conv2d", "Conv2D", "main", 150_000, two_phase=False),
        Operator("c10d::allreduce_", "hcom_allReduce_", "backward", 40_000),
        Operator("aten::item", "", "main", 20_000),
    )
    items = (Launch(0, (kernel,) * 1), Collective(1, "allReduce", "dp", 64, "FP32"), Synchronize(2))
    script = HostScript(Program(operators, items), FFTS)
    texts = Texts()
    run = timeline(script, steps=1)
    host = record_host(script, scene(run, Switches(level=1), (), texts), IDS)
    by_thread: dict[int, list[str]] = defaultdict(list)
    for thread, name in zip(host.calls.thread, texts_of(texts, host.calls.name), strict=True):
        by_thread[int(thread) - IDS.process].append(name)
    operands = kernel.input_shapes.count(";") + kernel.output_shapes.count(";") + 2
    assert by_thread[3_602] == ["aclopDestroyAttr"] + ["aclDestroyTensorDesc"] * operands
    main = ["aclCreateTensorDesc", "aclCreateDataBuffer"] * operands + ["aclopCreateAttr"]
    waits = ["aclrtSynchronizeStreamWithTimeout", "aclrtMemcpy", "aclrtSynchronizeDevice"]
    assert by_thread[0] == main + waits
    assert by_thread[9_507] == ["aclrtCreateEventExWithFlag"]
    events = ["aclrtRecordEvent", "aclrtStreamWaitEvent"]
    collective = ["hcom_allReduce_", "launch", "Launch_Ffts"]
    collective += ["aclrtRecordEvent"] * 2 + ["aclrtDestroyEvent"]
    graph = ["aclopCompileAndExecute", "opCompile", "launch"]
    assert by_thread[3_538] == graph + events + collective


@given(programs, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_marks_span_their_items(program: Program, seed: int) -> None:
    script = HostScript(program, FFTS)
    run = timeline(script, seed)
    places = [place for place, item in enumerate(program.items) if isinstance(item, Collective)]
    ids = HostIds(7, communication=dict.fromkeys(places, ("group", 5)))
    texts = Texts()
    marks = record_host(script, scene(run, Switches(mstx=True), (), texts), ids).marks
    ranges = [place for place, item in enumerate(program.items) if isinstance(item, Annotate)]
    assert len(marks) == run.steps * (len(ranges) + len(places))
    assert (np.diff(marks.start) >= 0).all()
    linked = marks.device_link[marks.device_link != NONE]
    assert (linked == np.arange(len(linked))).all()
    order = sorted([*ranges, *places])
    for number, place in enumerate(order * run.steps):
        step, item = number // len(order), program.items[place]
        last = item.last if isinstance(item, Annotate) else place
        assert marks.start[number] == run.host.begin[step, place]
        assert marks.end[number] == run.host.left[step, last]
        text = texts.all[marks.message[number]]
        if isinstance(item, Annotate):
            assert text == item.message
            assert (marks.device_link[number] != NONE) == item.on_device
        else:
            told = json.loads(text)
            assert told["streamId"] == "5"
            assert told["dataType"] == "fp32"
            assert '"count":' in text


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_script_serves_many_ranks(level: int) -> None:
    script = HostScript(random_program(5, 30), FFTS)
    switches = Switches(level=level)  # type: ignore[arg-type]
    first, second = (
        record_host(script, scene(timeline(script, seed), switches), HostIds(9, 100 * seed))
        for seed in (1, 1)
    )
    for name, column in first.calls.columns():
        assert (column == getattr(second.calls, name)).all()
    assert isinstance(first.calls, HostCalls)


def test_small_tasks_are_launched_one_by_one_without_ffts() -> None:
    operators = (
        Operator("c10d::allreduce_", "hcom_allReduce_", "main", 40_000),
        Operator("aten::item", "", "main", 20_000),
    )
    items = (Collective(0, "allReduce", "dp", 64, "FP32"), Synchronize(1))
    launches = (("Notify_Record", 3), ("Reduce_Inline", 1), ("Notify_Wait", 2), ("Memcpy", 1))
    script = HostScript(Program(operators, items), PLAIN, lambda _: launches)
    texts = Texts()
    calls = record_host(script, scene(timeline(script), Switches(level=2), (), texts), IDS).calls
    names = texts_of(texts, calls.take(calls.level == HCCL).name)
    assert names == 2 * (
        ["Notify_Record"] * 3 + ["Reduce_Inline"] + ["Notify_Wait"] * 2 + ["Memcpy"]
    )
    runtime = Counter(texts_of(texts, calls.take(calls.level == RUNTIME).name))
    assert runtime["NotifyWait"] == runtime["NotifyRecord"] - 2 == 4


@settings(max_examples=3, deadline=None)
@given(
    product=st.sampled_from(["950", "910A"]),
    parallelism=st.sampled_from(
        [Parallelism(ranks) for ranks in (2, 3, 8)]
        + [Parallelism(4, pipeline=2), Parallelism(16, tensor=2)]
    ),
    algorithm=st.sampled_from(["auto", "mesh", "ring", "nhr", "pairwise"]),
)
def test_without_ffts_each_small_task_has_a_call_of_its_own(
    product: ProductName, parallelism: Parallelism, algorithm: Algorithm
) -> None:
    preset = RUN.preset("950-dense")
    hardware = replace(preset.hardware, product=product, algorithm=algorithm)
    model = replace(preset.model, data_type="FLOAT16")
    chosen = replace(preset, hardware=hardware, parallelism=parallelism, model=model)
    run = simulate(replace(chosen, capture=replace(chosen.capture, level=2)))
    spare = 0
    for rank in range(parallelism.ranks):
        capture = run.capture(rank)
        calls, collectives, transfers = capture.calls, capture.collectives, capture.transfers
        nodes = {
            int(calls.connection[row]): row for row in np.flatnonzero(calls.level == NODE).tolist()
        }
        small = calls.take(calls.level == HCCL)
        assert len(transfers)
        for number, connection in enumerate(collectives.connection.tolist()):
            node = nodes[connection]
            inside = (small.start >= calls.start[node]) & (small.end <= calls.end[node])
            inside &= small.thread == calls.thread[node]
            called = Counter(small.name[inside].tolist())
            done = Counter(transfers.kind[transfers.collective == number].tolist())
            assert done <= called
            spare += called.total() - done.total()
    # The ranks of a host make the same calls, also the first and the last of a pipeline or chain.
    assert not spare or parallelism.pipeline > 1 or parallelism.ranks > 8
