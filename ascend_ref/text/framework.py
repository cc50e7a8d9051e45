"""What the PyTorch adapter makes of the calls of the framework and their work (8, 7.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import begins_with, dictionary, integers, where
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.adapter_steps import (
    RECEIVE,
    RECEIVING,
    Slices,
    StepRow,
    step_at,
    step_rows,
)
from ascend_ref.derive.decimals import shortest_texts, unit_floats
from ascend_ref.derive.operator_details import operator_details as times_of
from ascend_ref.derive.steps import Spans
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.shown import TableRows
from ascend_ref.timeline.activity import CallStacks
from ascend_ref.timeline.events import Events
from ascend_ref.timeline.layers.overlap import overlap_analysis
from ascend_ref.timeline.notation import Notation
from ascend_ref.timeline.session import Session

from .columns import Columns, ShownColumns, of_table, parts
from .launches import steps_of, work_of_operators
from .op_summary import OperatorColumns
from .operator_rows import operator_rows
from .order import ordered
from .setting import Setting

TIMELINE = "trace_view"
STEP = "ProfilerStep#"
"""So the names of steps begin, which are operators of the framework."""


class Verbatim(Notation):
    """No notation at all: texts as they are."""

    def string(self, text: str) -> str:
        """The text."""
        return text

    def strings(self, texts: pa.Array) -> pa.Array:
        """The texts."""
        return texts


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
    work = work_of_operators(session)
    found = times_of(
        Spans(activity.start[rows], activity.end[rows]),
        replace(work, operator=place[work.operator]),
    )
    stacks = CallStacks(recorded, Verbatim(",", ":", ascii=False))
    chains = integers(activity.table["callchainId"])
    shown = np.flatnonzero(~begins_with(dictionary(activity.names), STEP)[rows])
    device = {
        "Device Self Duration(us)": found.device_self,
        "Device Total Duration(us)": found.device_total,
        "Device Self Duration With AICore(us)": found.device_self_with_ai_core,
        "Device Total Duration With AICore(us)": found.device_total_with_ai_core,
    }
    table = recorded.table("PYTORCH_API")
    for batch in parts(shown):
        columns = {
            "Call Stack": stacks.texts(chains[rows[batch]]),
            "Host Self Duration(us)": pa.array(found.host_self[batch]),
            "Host Total Duration(us)": pa.array(found.host_total[batch]),
            **{name: _sums(values[batch]) for name, values in device.items()},
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
    return Slices(
        device=np.concatenate([part.device for part in found]),
        kind=np.concatenate([part.kind for part in found]),
        start=np.concatenate([part.start for part in found]),
        duration=np.concatenate([part.duration for part in found]),
    )


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


def _sums(values: Reals) -> pa.StringArray:
    """Sums of floats; an integer 0 where nothing was added up."""
    return pc.if_else(pa.array(values == 0), "0", shortest_texts(values))
