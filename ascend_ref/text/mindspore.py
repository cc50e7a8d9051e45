"""What MindSpore makes of msprof's files and of its own records (mindspore-present.md 2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import (
    begins_with,
    dictionary,
    integers,
    is_one_of,
    present,
    reals,
    where,
)
from ascend_ref.capture.batch import Integers, Reals
from ascend_ref.derive.decimals import Form, decimal_texts, python_round
from ascend_ref.derive.mindspore_steps import (
    COPIER,
    STEP,
    Overlaps,
    step_at,
    step_figures,
    whole_figures,
)
from ascend_ref.derive.steps import Spans
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.mindspore import steps_of
from ascend_ref.recorded.shown import TableRows
from ascend_ref.timeline.events import Events, Metadata
from ascend_ref.timeline.layers.mindspore import OF_LAUNCHES, launched
from ascend_ref.timeline.layers.overlap import KINDS, overlap_analysis
from ascend_ref.timeline.layers.queue import works
from ascend_ref.timeline.lookup import NONE, taken
from ascend_ref.timeline.session import Session
from ascend_ref.timeline.write import OF_MSPROF

from .columns import Columns, ShownColumns, of_table, parts
from .memory import ENGINE, PROCESS, PROCESS_TYPE, printed_kibibytes
from .op_summary import OperatorColumns, OperatorRows, operator_rows
from .setting import Setting

TIMELINE = "trace_view"
FRAMEWORK, ALLOCATOR, SUM = "MindSpore", "PTA", "MindSpore+GE"
"""Components of memory_record: the framework, as it is called in MEMORY_RECORD, and the sum."""
KIBIBYTE, MEBIBYTE = 1024.0, 1024.0 * 1024.0
POOL = "Ascend"
"""Pool of a block, as MindSpore 2.3 and 2.4 name it."""
MEGABYTE = 1000.0
"""KB of an MB in memory_record (erratum T110)."""


NS_PER_US = 1000


def kernel_details(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """op_summary with what launched each operator, and the step of that.

    Up to MindSpore 2.4 it is op_summary under other names of columns alone.
    """
    rows = operator_rows(recorded, setting)
    if setting.writer.id == COPIER:
        names = _names(rows)
        for batch, columns in OperatorColumns(recorded, setting, rows).batches():
            shown = names.take(pa.array(batch)).fill_null("N/A")
            yield ShownColumns({**columns, "Name": shown}, columns.rows)
        return
    session = Session(recorded, setting.timeline_writer, TIMELINE)
    launch = _launches(session, rows)
    steps = steps_of(recorded)
    by_launch = step_at(steps, np.append(session.activity.start, 0)[launch])
    by_kernel = step_at(steps, rows.start)
    place = np.where((launch != NONE) & (by_launch >= 0), by_launch, by_kernel)
    step = np.append(np.array([int(one.name) for one in steps], np.int64), NONE)[place]
    names, launching = _names(rows), works(session, "")
    for batch, columns in OperatorColumns(recorded, setting, rows).batches():
        own = launch[batch]
        before = (
            pc.binary_join_element_wise(
                OF_LAUNCHES, taken(launching, np.maximum(own, 0)).dictionary_decode(), "/", ""
            )
            if len(launching)
            else pa.nulls(len(own), pa.string())
        )
        shown = pc.if_else(pa.array(own != NONE), before, "")
        found = {
            **columns,
            "Step Id": where(step[batch] >= 0, step[batch]),
            "Name": pc.binary_join_element_wise(
                shown, names.take(pa.array(batch)).fill_null("N/A"), ""
            ),
        }
        yield ShownColumns(found, columns.rows)


def _names(rows: OperatorRows) -> pa.Array:
    """The names of operators, in the order of their rows."""
    runs = rows.runs
    kernel = dictionary(runs.details["name"]).take(pa.array(runs.detail, mask=runs.detail < 0))
    talks = dictionary(rows.communication["opName"])
    both = pa.concat_arrays([kernel.dictionary_decode(), talks.dictionary_decode()])
    return both.take(pa.array(rows.row))


def _launches(session: Session, rows: OperatorRows) -> Integers:
    """What launched each operator, a row of PYTORCH_API; NONE where that is not known."""
    runs = rows.runs
    of_task = np.full(len(runs.tasks) + 1, NONE)
    of_talk = np.full(len(rows.communication), NONE)
    for link, work, launch in launched(session):
        target = of_talk if link.flow.flow == "communication" else of_task
        target[work.row] = launch
    every = np.concatenate([of_task[runs.task], of_talk])
    return every[rows.row]


def step_trace_time(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """The steps, or all that was recorded where there are none."""
    session = Session(recorded, setting.timeline_writer, TIMELINE)
    found: list[list[Spans]] = [[] for _ in KINDS]
    for item in overlap_analysis(session):
        if isinstance(item, Events) and item.length is not None:
            kind = KINDS.index(item.kind.kind)
            found[kind].append(Spans(item.start, item.start + item.length))
    if not any(found):
        return
    nothing = np.empty(0, np.int64)
    overlaps = Overlaps(
        *(
            Spans(*(np.concatenate([nothing, *columns]) for columns in zip(*spans, strict=True)))
            if spans
            else Spans(nothing, nothing)
            for spans in found
        )
    )
    if setting.writer.id == COPIER:
        rows = [whole_figures(overlaps, *_extent(session))]
    else:
        activity = session.activity
        shown = np.concatenate([activity.operator, activity.dequeue, activity.function])
        shown = shown[activity.end[shown] > activity.start[shown]]
        first = int(activity.start[shown].min()) if len(shown) else None
        rows = step_figures(steps_of(recorded), overlaps, first)
    steps = {
        "step": [row.step for row in rows],
        **{
            name: pa.array([getattr(row, name) for row in rows], pa.int64())
            for name in rows[0]._fields[1:]
        },
    }
    yield of_table("step_time", pa.table(steps))


def _extent(session: Session) -> tuple[int, int, int]:
    """Of the timeline of msprof: its events, the end of the latest, the length of the last; ns."""
    count = end = last = 0
    for source in OF_MSPROF:
        for item in source(session):
            if isinstance(item, Metadata):
                count, last = count + 1, 0
                continue
            count += len(item.start)
            if not len(item.start):
                continue
            lasts = item.length if isinstance(item, Events) else None
            ends = item.start if lasts is None else item.start + lasts
            end = max(end, int(ends.max()))
            last = 0 if lasts is None else int(lasts[-1])
    return count, end, last


def operator_details(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Every operator of the framework whose shapes were recorded, in their order."""
    table = recorded.table("PYTORCH_API")
    if not len(table) or not recorded.switches.record_shapes:
        return
    is_step = begins_with(dictionary(table["name"]), STEP)
    shown = np.flatnonzero(present(table["inputShapes"]) & ~is_step)
    for batch in parts(shown):
        yield ShownColumns({}, {"PYTORCH_API": TableRows(table, batch)})


