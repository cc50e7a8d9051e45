"""CANN_API: the calls of the framework, consumer and release threads in every run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Self
from zlib import crc32

import numpy as np

from ascend_ref.capture import HostCalls, Integers, Switches, Texts
from ascend_ref.capture.model import NONE
from ascend_ref.db.encode.collection import uncollected_levels
from ascend_spec import catalog, per_spec

from ..program.model import Collective, Item, Launch, Program, Synchronize
from ..world.timeline import Connections, RankTimeline, Scene
from .clock import (
    CREATION,
    CREATION_END,
    FETCH,
    FETCH_END,
    PARTS,
    SIZING,
    SIZING_END,
    Anchor,
    Clock,
    Moment,
    Moments,
    beginning,
    ending,
)
from .script import HostScript, Run
from .templates import Passage

RELEASE_NS = 3_000
"""After the consumer is done with a compiled graph, another thread releases its operands."""
ATTRIBUTE_NS = 1_800
DESCRIPTION_NS = 600
"""Lengths of a release, from half to twice as much."""
BETWEEN_DESCRIPTIONS_NS = 1_000
SIZED = frozenset(
    ("aclnnMaxPool2dWithMask", "aclnnMaxPool2dWithMaskBackward", "aclnnDropoutGenMaskV2")
)
"""Operators that are sized in every step (fixtures-2025-01)."""
MOST_OPERANDS = 20
STOP_NS = 302_490
"""Waiting for the device when the profiler stops."""


@per_spec
def levels() -> dict[str, int]:
    """The levels of calls by name."""
    return {member.name: member.id for member in catalog().enums["ENUM_API_TYPE"].members}


class Thread(IntEnum):
    """A thread of the process; :data:`THREAD_IDS` holds their ids."""

    MAIN = 0
    BACKWARD = 1
    CONSUMER = 2
    RELEASE = 3


THREAD_IDS = (0, 9_507, 3_538, 3_602)
"""Thread ids, as distances from the process id (db-schema.md 7.6).

