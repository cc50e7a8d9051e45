"""kernel_details.csv and op_summary.csv."""

from __future__ import annotations

import re
from collections.abc import Callable

from damaged_profiles import Folder, Row
from exporter_defects import Inapplicable, defect

from .cells import (
    EMPTY,
    KERNELS,
    change_rows,
    core_of,
    each_row,
    length_of,
    name_of,
    one_of,
    scaled,
    shift_column,
    swap,
    type_of,
    wait_of,
)


@defect("csv", "lengths are longer than the gaps between starts, and than the steps")
def kernel_lengths_in_ns(folder: Folder) -> None:
    """Durations are written in ns under a header that says us."""
    each_row(
        folder, KERNELS, lambda row: row.update({length_of(row): scaled(row[length_of(row)], 1e3)})
    )


@defect("csv", "cores are busy longer than the kernel lasts")
def kernel_lengths_in_ms(folder: Folder) -> None:
    """Durations are written in ms under a header that says us."""
    each_row(
        folder, KERNELS, lambda row: row.update({length_of(row): scaled(row[length_of(row)], 1e-3)})
    )


@defect("csv", "the sums by type and the waits have other digits")
def kernel_lengths_in_whole_us(folder: Folder) -> None:
    """Durations are cut to whole microseconds."""
    each_row(
        folder,
        KERNELS,
        lambda row: row.update({length_of(row): _whole(row[length_of(row)])}),
    )


def _whole(cell: str) -> str:
    text = cell.strip()
    return cell if text in EMPTY else cell.replace(text, f"{int(float(text))}.000")


@defect("csv", "the waits contradict the starts and durations")
def kernel_waits_of_the_next(folder: Folder) -> None:
    """Waits are written one row too early."""
    change_rows(folder, KERNELS, lambda rows: shift_column(rows, wait_of(rows[0])))


@defect("csv", "each kernel ends before it starts by its wait")
def kernel_waits_in_ns(folder: Folder) -> None:
    """Waits are written in ns."""
    each_row(
        folder, KERNELS, lambda row: row.update({wait_of(row): scaled(row[wait_of(row)], 1e3)})
    )


@defect("csv", "kernels of one stream overlap")
def kernel_end_for_duration(folder: Folder) -> None:
    """Wait and duration are exchanged."""
    each_row(folder, KERNELS, lambda row: swap(row, length_of(row), wait_of(row)))


@defect("csv", "a kernel's name contains its type, and a type has one core")
def kernel_names_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    change_rows(folder, KERNELS, lambda rows: shift_column(rows, name_of(rows[0])))


@defect("csv", "a kernel's name contains its type, the statistics count other types")
def kernel_types_of_the_next(folder: Folder) -> None:
    """Types are joined one row too late."""
    change_rows(folder, KERNELS, lambda rows: shift_column(rows, type_of(rows[0])))


@defect("csv", "the statistics count other cores, and vector kernels use the cube")
def kernel_cores_exchanged(folder: Folder) -> None:
    """AI_CORE and AI_VECTOR_CORE are exchanged."""
    other = {"AI_CORE": "AI_VECTOR_CORE", "AI_VECTOR_CORE": "AI_CORE"}

    def change(row: Row) -> None:
        row[core_of(row)] = other.get(row[core_of(row)], row[core_of(row)])

    each_row(folder, KERNELS, change)


@defect("csv", "shapes, types and formats have other numbers of entries")
def kernel_shapes_of_the_next(folder: Folder) -> None:
    """Shapes are joined one row too late."""
    change_rows(folder, KERNELS, lambda rows: shift_column(rows, "Input Shapes"))


@defect("csv", "FLOAT is no format")
def kernel_formats_and_types_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    each_row(folder, KERNELS, lambda row: swap(row, "Input Data Types", "Input Formats"))


@defect("csv", "the numbers of cycles, times and blocks give no clock")
def kernel_blocks_of_the_next(folder: Folder) -> None:
    """Block numbers are joined one row too late."""

    def change(rows: list[Row]) -> None:
        if "aic_total_cycles" not in rows[0] and "total_cycles" not in rows[0]:
            raise Inapplicable
        shift_column(rows, one_of(rows[0], "Block Dim", "Block Num"))

    change_rows(folder, KERNELS, change)


@defect("csv", "kernels without a mixed block count are of another core type")
def kernel_blocks_and_mixed_blocks_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""

    def change(row: Row) -> None:
        block = one_of(row, "Block Dim", "Block Num")
        swap(row, block, f"Mix {block}")

    each_row(folder, KERNELS, change)


@defect("csv", "every kernel is listed twice with all its figures")
def kernels_twice(folder: Folder) -> None:
    """The rows are flushed twice."""
    change_rows(folder, KERNELS, lambda rows: [row for row in rows for _ in range(2)])