def operator_memory(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """Blocks of the framework that were taken in the capture, in order of their allocation.

    Times are floats of us, which lie a quarter of a us apart (erratum T111).
    """
    table = recorded.table("OP_MEMORY")
    seen = present(table["allocationTime"]) & present(table["allocationTotalActive"])
    table = table.filter(pa.array(seen))
    if not len(table):
        return
    table = table.take(pa.array(np.argsort(integers(table["allocationTime"]), kind="stable")))
    if setting.writer.id == COPIER:
        yield _copied_blocks(table)
        return
    unit = setting.writer.ns_per_us
    released = present(table["releaseTime"])
    allocated, freed = (integers(table[name], 0) for name in ("allocationTime", "releaseTime"))
    held = freed - allocated

    def at_release(values: Reals) -> pa.Array:
        return where(released, values)

    def totals(of: str) -> dict[str, Reals]:
        allocated, reserved = (
            reals(table[f"{of}Total{name}"], 0) / MEBIBYTE for name in ("Allocated", "Reserved")
        )
        if setting.writer.exchanged_totals:
            allocated, reserved = reserved, allocated
        return {"Allocated": allocated, "Reserved": reserved, "Active": allocated}

    columns = {
        "Allocation Time(us)": pa.array(_quotients(allocated, unit)),
        "Release Time(us)": at_release(_quotients(freed, unit)),
        "Duration(us)": at_release(_quotients(held, unit)),
        **{
            f"Allocation Total {name}(MB)": pa.array(one)
            for name, one in totals("allocation").items()
        },
        **{f"Release Total {name}(MB)": at_release(one) for name, one in totals("release").items()},
    }
    yield of_table("OP_MEMORY", table, columns)


def _quotients(times: Integers, unit: int) -> Reals:
    """The floats nearest to quotients, as Python divides integers: ns since 1970 are no doubles."""
    whole, rest = np.divmod(times, unit)
    found: Reals = whole + rest / unit
    return found


def _copied_blocks(table: pa.Table) -> Columns:
    """Blocks as MindSpore 2.3 and 2.4 themselves write them, whole us and no end of use."""
    released = present(table["releaseTime"])
    allocated, freed = (
        integers(table[name], 0) // NS_PER_US for name in ("allocationTime", "releaseTime")
    )
    totals = {
        f"{side} Total {name}(MB)": _singles(table[f"{side.lower()}Total{name}"], MEBIBYTE)
        for side in ("Allocation", "Release")
        for name in ("Allocated", "Reserved")
    }
    return of_table(
        "OP_MEMORY",
        table,
        {
            "Size(KB)": _singles(table["size"], KIBIBYTE),
            "Allocation Time(us)": pa.array(allocated).cast(pa.string()),
            "Duration(us)": where(released, freed - allocated).cast(pa.string()),
            **totals,
            "Device": pa.array([POOL] * len(table)),
        },
    )


def _singles(values: pa.ChunkedArray, unit: float) -> pa.Array:
    """Numbers of single precision, as C++ divides and prints them."""
    return pa.array((reals(values, 0).astype(np.float32) / np.float32(unit)).astype(np.float64))


def memory_record(recorded: Recorded, setting: Setting) -> Iterator[Columns]:
    """What the framework and the graph engine held after each event, each with the sum of both,
    then the process as msprof saw it.
    """
    rank = f"NPU:{max(recorded.origin.rank, 0)}"
    table = recorded.table("MEMORY_RECORD")
    table = table.filter(pa.array(is_one_of(table["component"], [ALLOCATOR, ENGINE])))
    table = table.take(pa.array(np.argsort(integers(table["timestamp"]), kind="stable")))
    if len(table):
        yield _with_sums(table, rank)
    process = recorded.table("NPU_MEM")
    process = process.filter(pa.array(is_one_of(process["type"], [PROCESS_TYPE])))
    held = (reals(process["ddr"]) + reals(process["hbm"])) / KIBIBYTE
    held = printed_kibibytes(held, setting.engine_of("npu_mem"))
    if len(process):
        zero = pa.array(np.zeros(len(process)))
        yield {
            "Component": pa.array([PROCESS] * len(process)),
            "Timestamp(us)": _instants(integers(process["timestampNs"])),
            "Total Allocated(MB)": zero,
            "Total Reserved(MB)": pa.array(held / MEGABYTE),
            "Total Active(MB)": zero,
            "Device Type": pa.array([rank] * len(process)),
        }


def _with_sums(table: pa.Table, rank: str) -> Columns:
    of_engine = is_one_of(table["component"], [ENGINE])
    # The engine's file has KB with three decimals; bytes of the framework are divided as they are.
    levels = np.stack(
        [
            reals(table[name], 0) / KIBIBYTE
            for name in ("totalAllocated", "totalReserved", "totalActive")
        ],
        axis=1,
    )
    levels[of_engine] = python_round(levels[of_engine].ravel()).reshape(-1, 3)
    levels[of_engine, 2] = 0.0
    sums = levels + _newest(levels, of_engine)
    both = np.stack([levels, sums], axis=1).reshape(-1, 3) / MEGABYTE
    times = integers(table["timestamp"])
    device = integers(table["deviceId"], 0)
    component = np.where(of_engine, ENGINE, FRAMEWORK)
    own_times = pc.if_else(
        pa.array(of_engine), decimal_texts(times, Form.FIXED, tab=True), _instants(times)
    )
    sum_times = pc.if_else(pa.array(of_engine), decimal_texts(times, Form.FIXED), _instants(times))
    places = [f"NPU:{one}" for one in device.tolist()]
    owners = np.where(of_engine, np.array(places, object), rank)
    return {
        "Component": _interleaved(component, np.full(len(times), SUM, object)),
        "Timestamp(us)": _interleaved(own_times.to_pylist(), sum_times.to_pylist()),
        "Total Allocated(MB)": pa.array(both[:, 0]),
        "Total Reserved(MB)": pa.array(both[:, 1]),
        "Total Active(MB)": pa.array(both[:, 2]),
        "Device Type": _interleaved(owners, np.full(len(times), rank, object)),
    }


def _newest(levels: Reals, of_engine: np.ndarray) -> Reals:
    """For each row the newest row of the other component before it; 0 without one."""
    found = np.zeros_like(levels)
    for mine, others in ((of_engine, ~of_engine), (~of_engine, of_engine)):
        last = np.maximum.accumulate(np.where(others, np.arange(len(levels)), NONE))
        rows = np.flatnonzero(mine & (last != NONE))
        found[rows] = levels[last[rows]]
    return found


def _instants(times: Integers) -> pa.StringArray:
    return decimal_texts(times, Form.STRIPPED)


def _interleaved(first: object, second: object) -> pa.Array:
    pairs = np.stack([np.asarray(first, object), np.asarray(second, object)], axis=1)
    return pa.array(pairs.ravel().tolist(), pa.string())
