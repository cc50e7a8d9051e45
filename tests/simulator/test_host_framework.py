"""The framework's rows: nesting, links, stacks, steps; and what the referee says of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from host_loop import FFTS, random_program, timeline
from hypothesis import given, settings
from hypothesis import strategies as st
from slices import some
from test_host_calls import IDS, chips, outer_of, programs, recorded, texts_of
from tiny_timeline import scene

from ascend_conformance.check import check
from ascend_ref.capture import Activities, Capture, Origin, Switches, Tasks, Texts
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE
from ascend_ref.db.encode import encode
from ascend_ref.db.writer import write_database
from ascend_simulator.hardware.model import Chip
from ascend_simulator.host import HostRecords, HostScript, record_host
from ascend_simulator.program.model import Annotate, Collective, Launch, Operator, Program
from ascend_simulator.world.timeline import RankTimeline
from ascend_spec import catalog

OP, QUEUE, TRACE = 50_001, 50_002, 50_003


def section(rows: Activities, kind: int, queue: int = 0) -> Activities:
    return rows.take((rows.kind == kind) & (rows.queue == queue))


@given(programs, chips, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_rows_nest_and_stay_in_order(program: Program, chip: Chip, seed: int) -> None:
    _, run, _, host = recorded(program, chip, seed=seed)
    rows = host.activities
    parts = [
        section(rows, kind, queue) for kind, queue in ((TRACE, 0), (QUEUE, 1), (QUEUE, 2), (OP, 0))
    ]
    assert sum(map(len, parts)) == len(rows)
    for part in parts:
        assert (np.diff(part.start) >= 0).all()
        outer_of(part.start, part.end, part.thread)
    trace, enqueue, dequeue, operators = parts
    # Entering the queue is work of an operator: both together nest as well.
    framework = Activities.joined([operators, enqueue])
    framework = framework.take(np.argsort(framework.start, kind="stable"))
    around = outer_of(framework.start, framework.end, framework.thread)
    for row in np.flatnonzero(framework.kind == QUEUE).tolist():
        outer = around[row]
        while outer != NONE and framework.kind[outer] == QUEUE:  # of no length, at one moment
            outer = around[outer]
        assert outer != NONE
    main = Activities.joined([trace, operators.take(operators.thread == IDS.process)])
    main = main.take(np.lexsort((-main.end, main.start)))
    outer_of(main.start, main.end, main.thread)
    assert rows.start.min() >= run.session[0]
    assert rows.end.max() <= run.session[1]
    assert set(dequeue.thread.tolist()) <= {IDS.process + 3_538}


@given(programs, chips, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_what_enters_the_queue_leaves_it_later(program: Program, chip: Chip, seed: int) -> None:
    script, run, _, host = recorded(program, chip, seed=seed)
    enqueue, dequeue = section(host.activities, QUEUE, 1), section(host.activities, QUEUE, 2)
    assert (enqueue.link == np.arange(len(enqueue))).all()
    assert (dequeue.link == enqueue.link).all()
    assert (dequeue.name == enqueue.name).all()
    assert (enqueue.end <= dequeue.start).all()
    calls = host.calls.take(host.calls.thread == IDS.process + 3_538)
    owner = np.searchsorted(dequeue.start, calls.start, side="right") - 1
    assert (owner >= 0).all()
    assert (calls.end <= dequeue.end[owner]).all()
    bounds = set(zip(dequeue.start.tolist(), dequeue.end.tolist(), strict=True))
    begins, ends = {start for start, _ in bounds}, {end for _, end in bounds}
    for part in script.runs:
        if part.passage is not None:
            for step in range(run.steps):
                assert run.host.taken[step, part.first] in begins
                assert run.host.done[step, part.last] in ends


@given(programs, chips, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_links_lead_to_every_launch_once(program: Program, chip: Chip, seed: int) -> None:
    *_, host = recorded(program, chip, seed=seed)
    launching = [
        place for place, item in enumerate(program.items) if isinstance(item, Launch | Collective)
    ]
    launched = host.connections.launch[:, launching].reshape(-1)
    assert Counter(host.links.connection.tolist()) == Counter(launched.tolist())
    assert (np.diff(host.links.activity) >= 0).all()
    rows = host.activities
    assert (rows.kind[host.links.activity] == OP).all()
    for activity, connection in zip(host.links.activity, host.links.connection, strict=True):
        call = connection - IDS.first_connection
        assert rows.start[activity] <= host.calls.start[call]
    numbers = rows.link[rows.link != NONE]
    counts = np.bincount(numbers) if len(numbers) else np.empty(0)
    assert (counts == 2).all()
    pairs = section(rows, OP)
    pairs = pairs.take(pairs.link != NONE)
    for number in np.unique(pairs.link).tolist():
        first, second = pairs.take(pairs.link == number).start.tolist()
        assert first <= second


@given(programs, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_steps_are_their_annotations(program: Program, seed: int) -> None:
    _, run, texts, host = recorded(program, seed=seed)
    names = texts_of(texts, host.activities.name)
    found = [row for row, name in enumerate(names) if name.startswith("ProfilerStep#")]
    assert [names[row] for row in found] == ["ProfilerStep#50", "ProfilerStep#51"]
    assert host.activities.start[found].tolist() == host.steps.start.tolist()
    assert host.activities.end[found].tolist() == host.steps.end.tolist()
    operators = section(host.activities, OP)
    assert operators.start.min() == run.step_starts[0]
    assert operators.end.max() == run.step_ends[-1]


def test_a_backward_node_stands_around_its_operators() -> None:
    mul = next(item for item in random_program(2, 40).items if isinstance(item, Launch)).variants
    operators = (
        Operator("aten::_log_softmax", "aclnnLogSoftmax", "main", 90_000, sequence=4),
        Operator(
            "aten::mul", "aclnnMul", "backward", 9_000, forward=0, sequence=4, shapes="4", module=()
        ),
        Operator("aten::item", "", "main", 20_000),
    )
    base = random_program(0, 0)
    program = Program(operators, (Launch(0, mul), Launch(1, mul), base.items[0].__class__(2)))
    _, _, texts, host = recorded(program, steps=1)
    rows = section(host.activities, OP)
    names = texts_of(texts, rows.name)
    assert names == [
        "ProfilerStep#50",
        "aten::_log_softmax",
        "aclnnLogSoftmax",
        "autograd::engine::evaluate_function: LogSoftmaxBackward0",
        "LogSoftmaxBackward0",
        "aten::mul",
        "aclnnMul",
        "aten::item",
        "aten::_local_scalar_dense",
    ]
    assert outer_of(rows.start, rows.end, rows.thread) == [NONE, 0, 1, NONE, 3, 4, 5, 0, 7]
    forward, node = names.index("aten::_log_softmax"), names.index("LogSoftmaxBackward0")
    assert rows.link[[forward, node]].tolist() == [2, 2]
    assert rows.sequence[forward] == rows.sequence[node] >= 1_350
    assert rows.forward_thread[[forward, node]].tolist() == [0, 1]
    assert texts.all[rows.shapes[node]] == "4"


@given(programs)
@settings(deadline=None, max_examples=40)
def test_stacks_are_numbered_without_gaps(program: Program) -> None:
    _, _, texts, host = recorded(program)
    frames = host.frames
    depths = defaultdict(list)
    for stack, depth in zip(frames.stack.tolist(), frames.depth.tolist(), strict=True):
        depths[stack].append(depth)
    assert list(depths) == list(range(len(depths)))
    assert all(found == list(range(len(found))) for found in depths.values())
    operators = section(host.activities, OP)
    used = operators.stack[operators.stack != NONE]
    assert sorted(used.tolist()) == list(depths)  # a stack of its own for each call
    assert (operators.stack[operators.thread != IDS.process] == NONE).all()
    outermost = frames.take(np.flatnonzero(np.diff(frames.stack, append=-1) != 0))
    assert set(texts_of(texts, outermost.frame)) == {"<string>(1): <module>"}


@pytest.mark.exhaustive
@given(programs, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_switches_take_away_only_their_own(program: Program, seed: int) -> None:
    *_, host = recorded(program, seed=seed)
    marked = any(isinstance(item, Annotate) and item.on_device for item in program.items)

    def without(**changes: object) -> HostRecords:
        values = {"level": 2, "stack": True, "mstx": True, "gc": True, "host_sys": ("osrt",)}
        return recorded(program, switches=Switches(**{**values, **changes}), seed=seed)[-1]  # type: ignore[arg-type]

    plain = without(stack=False)
    assert not len(plain.frames)
    assert (plain.activities.stack == NONE).all()
    assert len(plain.activities) == (host.activities.kind != TRACE).sum()
    assert (plain.activities.start == host.activities.start[host.activities.kind != TRACE]).all()
    shapeless = without(record_shapes=False).activities
    assert (shapeless.shapes == NONE).all()
    assert (shapeless.data_types == NONE).all()
    assert (shapeless.start == host.activities.start).all()
    unmarked = without(mstx=False)
    assert not len(unmarked.marks)
    assert (len(unmarked.activities) < len(host.activities)) == marked
    numbers = unmarked.activities.link[unmarked.activities.link != NONE]
    assert (np.unique(numbers) == np.arange(len(numbers) // 2)).all()
    silent = without(cpu=False)
    assert not len(silent.activities)
    assert not len(silent.links)
    assert not len(silent.frames)
    assert (silent.connections.launch == host.connections.launch).all()
    assert not len(without(gc=False).collections)
    assert not len(without(host_sys=()).system_calls)


@given(programs, st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_system_calls_lie_in_waits(program: Program, seed: int) -> None:
    _, run, texts, host = recorded(program, seed=seed)
    calls = host.system_calls
    assert (np.diff(calls.start) >= 0).all()
    outer_of(calls.start, calls.end, calls.thread)
    queued = run.host.taken >= 0
    busy = list(zip(run.host.taken[queued], run.host.done[queued], strict=True))
    consumer = calls.take(calls.thread == IDS.process + 3_538)
    for start, end in zip(consumer.start, consumer.end, strict=True):
        assert not any(taken < end and start < done for taken, done in busy)
    assert set(texts_of(texts, calls.name)) <= {"ioctl", "read", "pthread_mutex_lock"}
    assert (host.collections.end > host.collections.start).all()


def capture_of(run: RankTimeline, texts: Texts, switches: Switches, host: HostRecords) -> Capture:
    """The host's tables with a device task for every connection and every linked mark."""
    placed, linked = host.connections.launch != NONE, host.marks.device_link != NONE
    moments = np.concatenate([run.host.seen[placed], host.marks.start[linked]])
    marks = FIRST_MARK_CONNECTION + host.marks.device_link[linked]
    order = np.argsort(moments, kind="stable")
    none = np.full(len(order), NONE, np.int64)
    tasks = Tasks(
        start=moments[order],
        end=moments[order],
        device=none * 0,
        stream=none * 0 + 2,
        number=np.arange(len(order)),
        context=none,
        model=none,
        connection=np.concatenate([host.connections.launch[placed], marks])[order],
        identity=np.arange(len(order)),
        kind=none * 0 + texts.number("EVENT_RECORD"),
    )
    return Capture(
        origin=Origin(
            0, 1, (0,), "Ascend910B", IDS.process, "node-1", 3_538_958_389_648_580_163, *run.session
        ),
        switches=switches,
        texts=texts,
        tasks=tasks,
        calls=host.calls,
        activities=host.activities,
        links=host.links,
        frames=host.frames,
        steps=host.steps,
        collections=host.collections,
        system_calls=host.system_calls,
        marks=host.marks,
    )


@pytest.mark.parametrize("seed", some(range(4), every=4))
def test_the_referee_finds_nothing(tmp_path: Path, seed: int) -> None:
    program = random_program(seed, 60)
    revision = ["1.0.0-2024-10", "1.0.0-2025-01", "1.2.0-2025-12", "1.2.0-2026-07"][seed]
    for level in (0, 1, 2):
        switches = Switches(level=level, stack=seed > 0, mstx=True, gc=True, host_sys=("osrt",))  # type: ignore[arg-type]
        script = HostScript(program, FFTS)
        run = timeline(script, seed, steps=3)
        texts = Texts()
        host = record_host(script, scene(run, switches, (), texts), IDS)
        schema = catalog().at(revision, "pytorch")
        path = tmp_path / f"{level}" / "ascend_pytorch_profiler_0.db"
        path.parent.mkdir()
        write_database(path, schema, encode(capture_of(run, texts, switches, host), schema))
        assert [str(finding) for finding in check([path]).findings] == []
