"""What the PyTorch adapter makes of the calls of the framework and their work (8, 7.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import begins_with, dictionary, integers, is_one_of, where
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.adapter_steps import (
    RECEIVE,
    RECEIVING,
    DeviceStep,
    Slices,
    StepRow,
    device_steps,
    launching_steps,
    step_at,
    step_rows,
)
from ascend_ref.derive.decimals import shortest_texts, unit_floats
from ascend_ref.derive.matching import NONE
from ascend_ref.derive.operator_details import Kernels, dequeuing_calls
from ascend_ref.derive.operator_details import operator_details as times_of
from ascend_ref.derive.steps import Spans
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows
from ascend_ref.timeline.activity import CallStacks
from ascend_ref.timeline.arrows import operator_rows as launched_operators
from ascend_ref.timeline.arrows import shares_ids, task_rows
from ascend_ref.timeline.events import Events
from ascend_ref.timeline.layers.overlap import overlap_analysis
from ascend_ref.timeline.session import Session

from .columns import Columns, ShownColumns, of_formula, of_table, parts, shown_table
from .op_summary import OperatorColumns, operator_rows
from .order import ordered
from .setting import Setting

TIMELINE = "trace_view"
STEP = "ProfilerStep#"
"""So the names of steps begin, which are operators of the framework."""

AI_CORE = "AI_CORE"
"""Type of the tasks whose time operator_details shows apart."""
MICROSECOND = 1e3


def kernel_details(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """op_summary with the step of each row, where there are steps."""
    rows = operator_rows(recorded, setting)
    step = np.full(len(rows), -1)
    if "steps" in setting.scene:
        step = step_at(steps_of(_session(recorded, setting)), rows.start)
    for batch, columns in OperatorColumns(recorded, setting, rows).batches():
        found = {**columns, "Step Id": where(step[batch] >= 0, step[batch])}
        yield ShownColumns(found, columns.rows)


def operator_details(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Every operator of the framework but the steps, in order of start."""
    session = _session(recorded, setting)
    activity = session.activity
    rows = activity.operator
    rows = rows[np.argsort(activity.start[rows], kind="stable")]
    place = np.full(len(activity) + 1, -1)
    place[rows] = np.arange(len(rows))
    work = launched(session)
    launching = activity.launching(work.connection, work.thread, work.moment)
    found = times_of(
        Spans(activity.start[rows], activity.end[rows]),
        Kernels(place[launching], (work.end - work.start) / MICROSECOND, work.on_ai_core),
    )
    stacks = CallStacks(recorded)
    table = shown_table(recorded, setting, "PYTORCH_API", "callchainId")
    chains = integers(table["callchainId"])
    shown = np.flatnonzero(~begins_with(dictionary(activity.names), STEP)[rows])
    device = [getattr(found, name) for name in found.__slots__ if name.startswith("device")]
    for batch in parts(shown):
        host = [pa.array(one[batch]) for one in (found.host_self, found.host_total)]
        columns = {
            "Call Stack": stacks.texts(chains[rows[batch]]),
            **of_formula(
                setting, "operator_details", [*host, *(_sums(one[batch]) for one in device)]
            ),
        }
        yield ShownColumns(columns, {"PYTORCH_API": TableRows(table, rows[batch])})


