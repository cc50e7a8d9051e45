"""What a timeline of a rank shows: slices of each layer, arrows of each kind, parts of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Activities, Capture, Integers
from ascend_ref.capture.kinds import MARK, NODE, OP
from ascend_ref.capture.model import FIRST_MARK_CONNECTION, NONE
from ascend_ref.db.encode.collection import collected
from ascend_ref.derive.intervals import union
from ascend_ref.derive.overlap import Overlap, hull, overlap
from ascend_ref.derive.transit import operators_of, task_rows
from ascend_spec import text_catalog, timeline_catalog

from ..records.record import LAYERS

EVENT_CALLS = ("aclrtRecordEvent", "aclrtStreamWaitEvent")
COPY = "MEMCPY_ASYNC"
PROFILER_TASKS = ("PROFILING_ENABLE", "PROFILING_DISABLE")
ENQUEUES, DEQUEUES = 1, 2
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TimelineTotals:
    """processes: layers that show anything, sorted. slices: complete events, by layer. flows: ends
    of arrows, by category.
    """

    processes: tuple[str, ...]
    slices: Mapping[str, int]
    flows: Mapping[str, int]


def timeline_totals(capture: Capture) -> TimelineTotals:
    """Count what the writers of today show of a rank (text-outputs.md 6 and 6.1)."""
    shown = collected(capture)
    counts = Shown(shown)
    slices = {layer: count for layer, count in counts.slices().items() if count}
    flows = {category: count for category, count in counts.flows().items() if count}
    return TimelineTotals(tuple(sorted({*slices, *_sampled(shown)})), slices, flows)


def _sampled(capture: Capture) -> Iterator[str]:
    family, writer = capture.origin.family or "*", _adapted(capture)
    recorded = {LAYERS[name] for name in capture.records.keys() & LAYERS.keys()}
    for layer in timeline_catalog().layers.values():
        here = writer in layer.writers and (not layer.families or family in layer.families)
        sampled = capture.samples.keys() & layer.tables
        # The exporter adds the clock at the session's bounds.
        of_clock = capture.switches.npu and "AICORE_FREQ" in layer.tables
        of_records = layer.name in recorded and layer.form is None
        if here and (sampled or of_clock or of_records):
            yield layer.name


def _adapted(capture: Capture) -> str:
    """The writer whose timeline the framework's exporter adds to."""
    return text_catalog().writers["adapter"].copied(capture.origin.family or "*")


class Launched(NamedTuple):
    """Work of calls on the host.

    call: row of it. again: one more copy of the call, or an operator with the id of its copies.
    """

    call: Integers
    start: Integers
    again: Mask


class Spans(NamedTuple):
    """Times on threads of the host."""

    thread: Integers
    start: Integers
    end: Integers

    @classmethod
    def of(cls, activities: Activities, rows: Mask) -> Spans:
        """Those of some activities."""
        return cls(activities.thread[rows], activities.start[rows], activities.end[rows])


