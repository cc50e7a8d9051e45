"""Defective exporters with bugs that exporters really had, from their changelogs and bug threads.

They were written last, from what is said there, without regard to what finds them. Numbers of
changes are those of merge requests: Ascend/pytorch is torch_npu, Ascend/msprof is CANN's profiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from damaged_profiles import Database, Folder, Row, Timeline
from zoo import (
    EXPORTS,
    KERNELS,
    Applies,
    Bug,
    When,
    cells,
    number,
    register,
    timeline,
    timelines,
)

COUNTERS = ("aicore_time(us)", "aic_total_cycles", "aiv_time(us)", "aicore_time")
SHAPES = ("Input Shapes", "Input Data Types", "Input Formats")
SHAPES += ("Output Shapes", "Output Data Types", "Output Formats")

BUGS: dict[str, Bug] = {}


def bug(when: When, source: str) -> Callable[[Applies], Applies]:
    return register(BUGS, EXPORTS[when], source=source)


@bug("before", "Ascend/pytorch issue 167, 2026-09-11")
def head_of_window_lost(database: Database) -> None:
    """From warm-up to recording the first tasks of the window are lost, and no word is said."""
    database.change(
        "DELETE FROM TASK WHERE globalTaskId IN (SELECT t.globalTaskId FROM TASK t "
        "JOIN COMPUTE_TASK_INFO c USING (globalTaskId) ORDER BY t.startNs LIMIT 2)"
    )


@bug("before", "vllm-project/vllm-ascend issue 1702")
def attention_alone(database: Database) -> None:
    """Of a captured graph only the kernels of attention are shown."""
    database.change(
        "DELETE FROM TASK WHERE globalTaskId IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO c "
        "JOIN STRING_IDS s ON s.id = c.opType WHERE s.value NOT LIKE '%Attention%')"
    )


@bug("after", "vllm-project/vllm-ascend issue 1210, 2025-06-13")
def arrows_to_kernels_absent(folder: Folder) -> None:
    """Where the arrows from calls to kernels cannot be had, the file is written without them."""

    def changed(found: Timeline) -> None:
        lost = found.flows("async_npu")
        found.all[:] = [one for one in found.all if not any(one is other for other in lost)]

    timeline(folder, changed)


@bug("after", "Ascend/pytorch issue 133, 2026-05-13")
def times_as_doubles(folder: Folder) -> None:
    """Unix times in us are numbers of 64 bits, which hold a quarter of a us."""

    def changed(found: Timeline) -> None:
        for event in found.all:
            if "ts" in event:
                event["ts"] = float(event["ts"])

    timeline(folder, changed)


@bug("after", "Ascend/pytorch issue 27, 2024-04-03")
def pieces_without_comma(folder: Folder) -> None:
    """The document is put together from pieces as text, and one comma is forgotten."""
    for path in timelines(folder):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("},", "}", 1), encoding="utf-8")


@bug("after", "Ascend/pytorch ee1e8d573, merge request 43429, 2026-08-19")
def quote_in_metadata(folder: Folder) -> None:
    """What users add to the metadata stands in the trace as it is, quotes and all."""
    for path in timelines(folder):
        text = path.read_text(encoding="utf-8")
        note = '{"name": "process_labels", "ph": "M", "pid": 0, "args": {"labels": "a "b" c"}}, '
        path.write_text(text.replace('{"', note + '{"', 1), encoding="utf-8")


@bug("after", "Ascend/pytorch b5873d477, merge request 21609, 2025-06-05")
def no_device_without_counters(folder: Folder) -> None:
    """Without counters the file of kernels has no column for the device."""
    _without_counters(folder, ("Device_id",))


@bug("after", "Ascend/pytorch 2f9aa0594, merge request 31916, 2026-03-23")
def no_shapes_without_counters(folder: Folder) -> None:
    """Whether shapes are shown hangs on the group of counters, not on the level."""
    _without_counters(folder, SHAPES)


def _without_counters(folder: Folder, absent: tuple[str, ...]) -> None:
    def changed(rows: list[Row]) -> list[Row] | None:
        if any(name in rows[0] for name in COUNTERS):
            return None
        return [{key: row[key] for key in row if key not in absent} for row in rows]

    folder.rows(KERNELS[0], changed)


@bug("after", "Ascend/pytorch 1ac959e42, merge request 16028, 2024-11-21")
def types_for_shapes(folder: Folder) -> None:
    """Types and shapes of a call's inputs are given in the wrong order."""

    def changed(found: Timeline) -> None:
        for event in found.all:
            about = event.get("args", {})
            if "Input Dims" in about and "Input type" in about:
                about["Input Dims"], about["Input type"] = about["Input type"], about["Input Dims"]

    timeline(folder, changed)


@bug("after", "Ascend/pytorch 71fbc1c46, merge request 12652, 2024-06-26")
def time_for_device(folder: Folder) -> None:
    """The device is taken from the file's name, where the time of the export stands now."""

    def changed(row: Row) -> None:
        if row["Component"] == "APP":
            row["Device Type"] = "NPU:20260101170000"

    folder.each("memory_record.csv", changed)


@bug("after", "Ascend/pytorch 4c0d26da1, merge request 21661, 2025-06-06")
def row_of_no_step(folder: Folder) -> None:
    """What is in no step gets a row of its own, without a number."""
    folder.rows("step_trace_time.csv", lambda rows: [*rows, {**rows[-1], "Step": ""}])


@bug("after", "Ascend/pytorch b299a2018, merge request 8198, 2023-12-08")
def reserved_in_whole_units(folder: Folder) -> None:
    """What is reserved is read as a whole number."""
    cells(
        folder,
        ("Total Reserved(MB)", "Total Reserved(KB)"),
        lambda cell: number(cell, math.floor),
    )


@bug("after", "Ascend/pytorch fbf5cebbc, merge request 9280, 2024-01-30")
def no_stream_of_memory(folder: Folder) -> None:
    """Records of memory do not name the stream."""
    folder.rows(
        "memory_record.csv",
        lambda rows: [{key: row[key] for key in row if key != "Stream Ptr"} for row in rows],
    )


@bug("after", "Ascend/pytorch 3dc5331dc, merge request 6132, 2023-09-26")
def later_slices_absent(folder: Folder) -> None:
    """Of a timeline of the device that is cut into files only the first gets into the trace."""

    def changed(found: Timeline) -> None:
        events = found.layer("Ascend Hardware")
        lost = events[len(events) // 2 :]
        found.all[:] = [one for one in found.all if not any(one is other for other in lost)]

    timeline(folder, changed)


@bug("before", "Ascend/msprof 5ce17bed2, merge request 124, 2026-03-17")
def marks_out_of_range(database: Database) -> None:
    """Times of marks are converted as those of the device, and thrown away as out of range."""
    database.change("DELETE FROM MSTX_EVENTS")


@bug("after", "Ascend/msprof a38775d20, merge request 72, 2026-02-11")
def arrows_without_start(folder: Folder) -> None:
    """What is before the first task is filtered, and with it the starts of arrows."""

    def changed(found: Timeline) -> None:
        first = min(found.flows("HostToDevice", "s"), key=lambda event: float(event["ts"]))
        found.all[:] = [one for one in found.all if one is not first]

    timeline(folder, changed)


@bug("before", "Ascend/msprof 3f1118b8e, merge request 30, 2026-01-15")
def blocks_of_an_empty_entry(database: Database) -> None:
    """After a warm-up the number of blocks is looked up in an entry that is empty."""
    database.change("UPDATE COMPUTE_TASK_INFO SET $block = 0 WHERE $block <> 0")