def step_trace_time(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The steps, or all that was recorded where there are none."""
    session = _session(recorded, setting)
    steps, begins = steps_of(session), session.activity.start[session.activity.operator]
    first = int(begins.min()) / 1000 if len(begins) else None
    rows = step_rows(_slices(session), steps, first)
    if not rows:
        return
    steps_shown = {
        "device": [row.device for row in rows],
        "step": ["" if row.step is None else str(row.step) for row in rows],
        # An integer 0 where nothing was added up, and no float.
        **{name: [repr(getattr(row, name)) for row in rows] for name in StepRow._fields[2:]},
    }
    yield ordered(setting, of_table("step_time", pa.table(steps_shown)))


def _sums(values: Reals) -> pa.StringArray:
    """Sums of floats; an integer 0 where nothing was added up."""
    return pc.if_else(pa.array(values == 0), "0", shortest_texts(values))


def _session(recorded: Recorded, setting: Setting) -> Session:
    """The timeline that the adapter reads its figures from."""
    return Session(recorded, setting.timeline_writer, TIMELINE)


def _slices(session: Session) -> Slices:
    """The overlap analysis of the timeline, and what receives from another stage."""
    operators = session.communication
    receives = np.flatnonzero(begins_with(dictionary(operators.operators["opName"]), RECEIVE))
    received = (operators.end - operators.start)[receives]
    found = [
        _part(item.device, item.thread, item.start, item.length)
        for item in overlap_analysis(session)
        if isinstance(item, Events) and item.length is not None
    ]
    found.append(_part(operators.device[receives], RECEIVING, operators.start[receives], received))
    return Slices(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _part(
    device: Integers | int, kind: Integers | int, start: Integers, length: Integers
) -> Slices:
    """Slices that are alike, from ns."""
    return Slices(
        np.broadcast_to(np.asarray(device), len(start)),
        np.broadcast_to(np.asarray(kind), len(start)),
        unit_floats(start),
        unit_floats(length),
    )


@dataclass(frozen=True, slots=True)
class Launched:
    """Work on devices that calls of CANN launched, in order of the calls.

    moment, thread, connection: of the call, ns. start, end: of the work, ns. on_ai_core: whether it
    ran on AI cores alone.
    """

    moment: Integers
    thread: Integers
    connection: Integers
    start: Integers
    end: Integers
    on_ai_core: npt.NDArray[np.bool_]


def launched(session: Session) -> Launched:
    """The work that arrows HostToDevice lead to, of each arrow the first.

    Source: upstream-torch-npu CANNFileParser.combine_acl_to_npu, which keeps one end of an id.
    """
    work, operators = session.work, session.communication
    core = np.zeros(len(work), np.bool_)
    known = work.kernel != NONE
    cores = np.append(is_one_of(session.kernels["taskType"], [AI_CORE]), False)
    core[known] = cores[work.kernel[known]]
    copies = task_rows(session, copies=True)
    talks, caller = launched_operators(operators, session.calls, session.spill)
    of_tasks = (work.call, work.connection, work.start, work.end, core)
    no_core = np.zeros(len(operators.end), np.bool_)
    of_talks = (caller, operators.connection, operators.start, operators.end, no_core)
    found: Sequence[tuple[Sequence[npt.NDArray[Any]], Integers]] = (
        (of_tasks, task_rows(session, copies=False)),
        (of_tasks, copies[_first_places(work.call[copies])]),
        (of_talks, talks),
    )
    columns = [
        np.concatenate(parts)
        for parts in zip(*([one[rows] for one in own] for own, rows in found), strict=True)
    ]
    call, *others = columns
    kept = _first_places(call) if shares_ids(session) else np.arange(len(call))
    kept = kept[np.argsort(session.calls.start[call[kept]], kind="stable")]
    moment, thread = (
        of_call[call[kept]] for of_call in (session.calls.start, session.calls.thread)
    )
    return Launched(moment, thread, *(column[kept] for column in others))


def _first_places(values: Integers) -> Integers:
    """Where each value comes first."""
    return np.sort(np.unique(values, return_index=True)[1])


def steps_of(session: Session) -> list[DeviceStep]:
    """The steps as the devices saw them; none without STEP_TIME."""
    table = session.recorded.table("STEP_TIME", ("id", "startNs", "endNs"))
    if not len(table):
        return []
    number, start, end = (integers(table[name]) for name in ("id", "startNs", "endNs"))
    work = launched(session)
    cause, launch = _causes(session, work)
    steps = Spans(start, end)
    step = launching_steps(steps, cause)
    return device_steps(number.tolist(), steps, step, launch, Spans(work.start, work.end))


def _causes(session: Session, work: Launched) -> tuple[Integers, Integers]:
    """When what launched each work began, and a number that ascends with the launches.

    Work of the task queue is of the step of the operator that put it in, though the next step may
    take it out; what did not pass through the queue is of none.
    """
    activity = session.activity
    if not len(activity.dequeue):
        return work.moment, work.moment
    taking = activity.dequeue[np.argsort(activity.start[activity.dequeue], kind="stable")]
    call = dequeuing_calls(Spans(activity.start[taking], activity.end[taking]), work.moment)
    owner = activity.launching(work.connection, work.thread, work.moment)
    known = (owner != NONE) & (call != NONE)
    return np.where(known, np.append(activity.start, 0)[owner], np.iinfo(np.int64).max), call