@defect("csv", "the statistics count more kernels, and the wait spans the gap")
def kernels_of_the_first_half_alone(folder: Folder) -> None:
    """A slice of records is lost."""
    folder.files("op_statistic*.csv")
    change_rows(folder, KERNELS, lambda rows: rows[: len(rows) // 2])


@defect("csv", "the statistics count more kernels, and the wait spans the gap")
def every_tenth_kernel_lost(folder: Folder) -> None:
    """Records are dropped when the buffer is full."""
    folder.files("op_statistic*.csv")
    change_rows(folder, KERNELS, lambda rows: [row for at, row in enumerate(rows) if at % 10 != 5])


@defect("csv", "the statistics have these kernels, the wait of the next one spans them")
def kernels_of_one_type_lost(folder: Folder) -> None:
    """A type of kernels is filtered out."""
    folder.files("op_statistic*.csv")

    def change(rows: list[Row]) -> list[Row]:
        lost = rows[len(rows) // 2][type_of(rows[0])]
        return [row for row in rows if row[type_of(row)] != lost]

    change_rows(folder, KERNELS, change)


@defect("csv", "all kernels have one task id")
def kernel_task_ids_are_zero(folder: Folder) -> None:
    """The id of the task is never filled in."""
    each_row(folder, KERNELS, lambda row: row.update({"Task ID": "0"}))


@defect("csv", "streams have numbers of tasks, and tasks of one stream overlap")
def kernel_stream_and_task_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    each_row(folder, KERNELS, lambda row: swap(row, "Stream ID", "Task ID"))


@defect("csv", "no step of that number is in the step trace")
def kernel_steps_off_by_one(folder: Folder) -> None:
    """Steps are counted from 0 in one file and from 1 in another."""

    def change(row: Row) -> None:
        if row["Step Id"]:
            row["Step Id"] = str(int(row["Step Id"]) + 1)

    folder.each("kernel_details.csv", change)


@defect("csv", "ratios above one hundred, and not those of the times")
def kernel_ratios_in_percent(folder: Folder) -> None:
    """Ratios are written in percent."""

    def change(row: Row) -> None:
        for name in row:
            if name.endswith("_ratio"):
                row[name] = scaled(row[name], 100)

    _counters(folder, change)


def _counters(folder: Folder, change: Callable[[Row], object]) -> None:
    """Change rows of kernels, in folders with counters of cores."""

    def checked(rows: list[Row]) -> None:
        if not any(name.endswith("_ratio") for name in rows[0]):
            raise Inapplicable
        for row in rows:
            change(row)

    change_rows(folder, KERNELS, checked)


@defect("csv", "ratios are not those of the times")
def kernel_pipe_times_in_ns(folder: Folder) -> None:
    """Times of pipes are written in ns."""

    def change(row: Row) -> None:
        for name in row:
            if re.search(r"_(vec|mac|scalar|mte\d|fixpipe)_time", "_" + name):
                row[name] = scaled(row[name], 1000)

    _counters(folder, change)


@defect("csv", "cycles are not those of time, blocks and clock")
def kernel_cycles_of_one_core(folder: Folder) -> None:
    """Cycles are divided by the number of blocks."""

    def change(row: Row) -> None:
        blocks = int(row[one_of(row, "Block Dim", "Block Num")] or 0)
        for name in row:
            if name.endswith("total_cycles") and blocks and row[name].strip() not in EMPTY:
                row[name] = str(int(float(row[name])) // blocks)

    _counters(folder, change)


@defect("csv", "cycles of neither core fit its time")
def kernel_cube_and_vector_cycles_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    each_row(folder, KERNELS, lambda row: swap(row, "aic_total_cycles", "aiv_total_cycles"))


@defect("csv", "a share of the bound is above the whole")
def kernel_counters_of_the_next(folder: Folder) -> None:
    """Counters are joined one row too late."""

    def change(rows: list[Row]) -> None:
        names = list(rows[0])
        first = one_of(rows[0], "aicore_time(us)")
        if first not in names:
            raise Inapplicable
        for name in names[names.index(first) :]:
            shift_column(rows, name)

    change_rows(folder, KERNELS, change)


@defect("csv", "numbers have a decimal comma")
def kernel_lengths_with_decimal_comma(folder: Folder) -> None:
    """Numbers are printed in the user's locale."""
    each_row(
        folder,
        KERNELS,
        lambda row: row.update({length_of(row): row[length_of(row)].replace(".", ",")}),
    )


@defect("csv", "a rate is above one hundred percent or has none of the digits of percent")
def cube_utilization_as_fraction(folder: Folder) -> None:
    """A percentage is written as a fraction."""

    def change(row: Row) -> None:
        row["cube_utilization(%)"] = scaled(row["cube_utilization(%)"], 0.01)

    def checked(rows: list[Row]) -> None:
        if not any(row["cube_utilization(%)"].strip() not in {*EMPTY, "0", "0.0"} for row in rows):
            raise Inapplicable
        for row in rows:
            change(row)

    change_rows(folder, KERNELS, checked)
