"""Steps of the training as the adapter reports them, computed again from its timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ascend_ref.capture.batch import Integers
from ascend_ref.derive.adapter_steps import (
    COMMUNICATION,
    COMPUTING,
    FREE,
    GENERATIONS,
    NOT_OVERLAPPED,
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
from ascend_ref.derive.decimals import unit_floats
from ascend_ref.derive.operator_details import launching_operators
from ascend_ref.derive.steps import Spans

from ....compare.sql import text_literal
from ..database import Facts
from .mindspore import figures_of_steps, of_mindspore
from .queue import STEP, framework_slices, queue_entries
from .reading import NONE, Asked, integers, read, reals

PLACES: Mapping[str, int] = {
    "computing": COMPUTING,
    "communication": COMMUNICATION,
    "not-overlapped": NOT_OVERLAPPED,
    "free": FREE,
}
DEVICE_STEP = pa.schema(
    {
        "all_launches": pa.bool_(),
        "place": pa.int64(),
        "number": pa.int64(),
        "start": pa.float64(),
        "end": pa.float64(),
        "begin": pa.float64(),
    }
)


def device_steps_of(facts: Facts, *, all_launches: bool = False) -> list[DeviceStep]:
    """The steps with their bounds on the device; none where the program marked none."""
    if not facts.columns("derived.device_step"):
        return []
    chosen = f"SELECT * FROM derived.device_step WHERE all_launches = {all_launches} ORDER BY place"
    found = read(facts, chosen).select(DeviceStep._fields).to_pylist()
    return [DeviceStep(**one) for one in found]


def device_step(asked: Asked) -> pa.Table:
    """The steps with their bounds on the device, by the generations that divide them differently.

    From 2023-12-14 to 2025-06-20 a step without launches made the adapter leave out all of them
    (commits a7fbb1ec3 and ca3abd80d of torch_npu); its files show that they know no steps.
    """
    facts = asked.facts
    stated = read(
        facts,
        f"SELECT TRY_CAST(substr(name, {len(STEP) + 1}) AS BIGINT) AS number, ts AS start, "
        f"end_ns AS stop FROM layer.python WHERE starts_with(name, {text_literal(STEP)}) "
        "AND ts IS NOT NULL AND end_ns IS NOT NULL ORDER BY ts, row",
    )
    number = integers(stated, "number")
    spans = Spans(integers(stated, "start"), integers(stated, "stop"))
    work = read(facts, "SELECT moment, start, stop FROM view.launch ORDER BY moment, row")
    place, launch = _launches(facts, spans, integers(work, "moment"))
    kernels = Spans(integers(work, "start"), integers(work, "stop"))
    rows: list[dict[str, object]] = []
    if _states_steps(facts) or len(np.unique(place[place != NONE])) == len(number):
        for every in (False, True):
            found = device_steps(number.tolist(), spans, place, launch, kernels, all_launches=every)
            rows += [
                {"all_launches": every, "place": row, **one._asdict()}
                for row, one in enumerate(found)
            ]
    return pa.Table.from_pylist(rows, DEVICE_STEP)


def _launches(facts: Facts, steps: Spans, moment: Integers) -> tuple[Integers, Integers]:
    """For each launch the step that caused it, and a number that ascends.

    Through the task queue both are those of the entry: it is of the step of its operator, though
    it may be taken out in the next one (FwkCANNRelationParser.get_step_range of torch_npu).
    """
    taking = framework_slices(facts, "dequeue")
    if not len(taking):
        return launching_steps(steps, moment), moment
    operators = framework_slices(facts, "operator")
    giving = framework_slices(facts, "enqueue", "named-enqueue")
    begun = integers(operators, "start")
    opened = launching_operators(
        Spans(begun, integers(operators, "stop")),
        integers(operators, "tid"),
        integers(giving, "start"),
        integers(giving, "tid"),
    )
    entry = queue_entries(taking, giving, moment)
    owner = np.append(opened, NONE)[entry]
    step = launching_steps(steps, np.append(begun, 0)[owner])
    return np.where(owner == NONE, NONE, step), entry


def _states_steps(facts: Facts) -> bool:
    """Whether the files of the adapter know of steps; so if there are none."""
    columns = facts.columns("csv.kernel_details")
    if columns:
        return "Step Id" in columns
    if not facts.columns("csv.step_trace_time"):
        return True
    return bool(facts.value("SELECT count(*) FROM csv.step_trace_time WHERE Step <> ''"))


def step_trace_time(asked: Asked) -> pa.Table:
    """The rows of step_trace_time, the arithmetic of the adapter replayed in its floats.

    By generation of the adapter.
    """
    facts = asked.facts
    if of_mindspore(facts):
        table = _table(figures_of_steps(facts))
        since = pa.array([GENERATIONS[0].since] * len(table), pa.string())
        return table.append_column("since", since)
    slices = read(facts, " UNION ALL ".join(_slices(facts)) + " ORDER BY file, row")
    kinds = np.array([PLACES.get(kind, RECEIVING) for kind in slices["kind"].to_pylist()], np.int64)
    added = Slices(
        integers(slices, "device"),
        kinds,
        unit_floats(integers(slices, "start")),
        reals(slices, "dur", 0.0),
    )
    first, parts = _first_operator(facts), []
    for one in GENERATIONS:
        steps = device_steps_of(facts, all_launches=one.all_launches)
        parts.append((one.since, _table(step_rows(added, steps, first, one))))
    return pa.concat_tables(
        table.append_column("since", pa.array([since] * len(table), pa.string()))
        for since, table in parts
    )


def _table(found: Sequence[StepRow]) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "device": pa.array([row.device for row in found], pa.int64()),
        "step": pa.array(["" if row.step is None else str(row.step) for row in found], pa.string()),
    }
    figures = {
        name: pa.array([float(getattr(row, name)) for row in found], pa.float64())
        for name in StepRow._fields
        if name not in columns
    }
    return pa.table(columns | figures)


def _slices(facts: Facts) -> list[str]:
    """Queries of the slices that the adapter adds up."""
    known = "ts IS NOT NULL AND dur IS NOT NULL"
    columns = "file, row, coalesce(device, -1) AS device, ts AS start, dur"
    found = [f"SELECT {columns}, kind FROM layer.overlap_analysis WHERE {known}"]
    if facts.columns("layer.communication"):
        found.append(
            f"SELECT {columns}, 'receiving' AS kind FROM layer.communication WHERE {known} "
            f"AND kind = 'operator' AND starts_with(name, {text_literal(RECEIVE)})"
        )
    return found


def _first_operator(facts: Facts) -> float | None:
    """When the framework began, us."""
    if not facts.columns("layer.python"):
        return None
    first = facts.value("SELECT min(ts) FROM layer.python WHERE kind = 'operator'")
    return None if first is None else float(unit_floats(np.array([first]))[0])


def step_of_kernel(asked: Asked) -> pa.Table:
    """The step of each row of kernel_details, empty outside of all; the bounds belong to a step."""
    rows = asked.rows()
    step = step_at(device_steps_of(asked.facts), integers(rows, "start"))
    return rows.select(["file", "row"]).append_column("step", pa.array(step, mask=step == NONE))
