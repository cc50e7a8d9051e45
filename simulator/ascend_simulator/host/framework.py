"""PYTORCH_API, CONNECTION_IDS and PYTORCH_CALLCHAINS: what the framework's threads did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property

import numpy as np

from ascend_ref.capture import Activities, Frames, Integers, Links, Texts
from ascend_ref.capture.kinds import ENTERS, LEAVES
from ascend_ref.capture.model import NONE

from ..world.timeline import Scene
from .calls import THREAD_IDS, Called, CallScript, Thread, levels, renumbered
from .clock import Anchor, Clock, Moment, Moments
from .operators import Row, operator_rows
from .script import HostScript
from .trace import call_stack, outer_frames, stack_numbers, trace_rows

FIRST_SEQUENCE = 1_350
"""Sequence number with which a real profile began (db-schema.md 4.5)."""
SEPARATOR = ";\r\n"
"""How the framework joins the data types and shapes of operands."""
STEP_NAME = "ProfilerStep#{}"


class _Table:
    """Rows of every step as columns; numbers of texts are those of ``texts``."""

    def __init__(
        self, rows: Sequence[Row], items: int, stacks: dict[tuple[str, ...], int], texts: Texts
    ) -> None:
        self.texts = texts
        self.start = Moments([row.start for row in rows], items)
        self.end = Moments([row.end for row in rows], items)
        self.thread = np.array([row.thread for row in rows], np.int64)
        self.name = texts.numbers(row.name for row in rows)
        self.sequence = np.array([row.sequence for row in rows], np.int64)
        self.forward_thread = np.array([row.forward_thread for row in rows], np.int64)
        self.data_types = _operands([row.data_types for row in rows], texts)
        self.shapes = _operands([row.shapes for row in rows], texts)
        self.stack = np.array(
            [NONE if row.stack is None else stacks[row.stack] for row in rows], np.int64
        )
        self.link = np.array([row.link for row in rows], np.int64)
        self.launches = np.array(
            [(place, launch) for place, row in enumerate(rows) for launch in row.launches], np.int64
        ).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.link)


def _operands(texts: Sequence[str], numbered: Texts) -> Integers:
    joined = [text.replace(SEPARATOR, ";").replace(";", SEPARATOR) for text in texts]
    return np.array([numbered.number(text) if text else NONE for text in joined], np.int64)


class FrameworkScript:
    """The rows of one step of a script, for every combination of switches."""

    def __init__(self, script: HostScript, calls: CallScript) -> None:
        self.script = script
        self.rows = operator_rows(script, calls)
        step = Row(Moment(Anchor.STEP_START, 0), Moment(Anchor.STEP_END, 0), Thread.MAIN, "step")
        step.stack = ()
        self.operators = [step, *self.rows.operators]
        self.stacks = stack_numbers(self.operators)
        self.pairs = self.rows.pairs
        self.sequences = 1 + max(row.sequence for row in self.operators)

    @cached_property
    def trace(self) -> _Table:
        """The Python trace."""
        items = len(self.script.program.items)
        return _Table(trace_rows(self.script), items, self.stacks, Texts())

    @cached_property
    def marked(self) -> tuple[_Table, _Table, _Table]:
        """Enqueue, Dequeue and operators."""
        return self._tables(self.rows.enqueue, self.rows.dequeue, self.operators)

    @cached_property
    def unmarked(self) -> tuple[_Table, _Table, _Table]:
        """The same without what mstx adds."""
        enqueue, dequeue, operators = (
            [row for row in part if not row.mark]
            for part in (self.rows.enqueue, self.rows.dequeue, self.operators)
        )
        return self._tables(enqueue, dequeue, operators)

    def _tables(
        self, enqueue: list[Row], dequeue: list[Row], operators: list[Row]
    ) -> tuple[_Table, _Table, _Table]:
        items, texts = len(self.script.program.items), Texts()
        tables = tuple(
            _Table(part, items, self.stacks, texts) for part in (enqueue, dequeue, operators)
        )
        for table in tables[:2]:
            table.link = np.arange(len(table), dtype=np.int64)
        tables[2].name[0] = NONE  # it differs from step to step
        return tables[0], tables[1], tables[2]


def framework(
    script: FrameworkScript, scene: Scene, clock: Clock, called: Called, process: int
) -> tuple[Activities, Links, Frames]:
    """Python trace, Enqueue, Dequeue and operators, each in order of start, enclosing ones first.

    Queue entries are linked by the numbers from 0, forward and backward operators by those after.
    """
    if not scene.scenario.capture.cpu:
        return Activities.empty(), Links.empty(), Frames.empty()
    writer = _Writer(script, scene, clock, process)
    return writer.activities(), writer.links(called), writer.frames()


class _Writer:
    def __init__(self, script: FrameworkScript, scene: Scene, clock: Clock, process: int) -> None:
        self.script = script
        self.clock = clock
        self.names, self.timeline, self.texts = scene.names, scene.timeline, scene.texts
        self.switches = switches = scene.scenario.capture
        self.threads: Integers = np.array(THREAD_IDS, np.int64) + process
        self.enqueue, self.dequeue, self.operators = (
            script.marked if switches.mstx else script.unmarked
        )
        self.before, self.after = outer_frames(self.timeline) if switches.stack else ([], [])
        self.steps = self.timeline.steps
        trace = len(script.trace) * self.steps if switches.stack else 0
        self.places = np.cumsum(
            [
                0,
                len(self.before),
                trace,
                len(self.after),
                len(self.enqueue) * self.steps,
                len(self.dequeue) * self.steps,
                len(self.operators) * self.steps,
            ]
        ).tolist()
        self.columns = {
            column.name: np.full(self.places[-1], NONE, np.int64) for column in fields(Activities)
        }

    def activities(self) -> Activities:
        """Every row."""
        self.columns["queue"][:] = 0
        for place, frames in ((0, self.before), (2, self.after)):
            self._outer(place, frames)
        if self.switches.stack:
            self._write(1, self.script.trace, "trace", 0)
        self._write(3, self.enqueue, "queue", ENTERS)
        self._write(4, self.dequeue, "queue", LEAVES)
        self._write(5, self.operators, "op", 0)
        self._queue_links()
        self._operator_columns()
        return Activities(**self.columns)

    def _outer(self, place: int, frames: list[tuple[str, int, int]]) -> None:
        part = slice(self.places[place], self.places[place + 1])
        self.columns["start"][part] = [start for _, start, _ in frames]
        self.columns["end"][part] = [end for _, _, end in frames]
        self.columns["thread"][part] = self.threads[Thread.MAIN]
        self.columns["kind"][part] = levels()["trace"]
        self.columns["name"][part] = self.texts.numbers(name for name, _, _ in frames)

    def _part(self, place: int, column: str) -> Integers:
        part = self.columns[column][self.places[place] : self.places[place + 1]]
        return part.reshape(self.steps, -1)

    def _write(self, place: int, table: _Table, kind: str, queue: int) -> None:
        if not len(table):
            return
        self.clock.read(table.start, self._part(place, "start"))
        self.clock.read(table.end, self._part(place, "end"))
        self._part(place, "thread")[:] = self.threads[table.thread]
        self._part(place, "kind")[:] = levels()[kind]
        self._part(place, "queue")[:] = queue
        self._part(place, "name")[:] = renumbered(
            table.name, table.texts, self.texts, self.names.frame
        )

    def _queue_links(self) -> None:
        entries = len(self.enqueue)
        numbers = np.arange(self.steps, dtype=np.int64)[:, None] * entries
        for place, table in ((3, self.enqueue), (4, self.dequeue)):
            if entries:
                self._part(place, "link")[:] = numbers + table.link

    def _operator_columns(self) -> None:
        table, script = self.operators, self.script
        numbers = self.timeline.step_numbers[:, None]
        names = [STEP_NAME.format(number) for number in self.timeline.step_numbers.tolist()]
        self._part(5, "name")[:, 0] = self.texts.numbers(names)
        sequence = self._part(5, "sequence")
        sequence[:] = table.sequence
        within = np.flatnonzero(table.sequence >= 0)
        sequence[:, within] += FIRST_SEQUENCE + numbers * script.sequences
        self._part(5, "forward_thread")[:] = table.forward_thread
        if self.switches.record_shapes:
            for column, values in (("data_types", table.data_types), ("shapes", table.shapes)):
                self._part(5, column)[:] = renumbered(values, table.texts, self.texts)
        steps = np.arange(self.steps, dtype=np.int64)[:, None]
        if self.switches.stack:
            calls = np.flatnonzero(table.stack != NONE)
            numbers = np.arange(len(calls), dtype=np.int64)
            self._part(5, "stack")[:, calls] = steps * len(calls) + numbers
        paired = np.flatnonzero(table.link >= 0)
        first = self.steps * len(self.enqueue)
        self._part(5, "link")[:, paired] = first + steps * script.pairs + table.link[paired]

    def links(self, called: Called) -> Links:
        """Every operator with the launches that it led to."""
        place, launch = self.operators.launches.T
        connections = called.connections(launch)
        steps = np.arange(self.steps, dtype=np.int64)[:, None]
        rows = self.places[5] + steps * len(self.operators) + place
        recorded = connections.reshape(-1) != NONE
        return Links(rows.reshape(-1)[recorded], connections.reshape(-1)[recorded])

    def frames(self) -> Frames:
        """The call stacks: each operator of the main thread has its own, as in real profiles."""
        if not self.switches.stack:
            return Frames.empty()
        paths = [
            self.texts.numbers(self.names.frame(frame) for frame in call_stack(path))
            for path in self.script.stacks
        ]
        stacks = [paths[path] for path in self.operators.stack.tolist() if path != NONE]
        lengths = np.tile([len(stack) for stack in stacks], self.steps)
        return Frames(
            stack=np.repeat(np.arange(len(lengths), dtype=np.int64), lengths),
            depth=np.tile(np.concatenate([np.arange(len(stack)) for stack in stacks]), self.steps),
            frame=np.tile(np.concatenate(stacks), self.steps),
        )