The last one is 3,539 in real files. Ranks have neighbouring ids, and a process may drive several of
them: so each thread is further from the others than a host has devices.
"""


class _Row(NamedTuple):
    start: Moment
    end: Moment
    level: str
    name: str
    thread: Thread


class CallRows:
    """Calls of one step on threads that never run at once; enclosing calls first."""

    def __init__(self, rows: list[_Row], names: Texts, items: int) -> None:
        self.start = Moments([row.start for row in rows], items)
        self.end = Moments([row.end for row in rows], items)
        self.level = np.array([levels()[row.level] for row in rows], np.int64)
        self.thread = np.array([row.thread for row in rows], np.int64)
        self.name = names.numbers(row.name for row in rows)

    def take(self, rows: Integers) -> Self:
        """The rows at these places."""
        chosen = type(self)([], Texts(), 0)
        chosen.start, chosen.end = self.start.take(rows), self.end.take(rows)
        chosen.level, chosen.thread = self.level[rows], self.thread[rows]
        chosen.name = self.name[rows]
        return chosen


class CallScript:
    """The calls of one step of a script.

    first: place of each run's first consumer row. carriers: of items, as consumer rows.
    """

    def __init__(self, script: HostScript) -> None:
        items = len(script.program.items)
        self.names = Texts()
        carriers = np.full((5, items), NONE, np.int64)
        self.first: list[int] = []
        consumer: list[_Row] = []
        for run in script.runs:
            self.first.append(len(consumer))
            if run.passage is not None:
                for place, carrier in enumerate(run.passage.carriers):
                    if carrier >= 0:
                        carriers[0, run.first + place] = len(consumer) + carrier
                if run.passage.events is not None:
                    carriers[1:, run.first] = np.array(run.passage.events) + len(consumer)
                consumer.extend(_consumer_rows(run.first, run.passage))
        framework = [row for run in script.runs for row in _framework_rows(script, run)]
        framework += _graph_rows(script)
        release = [row for run in script.runs for row in _release_rows(script, run)]
        self.carriers = Connections(*carriers)
        self.consumer = CallRows(consumer, self.names, items)
        self.framework = CallRows(framework, self.names, items)
        self.release = CallRows(release, self.names, items)


def passage_moments(
    first: int, ends: tuple[int, ...], spans: Iterable[tuple[int, int]]
) -> Iterator[tuple[Moment, Moment]]:
    """Begins and ends within a passage as moments of the items that they fall into.

    first: item at which the passage begins. ends: when the work for each of its items ends.
    """
    starts = (0, *ends[:-1])

    def moment(offset: int, place: int) -> Moment:
        return Moment(Anchor.TAKEN, first + place, offset - starts[place])

    for start, end in spans:
        place = next(place for place, bound in enumerate(ends) if start < bound)
        last = place if start == end else next(n for n, bound in enumerate(ends) if end <= bound)
        yield moment(start, place), moment(end, last)


def _consumer_rows(first: int, work: Passage) -> Iterator[_Row]:
    spans = passage_moments(first, work.ends, ((call.start, call.end) for call in work.calls))
    for call, (start, end) in zip(work.calls, spans, strict=True):
        yield _Row(start, end, call.level, call.name, Thread.CONSUMER)


def _graph_rows(script: HostScript) -> Iterator[_Row]:
    """The execution of the graph that a step is an iteration of, around all that it launches."""
    work = [(run.first, run.passage) for run in script.runs if run.passage and run.passage.calls]
    if work:
        (first, passage), (last, final) = work[0], work[-1]
        opens = min(passage.calls, key=lambda call: call.start)
        closes = max(final.calls, key=lambda call: call.end)
        ((start, _),) = passage_moments(first, passage.ends, [(opens.start, opens.end)])
        ((_, end),) = passage_moments(last, final.ends, [(closes.start, closes.end)])
        yield _Row(start, end, "model", "ModelExecute", Thread.CONSUMER)


def framework_thread(program: Program, part: Run | Item) -> Thread:
    """The framework thread that the operator of a run or an item runs on."""
    backward = program.operators[part.operator].thread == "backward"
    return Thread.BACKWARD if backward else Thread.MAIN


def _framework_rows(script: HostScript, run: Run) -> Iterator[_Row]:
    """What the framework thread calls itself."""
    operator = script.program.operators[run.operator]
    thread = framework_thread(script.program, run)
    item = script.program.items[run.first]
    if isinstance(item, Synchronize):
        yield from _wait_rows(script, run, thread)
    elif isinstance(item, Collective) and run.passage is not None:
        created = beginning(run, CREATION), beginning(run, CREATION_END)
        yield _Row(*created, "acl", "aclrtCreateEventExWithFlag", thread)
    elif _graph(script, run):
        yield from _description_rows(script, run, thread)
    elif run.passage is not None and _sizes(script, run):
        name = f"{operator.api}GetWorkspaceSize"
        yield _Row(beginning(run, SIZING), beginning(run, SIZING_END), "acl", name, thread)


def _wait_rows(script: HostScript, run: Run, thread: Thread) -> Iterator[_Row]:
    start, end = Moment(Anchor.HANDED, run.first), ending(script, run, 0)
    yield _Row(start, end, "acl", "aclrtSynchronizeStreamWithTimeout", thread)
    yield _Row(start, end, "runtime", "StreamSynchronize", thread)
    yield _Row(end, end, "runtime", "StreamSyncTaskFinish", thread)
    if fetches(script, run):
        span = ending(script, run, FETCH), ending(script, run, FETCH_END)
        yield _Row(*span, "acl", "aclrtMemcpy", thread)
        yield _Row(*span, "runtime", "MemCopySync", thread)


def fetches(script: HostScript, run: Run) -> bool:
    """Whether a wait ends with a copy of one value to the host."""
    return script.program.operators[run.operator].name.endswith(("item", "_local_scalar_dense"))


def _graph(script: HostScript, run: Run) -> bool:
    """Whether a run compiles and executes a graph."""
    launching = any(
        isinstance(item, Launch) for item in script.program.items[run.first : run.last + 1]
    )
    return launching and not script.program.operators[run.operator].two_phase


def _sizes(script: HostScript, run: Run) -> bool:
    """Whether an operator is sized anew: one that copies without a kernel, or one of ``SIZED``.

    What the others need is remembered from the steps before.
    """
    operator = script.program.operators[run.operator]
    if not operator.api.startswith("aclnn"):
        return False
    items = script.program.items[run.first : run.last + 1]
    copies = not any(isinstance(item, Launch) for item in items)
    return copies or bool(operator.workspace) or operator.api in SIZED


def _operands(script: HostScript, run: Run) -> int:
    """Operands of the compiled operator, not of the changes of format around it."""
    api = script.program.operators[run.operator].api
    kernels = [
        item.variants[0]
        for item in script.program.items[run.first : run.last + 1]
        if isinstance(item, Launch)
    ]
    own = next((kernel for kernel in kernels if kernel.op_type == api), kernels[-1])
    shapes = (own.input_shapes, own.output_shapes)
    return min(sum(text.count(";") + 1 for text in shapes), MOST_OPERANDS)


def _description_rows(script: HostScript, run: Run, thread: Thread) -> Iterator[_Row]:
    """An operand takes a description and a buffer, each half of its slot at most."""
    names = ("aclCreateTensorDesc", "aclCreateDataBuffer") * _operands(script, run)
    names += ("aclopCreateAttr",)
    before = run.share - run.after
    first = before * SIZING // PARTS
    room = before * SIZING_END // PARTS - first
    for place, name in enumerate(names):
        start = first + room * place // len(names)
        end = start + min(room // (2 * len(names)), DESCRIPTION_NS)
        begin, finish = (Moment(Anchor.BEGIN, run.first, offset) for offset in (start, end))
        yield _Row(begin, finish, "acl", name, thread)


def _release_rows(script: HostScript, run: Run) -> Iterator[_Row]:
    if run.passage is None or not _graph(script, run):
        return
    names = ["aclopDestroyAttr", *["aclDestroyTensorDesc"] * _operands(script, run)]
    start = RELEASE_NS
    for name in names:
        length = ATTRIBUTE_NS if name == "aclopDestroyAttr" else DESCRIPTION_NS
        length = length * (512 + crc32(f"{start} {run.first}".encode()) % 1536) // 1024
        begin, finish = (Moment(Anchor.DONE, run.last, at) for at in (start, start + length))
        yield _Row(begin, finish, "acl", name, Thread.RELEASE)
        start += length + BETWEEN_DESCRIPTIONS_NS


@dataclass(frozen=True, slots=True)
class Called:
    """The host's calls, and where to find those of the consumer's rows.

    profiling: the connection that the tasks of the profiler itself carry: just above the last call.
    """

    calls: HostCalls
    profiling: int
    _numbers: Integers
    _place: Integers

    def connections(self, rows: Integers) -> Integers:
        """Connections of consumer rows (numbered as in the script), shape (steps, rows); NONE for
        -1 and for rows that are not recorded.
        """
        places = np.where(rows >= 0, self._place[rows], NONE)
        return self._numbers[:, places]


def host_calls(
    script: CallScript, scene: Scene, clock: Clock, process: int, first_connection: int
) -> Called:
    """Every call of every run, numbered from ``first_connection`` in order of start.

    Those of levels that the switches do not collect are not recorded, nor any without the activity
    NPU.
    """
    timeline, switches, texts = scene.timeline, scene.scenario.capture, scene.texts
    recorded = ~np.isin(script.consumer.level, uncollected_levels(switches))
    place = np.append(np.where(recorded, np.cumsum(recorded) - 1, NONE), NONE)
    if not switches.npu:
        numbers = np.full((timeline.steps, 1), NONE, np.int64)
        return Called(HostCalls.empty(), NONE, numbers, np.full_like(place, NONE))
    graph = scene.scenario.model.graph
    every = (script.framework, script.consumer, script.release)
    blocks = [_recorded_of(rows, switches, graph) for rows in every]
    counts = [len(block.level) for block in blocks]
    total = timeline.steps * sum(counts) + 1
    start, end = np.empty(total, np.int64), np.empty(total, np.int64)
    source = np.empty(total, np.int64)
    reached = kinds = 0
    for block, count in zip(blocks, counts, strict=True):
        part = slice(reached, reached + timeline.steps * count)
        shape = (timeline.steps, count)
        clock.read(block.start, start[part].reshape(shape))
        clock.read(block.end, end[part].reshape(shape))
        source[part].reshape(shape)[:] = np.arange(kinds, kinds + count)
        reached, kinds = part.stop, kinds + count
    start[-1], end[-1] = _stop(timeline)
    source[-1] = kinds
    order = np.argsort(start, kind="stable")
    numbers = np.full((timeline.steps, counts[1] + 1), NONE, np.int64)
    ranks = np.empty(total, np.int64)
    ranks[order] = np.arange(first_connection, first_connection + total)
    consumer = slice(timeline.steps * counts[0], timeline.steps * (counts[0] + counts[1]))
    numbers[:, :-1] = ranks[consumer].reshape(timeline.steps, counts[1])
    kind = source.take(order)
    stop_name = texts.number("aclrtSynchronizeDevice")
    name = renumbered(np.concatenate([block.name for block in blocks]), script.names, texts)
    level = np.concatenate([*(block.level for block in blocks), [levels()["acl"]]])
    thread = np.concatenate([*(block.thread for block in blocks), [Thread.MAIN]])
    calls = HostCalls(
        start=start.take(order),
        end=end.take(order),
        level=level.take(kind),
        thread=(np.array(THREAD_IDS) + process)[thread].take(kind),
        connection=np.arange(first_connection, first_connection + total, dtype=np.int64),
        name=np.append(name, stop_name).take(kind),
    )
    return Called(calls, first_connection + total, numbers, place)


def _recorded_of(rows: CallRows, switches: Switches, graph: bool) -> CallRows:
    """The calls of these that are recorded; those of a graph are where steps run one."""
    left_out = uncollected_levels(switches)
    if not graph:
        left_out.append(levels()["model"])
    return rows.take(np.flatnonzero(~np.isin(rows.level, left_out))) if left_out else rows


def _stop(timeline: RankTimeline) -> tuple[int, int]:
    """The profiler's own wait for the device, after the last step and inside the session."""
    last = int(timeline.step_ends[-1])
    room = max(timeline.session[1] - last, 0) // 4
    return last + room, last + room + min(room, STOP_NS)


def renumbered(
    column: Integers, local: Texts, texts: Texts, show: Callable[[str], str] = str
) -> Integers:
    """Numbers of a script's own texts as numbers of a capture's; NONE stays NONE.

    ``show``: what the capture has for a text of the script.
    """
    used = np.unique(column[column >= 0])
    every = local.all
    table = np.full(len(every) + 1, NONE, np.int64)
    table[used] = texts.numbers(show(every[number]) for number in used.tolist())
    return table[column]