class Shown:
    """What of a capture is shown."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.tasks = capture.tasks
        self.kinds = dict(zip(capture.texts.all, range(len(capture.texts)), strict=True))
        self.rows = task_rows(self.tasks)
        self.enclosing = self._enclosing()
        self.operators = operators_of(capture)

    def kind(self, name: str) -> int:
        """Number of a text; NONE where nothing has it."""
        return self.kinds.get(name, NONE)

    def _enclosing(self) -> Mask:
        """Tasks whose sub-tasks stand for them."""
        # Places without gaps between streams: NumPy looks them up in a table.
        place = self.tasks.stream * (self.tasks.number.max(initial=0) + 1) + self.tasks.number
        inner = self.tasks.context != NONE
        flags: Mask = ~inner & np.isin(place, place[inner])
        return flags

    def row_of(self, identity: Integers) -> Integers:
        """Rows of tasks."""
        rows: Integers = self.rows[identity]
        return rows

    def slices(self) -> dict[str, int]:
        """Complete events of each layer."""
        capture, switches = self.capture, self.capture.switches
        device = switches.npu
        small = capture.transfers.plane != NONE
        return {
            "Python": len(capture.activities),
            "Python GC": len(capture.collections) if switches.gc and switches.cpu else 0,
            "MsTx": len(capture.marks) if switches.mstx and device else 0,
            "CANN": len(capture.calls),
            "OS Runtime API": len(capture.system_calls)
            if "osrt" in switches.host_sys and device
            else 0,
            "Ascend Hardware": int((~self.enclosing).sum()) + self._iterations(),
            "Communication": len(self.operators) + int(small.sum() if switches.level else 0),
            "Overlap Analysis": sum(len(part.start) for part in self.overlap() or ()),
            "CCU": len(capture.samples.get("CCU", {}).get("startNs", ())),
            "Biu Perf": len(capture.records.get("biu_perf", {}).get("time", ())),
        }

    def _iterations(self) -> int:
        """Iterations, their passes and what follows, and the reductions and readings in them."""
        found = self.capture.records.get("step_trace")
        if found is None:
            return 0
        trained = found["bp_end"] != NONE
        inside = [
            len(self.capture.records[name]["start"])
            for name in ("step_trace_reduce", "step_trace_get_next")
            if name in self.capture.records
        ]
        return len(trained) + 2 * int(trained.sum()) + sum(inside)

    def overlap(self) -> Overlap | None:
        """How the device spent its time; None where nothing ran."""
        start, end = self.operators.start, self.operators.end
        kernels = self.row_of(self.capture.kernels.task)
        own = ~np.isin(self.tasks.kind, [self.kind(name) for name in PROFILER_TASKS])
        window = hull(self.tasks.start[own], self.tasks.end[own], start, end)
        if window is None:
            return None
        computing = union(self.tasks.start[kernels], self.tasks.end[kernels])
        return overlap(computing, union(start, end), *window)

    def flows(self) -> dict[str, int]:
        """Ends of the arrows of each category."""
        call, start, again = self.launched()
        marked = self.tasks.connection >= FIRST_MARK_CONNECTION
        return {
            "HostToDevice": len(call),
            "MsTx": int(marked.sum()) if self.capture.switches.mstx else 0,
            "async_npu": len(np.unique(start[self._caused(call) & ~again])),
            "async_task_queue": int((self.capture.activities.queue == ENQUEUES).sum()),
            "fwdbwd": self._backward(),
        }

    def launched(self) -> Launched:
        """Everything that calls on the host launched."""
        capture, calls = self.capture, self.capture.calls
        rows, begin = self.operators.rows, self.operators.start
        if not len(calls):
            return Launched(begin[:0], begin[:0], np.zeros(0, bool))
        node = calls.level == NODE
        about_event = np.isin(calls.name, [self.kind(name) for name in EVENT_CALLS])

        def call_of(connection: Integers) -> tuple[Integers, Mask]:
            place = np.minimum(np.searchsorted(calls.connection, connection), len(calls) - 1)
            return place, calls.connection[place] == connection

        call, known = call_of(self.tasks.connection)
        computes = np.zeros(len(self.tasks), bool)
        computes[self.row_of(capture.kernels.task)] = True
        copies = self.tasks.kind == self.kind(COPY)
        linked = computes & node[call] | about_event[call] | copies
        tasks = known & linked & ~self.enclosing & (calls.start[call] <= self.tasks.start)
        called, known = call_of(capture.collectives.connection[rows])
        talks = known & node[called] & (calls.start[called] <= begin)
        again = tasks & copies
        ascending = np.flatnonzero(again)[np.argsort(self.tasks.start[again], kind="stable")]
        again[ascending[np.unique(call[ascending], return_index=True)[1]]] = False
        # The C++ engine makes ids of calls alone, so that an operator shares that of its copies.
        shared = np.isin(called[talks], call[tasks]) & (_adapted(capture) == "cpp")
        return Launched(
            np.append(call[tasks], called[talks]),
            np.append(self.tasks.start[tasks], begin[talks]),
            np.append(again[tasks], shared),
        )

    def _caused(self, call: Integers) -> Mask:
        """Which calls an operator of the framework caused: through a link, or through the queue."""
        capture, activities = self.capture, self.capture.activities
        linked = capture.links.connection[activities.kind[capture.links.activity] == OP]
        caused: Mask = np.isin(capture.calls.connection[call], linked)
        operators = Spans.of(activities, np.isin(activities.kind, (OP, MARK)))
        queued = activities.queue == ENQUEUES
        put = Spans.of(activities, queued)
        links = activities.link[queued][_lies_in(put.thread, put.start, operators)]
        taken = (activities.queue == DEQUEUES) & np.isin(activities.link, links)
        calls = capture.calls
        caused |= _lies_in(calls.thread[call], calls.start[call], Spans.of(activities, taken))
        return caused

    def _backward(self) -> int:
        """Forward operators whose backward ran on another thread."""
        activities = self.capture.activities
        numbered = (activities.kind == OP) & (activities.sequence >= 0)
        forward = activities.forward_thread == 0
        threads, others = (
            _last(activities.sequence[rows], activities.start[rows], activities.thread[rows])
            for rows in (numbered & forward, numbered & ~forward)
        )
        return sum(others.get(number, thread) != thread for number, thread in threads.items())


def _lies_in(thread: Integers, moment: Integers, spans: Spans) -> Mask:
    """Which moments lie in one of the spans of their thread, bounds included."""
    found = np.zeros(len(moment), bool)
    for one in np.unique(thread).tolist():
        own = spans.thread == one
        if not own.any():
            continue
        start = spans.start[own]
        order = np.argsort(start, kind="stable")
        latest = np.maximum.accumulate(spans.end[own][order])
        here = thread == one
        place = np.searchsorted(start[order], moment[here], "right") - 1
        found[here] = (place >= 0) & (latest[place] >= moment[here])
    return found


def _last(number: Integers, start: Integers, thread: Integers) -> dict[int, int]:
    """The thread of the last operator of each number."""
    order = np.argsort(start, kind="stable")
    return dict(zip(number[order].tolist(), thread[order].tolist(), strict=True))


RECEIVES = "receive"
"""Type of the operators that wait for another pipeline stage."""


@dataclass(frozen=True, slots=True)
class StepParts:
    """Lengths in ns, of the intervals of the overlap analysis that begin in the step.

    A step begins on the device with the work that its first launching call launched. So the time
    until the next step is free time of this one. stage: from the first begin of an interval to the
    last end, without the bubble. bubble: in operators that receive from another pipeline stage.
    preparing: from the start on the host to the first kernel or operator.
    """

    step: int
    free_ns: int
    stage_ns: int
    bubble_ns: int
    preparing_ns: int


def step_parts(shown: Shown, kernel_steps: Integers) -> tuple[StepParts, ...]:
    """The parts of every step in which anything ran (text-outputs.md 7.7).

    ``kernel_steps``: number of the step that each row of Kernels ran in.
    """
    capture, found = shown.capture, shown.overlap()
    if found is None:
        return ()
    free = found.free
    rows, begin, end = shown.operators.rows, shown.operators.start, shown.operators.end
    kernel_start = shown.tasks.start[shown.row_of(capture.kernels.task)]
    operator_step = capture.collectives.step[rows]
    receiving = capture.collectives.kind[rows] == shown.kind(RECEIVES)
    launched = shown.launched()
    called = capture.calls.start[launched.call]
    starts = np.concatenate([part.start for part in found])
    ends = np.concatenate([part.end for part in found])
    parts = []
    steps = capture.steps
    for number, start, stop in zip(
        steps.number.tolist(), steps.start.tolist(), steps.end.tolist(), strict=True
    ):
        first = np.append(kernel_start[kernel_steps == number], begin[operator_step == number])
        during = called[(called >= start) & (called <= stop)]
        if not len(first) or not len(during):
            continue
        low = int(launched.start[called == during.min()].min())
        inside = (starts >= low) & (starts < stop)
        if not inside.any():  # the step was over before its first task began
            continue
        begins = (free.start >= low) & (free.start < stop)
        received = receiving & (operator_step == number)
        bubble = int((end - begin)[received].sum())
        parts.append(
            StepParts(
                step=number,
                free_ns=int((free.end - free.start)[begins].sum()),
                stage_ns=int(ends[inside].max()) - int(starts[inside].min()) - bubble,
                bubble_ns=bubble,
                preparing_ns=int(first.min()) - start,
            )
        )
    return tuple(parts)
