"""Defects of CSV files and JSON documents, as exporters make them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from damaged_profiles import Folder, Row, later
from exporter_defects import Inapplicable, defect

KERNELS = ("kernel_details*.csv", "op_summary*.csv")
"""Files with one row for each kernel, by the adapter and by msprof."""

EMPTY = {"", "N/A", "NA"}
HOURS_8_US = 8 * 3600 * 1_000_000


# Cells.


def _scaled(cell: str, factor: float) -> str:
    """A cell times a factor, with the digits that it had; what is no number stays."""
    text = cell.strip()
    if text in EMPTY:
        return cell
    digits = len(text.partition(".")[2])
    return cell.replace(text, f"{float(text) * factor:.{digits}f}")


def _moved(cell: str, by_us: float) -> str:
    text = cell.strip()
    return cell if text in EMPTY else cell.replace(text, later(text, by_us))


def _one(row: Row, *names: str) -> str:
    """The first of the columns that the row has: writers name them differently."""
    return next((name for name in names if name in row), names[0])


def _unit(row: Row, name: str) -> str:
    """A column by its name without the unit, which differs between the writers."""
    found = [column for column in row if re.fullmatch(re.escape(name) + r"(\(.*\))?", column)]
    if not found:
        raise KeyError(name)
    return found[0]


def _each(folder: Folder, names: Iterable[str], change: Callable[[Row], object]) -> None:
    """Change each row of the files of the first pattern that the folder has."""
    folder.each(_present(folder, names), change)


def _rows(
    folder: Folder, names: Iterable[str], change: Callable[[list[Row]], list[Row] | None]
) -> None:
    folder.rows(_present(folder, names), change)


def _present(folder: Folder, names: Iterable[str]) -> str:
    found = [name for name in names if any(folder.path.rglob(name))]
    if not found:
        raise Inapplicable
    return found[0]


def _start(row: Row) -> str:
    return _one(row, "Start Time(us)", "Task Start Time(us)")


def _length(row: Row) -> str:
    return _one(row, "Duration(us)", "Task Duration(us)")


def _wait(row: Row) -> str:
    return _one(row, "Wait Time(us)", "Task Wait Time(us)")


def _name(row: Row) -> str:
    return _one(row, "Name", "Op Name")


def _type(row: Row) -> str:
    return _one(row, "Type", "OP Type")


def _core(row: Row) -> str:
    return _one(row, "Accelerator Core", "Task Type")


def _swap(row: Row, left: str, right: str) -> None:
    row[left], row[right] = row[right], row[left]


def _shift_column(rows: Sequence[Row], name: str) -> None:
    """Each row gets the value of the next; the last keeps its own."""
    values = [row[name] for row in rows]
    for row, value in zip(rows, values[1:], strict=False):
        row[name] = value


# Clocks: the same three mistakes in each column of times.

CLOCKS: dict[str, tuple[str, ...]] = {
    "kernel_details": ("Start Time(us)",),
    "op_summary": ("Task Start Time(us)",),
    "task_time": ("task_start(us)", "task_stop(us)"),
    "memory_record": ("Timestamp(us)",),
    "npu_module_mem": ("Timestamp(us)",),
    "npu_mem": ("timestamp(us)",),
    "operator_memory": (
        "Allocation Time(us)",
        "Release Time(us)",
        "Active Release Time(us)",
    ),
    "aicpu": ("Timestamp(us)",),
    "msprof_tx": ("Start_time(us)", "End_time(us)"),
    "step_trace": ("FP Start(us)", "BP End(us)", "Iteration End(us)"),
    "nic": ("Timestamp(us)",),
    "roce": ("Timestamp(us)",),
}
"""Columns of times of each file."""


def _file(stem: str) -> str:
    """A file with or without the date of msprof."""
    return f"{stem}[._][c2]*"


def _clock(stem: str) -> None:
    lower = stem.replace("_", "-")

    def change(folder: Folder, formula: Callable[[str], str]) -> None:
        def one(row: Row) -> None:
            for name in CLOCKS[stem]:
                if name in row:
                    row[name] = formula(row[name])

        folder.each(_file(stem), one)

    @defect("csv", "it lies hours outside all other files", f"{lower}-csv-in-local-time")
    def local(folder: Folder) -> None:
        """Local time is written as if it were UTC."""
        change(folder, lambda cell: _moved(cell, HOURS_8_US))

    @defect("csv", "it lies decades outside all other files", f"{lower}-csv-since-boot")
    def since_boot(folder: Folder) -> None:
        """The clock since boot is not converted to Unix time."""
        change(folder, lambda cell: _moved(cell, -1_700_000_000_000_000))

    @defect("csv", "the times have no unit that a time of the capture has", f"{lower}-csv-in-ns")
    def nanoseconds(folder: Folder) -> None:
        """Times are written in ns under a header that says us."""
        change(folder, _thousandfold)


def _thousandfold(cell: str) -> str:
    text = cell.strip()
    if text in EMPTY:
        return cell
    whole, _, rest = text.partition(".")
    return cell.replace(text, f"{whole}{(rest + '000')[:3]}.000")


for _stem in CLOCKS:
    _clock(_stem)


# Kernels.


@defect("csv", "lengths are longer than the gaps between starts, and than the steps")
def kernel_lengths_in_ns(folder: Folder) -> None:
    """Durations are written in ns under a header that says us."""
    _each(folder, KERNELS, lambda row: row.update({_length(row): _scaled(row[_length(row)], 1e3)}))


@defect("csv", "cores are busy longer than the kernel lasts")
def kernel_lengths_in_ms(folder: Folder) -> None:
    """Durations are written in ms under a header that says us."""
    _each(folder, KERNELS, lambda row: row.update({_length(row): _scaled(row[_length(row)], 1e-3)}))


@defect("csv", "the sums by type and the waits have other digits")
def kernel_lengths_in_whole_us(folder: Folder) -> None:
    """Durations are cut to whole microseconds."""
    _each(
        folder,
        KERNELS,
        lambda row: row.update({_length(row): _whole(row[_length(row)])}),
    )


def _whole(cell: str) -> str:
    text = cell.strip()
    return cell if text in EMPTY else cell.replace(text, f"{int(float(text))}.000")


@defect("csv", "the waits contradict the starts and durations")
def kernel_waits_of_the_next(folder: Folder) -> None:
    """Waits are written one row too early."""
    _rows(folder, KERNELS, lambda rows: _shift_column(rows, _wait(rows[0])))


@defect("csv", "each kernel ends before it starts by its wait")
def kernel_waits_in_ns(folder: Folder) -> None:
    """Waits are written in ns."""
    _each(folder, KERNELS, lambda row: row.update({_wait(row): _scaled(row[_wait(row)], 1e3)}))


@defect("csv", "kernels of one stream overlap")
def kernel_end_for_duration(folder: Folder) -> None:
    """Wait and duration are exchanged."""
    _each(folder, KERNELS, lambda row: _swap(row, _length(row), _wait(row)))


@defect("csv", "a kernel's name contains its type, and a type has one core")
def kernel_names_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    _rows(folder, KERNELS, lambda rows: _shift_column(rows, _name(rows[0])))


@defect("csv", "a kernel's name contains its type, the statistics count other types")
def kernel_types_of_the_next(folder: Folder) -> None:
    """Types are joined one row too late."""
    _rows(folder, KERNELS, lambda rows: _shift_column(rows, _type(rows[0])))


@defect("csv", "the statistics count other cores, and vector kernels use the cube")
def kernel_cores_exchanged(folder: Folder) -> None:
    """AI_CORE and AI_VECTOR_CORE are exchanged."""
    other = {"AI_CORE": "AI_VECTOR_CORE", "AI_VECTOR_CORE": "AI_CORE"}

    def change(row: Row) -> None:
        row[_core(row)] = other.get(row[_core(row)], row[_core(row)])

    _each(folder, KERNELS, change)


@defect("csv", "shapes, types and formats have other numbers of entries")
def kernel_shapes_of_the_next(folder: Folder) -> None:
    """Shapes are joined one row too late."""
    _rows(folder, KERNELS, lambda rows: _shift_column(rows, "Input Shapes"))


@defect("csv", "FLOAT is no format")
def kernel_formats_and_types_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    _each(folder, KERNELS, lambda row: _swap(row, "Input Data Types", "Input Formats"))


@defect("csv", "the numbers of cycles, times and blocks give no clock")
def kernel_blocks_of_the_next(folder: Folder) -> None:
    """Block numbers are joined one row too late."""

    def change(rows: list[Row]) -> None:
        if "aic_total_cycles" not in rows[0] and "total_cycles" not in rows[0]:
            raise Inapplicable
        _shift_column(rows, _one(rows[0], "Block Dim", "Block Num"))

    _rows(folder, KERNELS, change)


@defect("csv", "kernels without a mixed block count are of another core type")
def kernel_blocks_and_mixed_blocks_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""

    def change(row: Row) -> None:
        block = _one(row, "Block Dim", "Block Num")
        _swap(row, block, f"Mix {block}")

    _each(folder, KERNELS, change)


@defect("csv", "every kernel is listed twice with all its figures")
def kernels_twice(folder: Folder) -> None:
    """The rows are flushed twice."""
    _rows(folder, KERNELS, lambda rows: [row for row in rows for _ in range(2)])


@defect("csv", "the statistics count more kernels, and the wait spans the gap")
def kernels_of_the_first_half_alone(folder: Folder) -> None:
    """A slice of records is lost."""
    folder.files("op_statistic*.csv")
    _rows(folder, KERNELS, lambda rows: rows[: len(rows) // 2])


@defect("csv", "the statistics count more kernels, and the wait spans the gap")
def every_tenth_kernel_lost(folder: Folder) -> None:
    """Records are dropped when the buffer is full."""
    folder.files("op_statistic*.csv")
    _rows(folder, KERNELS, lambda rows: [row for at, row in enumerate(rows) if at % 10 != 5])


@defect("csv", "the statistics have these kernels, the wait of the next one spans them")
def kernels_of_one_type_lost(folder: Folder) -> None:
    """A type of kernels is filtered out."""
    folder.files("op_statistic*.csv")

    def change(rows: list[Row]) -> list[Row]:
        lost = rows[len(rows) // 2][_type(rows[0])]
        return [row for row in rows if row[_type(row)] != lost]

    _rows(folder, KERNELS, change)


@defect("csv", "all kernels have one task id")
def kernel_task_ids_are_zero(folder: Folder) -> None:
    """The id of the task is never filled in."""
    _each(folder, KERNELS, lambda row: row.update({"Task ID": "0"}))


@defect("csv", "streams have numbers of tasks, and tasks of one stream overlap")
def kernel_stream_and_task_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    _each(folder, KERNELS, lambda row: _swap(row, "Stream ID", "Task ID"))


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
                row[name] = _scaled(row[name], 100)

    _counters(folder, change)


def _counters(folder: Folder, change: Callable[[Row], object]) -> None:
    """Change rows of kernels, in folders with counters of cores."""

    def checked(rows: list[Row]) -> None:
        if not any(name.endswith("_ratio") for name in rows[0]):
            raise Inapplicable
        for row in rows:
            change(row)

    _rows(folder, KERNELS, checked)


@defect("csv", "ratios are not those of the times")
def kernel_pipe_times_in_ns(folder: Folder) -> None:
    """Times of pipes are written in ns."""

    def change(row: Row) -> None:
        for name in row:
            if re.search(r"_(vec|mac|scalar|mte\d|fixpipe)_time", "_" + name):
                row[name] = _scaled(row[name], 1000)

    _counters(folder, change)


@defect("csv", "cycles are not those of time, blocks and clock")
def kernel_cycles_of_one_core(folder: Folder) -> None:
    """Cycles are divided by the number of blocks."""

    def change(row: Row) -> None:
        blocks = int(row[_one(row, "Block Dim", "Block Num")] or 0)
        for name in row:
            if name.endswith("total_cycles") and blocks and row[name].strip() not in EMPTY:
                row[name] = str(int(float(row[name])) // blocks)

    _counters(folder, change)


@defect("csv", "cycles of neither core fit its time")
def kernel_cube_and_vector_cycles_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    _each(folder, KERNELS, lambda row: _swap(row, "aic_total_cycles", "aiv_total_cycles"))


@defect("csv", "a share of the bound is above the whole")
def kernel_counters_of_the_next(folder: Folder) -> None:
    """Counters are joined one row too late."""

    def change(rows: list[Row]) -> None:
        names = list(rows[0])
        first = _one(rows[0], "aicore_time(us)")
        if first not in names:
            raise Inapplicable
        for name in names[names.index(first) :]:
            _shift_column(rows, name)

    _rows(folder, KERNELS, change)


@defect("csv", "numbers have a decimal comma")
def kernel_lengths_with_decimal_comma(folder: Folder) -> None:
    """Numbers are printed in the user's locale."""
    _each(
        folder,
        KERNELS,
        lambda row: row.update({_length(row): row[_length(row)].replace(".", ",")}),
    )


@defect("csv", "a rate is above one hundred percent or has none of the digits of percent")
def cube_utilization_as_fraction(folder: Folder) -> None:
    """A percentage is written as a fraction."""

    def change(row: Row) -> None:
        row["cube_utilization(%)"] = _scaled(row["cube_utilization(%)"], 0.01)

    def checked(rows: list[Row]) -> None:
        if not any(row["cube_utilization(%)"].strip() not in {*EMPTY, "0", "0.0"} for row in rows):
            raise Inapplicable
        for row in rows:
            change(row)

    _rows(folder, KERNELS, checked)


# Statistics.

STATISTICS = {
    "op-statistic": ("op_statistic*.csv", "Total Time(us)", "Avg Time(us)", "Count"),
    "api-statistic": ("api_statistic*.csv", "Time(us)", "Avg(us)", "Count"),
    "communication-statistic": (
        "communication_statistic*.csv",
        "Total Time(us)",
        "Avg Time(us)",
        "Count",
    ),
}


def _statistic(label: str) -> None:
    file, total, average, count = STATISTICS[label]
    least, most = ("Min(us)", "Max(us)") if "api" in label else ("Min Time(us)", "Max Time(us)")

    @defect("csv", "average times count is not the total", f"{label}-total-in-ms")
    def total_in_ms(folder: Folder) -> None:
        """The total is written in another unit than its parts."""
        folder.each(file, lambda row: row.update({total: _scaled(row[total], 1e-3)}))

    @defect("csv", "average times count is not the total", f"{label}-count-off-by-one")
    def count_off(folder: Folder) -> None:
        """The last row of each group is counted twice."""
        folder.each(file, lambda row: row.update({count: str(int(row[count]) + 1)}))

    @defect("csv", "the least is more than the most", f"{label}-least-and-most-exchanged")
    def least_most(folder: Folder) -> None:
        """Two columns are written under each other's header."""
        folder.each(file, lambda row: _swap(row, least, most))

    @defect("csv", "average times count is not the total", f"{label}-average-is-median")
    def median(folder: Folder) -> None:
        """The mean of the extremes is written as average."""

        def change(row: Row) -> None:
            middle = (float(row[least]) + float(row[most])) / 2
            row[average] = f"{middle:.3f}"

        folder.each(file, change)

    @defect("csv", "a name stands twice", f"{label}-twice")
    def twice(folder: Folder) -> None:
        """Groups are written for each chunk of rows."""
        folder.rows(file, lambda rows: [row for row in rows for _ in range(2)])


for _label in STATISTICS:
    _statistic(_label)


@defect("csv", "the shares do not sum to one hundred")
def op_statistic_ratio_as_fraction(folder: Folder) -> None:
    """A percentage is written as a fraction."""
    folder.each(
        "op_statistic*.csv", lambda row: row.update({"Ratio(%)": _scaled(row["Ratio(%)"], 0.01)})
    )


@defect("csv", "the kernels have types that are not in the statistics")
def op_statistic_without_its_largest(folder: Folder) -> None:
    """The statistics are of another filter."""
    _present(folder, KERNELS)
    folder.rows("op_statistic*.csv", lambda rows: rows[1:])


@defect("csv", "the kernels of these types have other lengths")
def op_statistic_types_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    _present(folder, KERNELS)
    folder.rows("op_statistic*.csv", lambda rows: _shift_column(rows, "OP Type"))


@defect("csv", "variance and spread contradict each other")
def api_statistic_deviation_for_variance(folder: Folder) -> None:
    """The standard deviation is written under the header of the variance."""

    def change(row: Row) -> None:
        row["Variance"] = f"{float(row['Variance']) ** 0.5:.3f}"

    folder.each("api_statistic*.csv", change)


@defect("csv", "acl functions are no functions of the runtime")
def api_statistic_levels_exchanged(folder: Folder) -> None:
    """The levels acl and runtime are exchanged."""
    other = {"acl": "runtime", "runtime": "acl"}
    folder.each(
        "api_statistic*.csv",
        lambda row: row.update({"Level": other.get(row["Level"], row["Level"])}),
    )


# Memory.


@defect("csv", "levels of memory are a thousand times those of the allocations")
def memory_record_in_other_unit(folder: Folder) -> None:
    """Megabytes are written as kilobytes."""

    def change(row: Row) -> None:
        for name in ("Total Allocated", "Total Reserved", "Total Active"):
            if any(column.startswith(name) for column in row):
                row[_unit(row, name)] = _scaled(row[_unit(row, name)], 1024)

    folder.each("memory_record*.csv", change)


@defect("csv", "more is allocated than reserved")
def memory_allocated_and_reserved_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""

    def change(row: Row) -> None:
        left, right = _unit(row, "Total Allocated"), _unit(row, "Total Reserved")
        if row[left].strip() not in EMPTY:
            _swap(row, left, right)

    folder.each("memory_record*.csv", change)


@defect("csv", "allocations have no level of their instant")
def memory_record_lost_in_the_middle(folder: Folder) -> None:
    """A slice of records is lost."""
    folder.files("operator_memory*.csv")

    def change(rows: list[Row]) -> list[Row]:
        third = len(rows) // 3
        return rows[:third] + rows[2 * third :]

    folder.rows("memory_record*.csv", change)


@defect("csv", "sizes are no multiples of the allocator's block, and do not move the level")
def operator_memory_sizes_in_bytes(folder: Folder) -> None:
    """Bytes are written under a header that says KB."""
    folder.each(
        "operator_memory*.csv", lambda row: row.update({"Size(KB)": _scaled(row["Size(KB)"], 1024)})
    )


@defect("csv", "sizes are no multiples of the allocator's block, and do not move the level")
def operator_memory_sizes_in_mb(folder: Folder) -> None:
    """Megabytes are written under a header that says KB."""

    def change(row: Row) -> None:
        row["Size(KB)"] = str(float(row["Size(KB)"]) / 1024)

    folder.each("operator_memory*.csv", change)


@defect("csv", "sizes do not move the level as they should")
def operator_memory_sizes_of_the_next(folder: Folder) -> None:
    """Sizes are joined one row too late."""
    folder.rows("operator_memory*.csv", lambda rows: _shift_column(rows, "Size(KB)"))


@defect("csv", "the level at the allocation is not that of the memory record")
def operator_memory_levels_of_the_release(folder: Folder) -> None:
    """Levels of allocation and of release are exchanged."""

    def change(row: Row) -> None:
        for name in ("Total Allocated", "Total Reserved", "Total Active"):
            columns = [column for column in row if column.split("(")[0].endswith(name)]
            if len(columns) == 2 and row[columns[1]].strip() not in EMPTY:
                _swap(row, *columns)

    folder.each("operator_memory*.csv", change)


@defect("csv", "memory is released before it is allocated")
def operator_memory_times_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""

    def change(row: Row) -> None:
        if row["Release Time(us)"].strip():
            _swap(row, "Allocation Time(us)", "Release Time(us)")

    folder.each("operator_memory*.csv", change)


@defect("csv", "duration is not release minus allocation")
def operator_memory_durations_in_ms(folder: Folder) -> None:
    """Milliseconds are written under a header that says us."""
    folder.each(
        "operator_memory*.csv",
        lambda row: row.update({"Duration(us)": _scaled(row["Duration(us)"], 1e-3)}),
    )


@defect("csv", "what was never released has a duration from 1970")
def operator_memory_zero_for_unreleased(folder: Folder) -> None:
    """What is unknown is written as 0."""

    def change(row: Row) -> None:
        for name in ("Release Time(us)", "Duration(us)"):
            if name in row and not row[name].strip():
                row[name] = "0"

    folder.each("operator_memory*.csv", change)


@defect("csv", "every allocation is listed twice")
def operator_memory_twice(folder: Folder) -> None:
    """The rows are flushed twice."""
    folder.rows("operator_memory*.csv", lambda rows: [row for row in rows for _ in range(2)])


@defect("csv", "the device of the memory is not that of the folder")
def operator_memory_of_another_device_in_text(folder: Folder) -> None:
    """The file is of another rank."""

    def change(row: Row) -> None:
        name = _one(row, "Device Type", "Device")
        row[name] = "NPU:5"

    folder.each("operator_memory*.csv", change)


@defect("csv", "the device of the memory is not that of the folder")
def memory_record_of_another_device_in_text(folder: Folder) -> None:
    """The file is of another rank."""

    def change(row: Row) -> None:
        name = _one(row, "Device Type", "Device")
        row[name] = "NPU:5"

    folder.each("memory_record*.csv", change)


@defect("csv", "the device of the memory is not that of the folder")
def npu_module_mem_of_another_device_in_text(folder: Folder) -> None:
    """The file is of another rank."""

    def change(row: Row) -> None:
        row["Device"] = "NPU:5"
        if "Device_id" in row:
            row["Device_id"] = "5"

    folder.each("npu_module_mem*.csv", change)


@defect("csv", "the two columns of the device contradict each other")
def npu_module_mem_with_two_devices(folder: Folder) -> None:
    """One of the columns is filled with the number of the rank."""

    def change(row: Row) -> None:
        row["Device_id"] = str(int(row["Device_id"]) + 5)

    folder.each("npu_module_mem*.csv", change)


@defect("csv", "the device of the operators is not that of the folder")
def op_statistic_of_another_device_in_text(folder: Folder) -> None:
    """The file is of another rank."""

    def change(row: Row) -> None:
        if row["Device_id"]:
            row["Device_id"] = "5"

    folder.each("op_statistic*.csv", change)


@defect("csv", "the device of the kernels is not that of the folder")
def kernels_of_another_device_in_text(folder: Folder) -> None:
    """The file is of another rank."""

    def change(row: Row) -> None:
        if row["Device_id"]:
            row["Device_id"] = "5"

    _each(folder, KERNELS, change)


@defect("csv", "the device of the steps is not that of the folder")
def step_trace_of_another_device_in_text(folder: Folder) -> None:
    """The file is of another rank."""

    def change(row: Row) -> None:
        if row["Device_id"]:
            row["Device_id"] = "5"

    folder.each("step_trace*.csv", change)


@defect("csv", "modules reserve a thousand times the memory of the device")
def npu_module_mem_in_bytes(folder: Folder) -> None:
    """Bytes are written under a header that says MB or KB."""

    def change(row: Row) -> None:
        name = _unit(row, "Total Reserved")
        row[name] = _scaled(row[name], 1048576 if "MB" in name else 1024)

    folder.each("npu_module_mem*.csv", change)


@defect("csv", "samples of a module have the same time twice")
def npu_module_samples_twice(folder: Folder) -> None:
    """The rows are flushed twice."""
    folder.rows("npu_module_mem*.csv", lambda rows: [row for row in rows for _ in range(2)])


# Steps.


@defect("csv", "the parts do not sum to the stage")
def step_trace_time_in_ms(folder: Folder) -> None:
    """Milliseconds are written in one column."""
    folder.each(
        "step_trace_time.csv", lambda row: row.update({"Stage": _scaled(row["Stage"], 1e-3)})
    )


@defect("csv", "the parts do not sum")
def step_trace_time_free_and_overlap_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("step_trace_time.csv", lambda row: _swap(row, "Free", "Overlapped"))


@defect("csv", "the kernels of the step last longer than it computes")
def step_trace_time_computing_halved(folder: Folder) -> None:
    """Computing is of one core type alone."""

    def change(row: Row) -> None:
        row["Computing"] = str(float(row["Computing"]) / 2)

    _present(folder, KERNELS)
    folder.each("step_trace_time.csv", change)


@defect("csv", "overlap is communication without what does not overlap")
def step_trace_time_communication_is_not_overlapped(folder: Folder) -> None:
    """Communication is written under the header of its part."""

    def change(row: Row) -> None:
        row["Communication(Not Overlapped)"] = row["Communication"]

    folder.each("step_trace_time.csv", change)


@defect("csv", "the kernels have steps that are not in the step trace")
def step_trace_time_step_off_by_one(folder: Folder) -> None:
    """Steps are counted from 0 in one file and from 1 in another."""
    _present(folder, KERNELS)

    def change(row: Row) -> None:
        if row["Step"]:
            row["Step"] = str(int(row["Step"]) + 1)

    folder.each("step_trace_time.csv", change)


@defect("csv", "an iteration does not take from its start to its end")
def step_trace_lengths_in_ms(folder: Folder) -> None:
    """Milliseconds are written under a header that says us."""
    folder.each(
        "step_trace_[0-9]*.csv",
        lambda row: row.update({"Iteration Time(us)": _scaled(row["Iteration Time(us)"], 1e-3)}),
    )


@defect("csv", "forward ends before it starts")
def step_trace_start_and_end_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("step_trace_[0-9]*.csv", lambda row: _swap(row, "FP Start(us)", "BP End(us)"))


# Other files of msprof and of the adapter.


@defect("csv", "a task lasts longer than from its start to its stop")
def task_time_in_ns(folder: Folder) -> None:
    """Nanoseconds are written under a header that says us."""
    folder.each(
        "task_time*.csv",
        lambda row: row.update({"task_time(us)": _scaled(row["task_time(us)"], 1e3)}),
    )


@defect("csv", "tasks of this name have another type and length in the summary")
def task_time_names_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    _present(folder, KERNELS)
    folder.rows("task_time*.csv", lambda rows: _shift_column(rows, "kernel_name"))


@defect("csv", "tasks stop before they start")
def task_time_start_and_stop_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("task_time*.csv", lambda row: _swap(row, "task_start(us)", "task_stop(us)"))


@defect("csv", "rows of kernels are not in the summary")
def task_time_kernels_lost(folder: Folder) -> None:
    """A slice of records is lost."""
    _present(folder, KERNELS)
    folder.rows("task_time*.csv", lambda rows: rows[: len(rows) // 2])


@defect("csv", "the tasks are no kernels of that name")
def l2_cache_names_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    _present(folder, KERNELS)
    folder.rows("l2_cache*.csv", lambda rows: _shift_column(rows, "Op Name"))


@defect("csv", "rates above one")
def l2_cache_rates_in_percent(folder: Folder) -> None:
    """Fractions are written in percent."""
    folder.each(
        "l2_cache*.csv", lambda row: row.update({"Hit Rate": _scaled(row["Hit Rate"], 100)})
    )


@defect("csv", "no kernel has the task")
def l2_cache_task_off_by_one(folder: Folder) -> None:
    """Tasks are counted from 1 instead of 0."""
    _present(folder, KERNELS)
    folder.each(
        "l2_cache*.csv", lambda row: row.update({"Task Id": str(int(row["Task Id"]) + 10000)})
    )


@defect("csv", "a call takes less than what it calls")
def operator_details_self_and_total_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each(
        "operator_details.csv",
        lambda row: _swap(row, "Host Self Duration(us)", "Host Total Duration(us)"),
    )


@defect("csv", "calls on the device last longer than all kernels")
def operator_details_device_in_ns(folder: Folder) -> None:
    """Nanoseconds are written under a header that says us."""
    _present(folder, KERNELS)

    def change(row: Row) -> None:
        for name in row:
            if name.startswith("Device "):
                row[name] = _scaled(row[name], 1e3)

    folder.each("operator_details.csv", change)


@defect("csv", "calls on AI cores last longer than on the device")
def operator_details_with_aicore_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each(
        "operator_details.csv",
        lambda row: _swap(row, "Device Total Duration(us)", "Device Self Duration(us)"),
    )


@defect("csv", "shares do not sum to one hundred")
def cpu_usage_as_fraction(folder: Folder) -> None:
    """Percentages are written as fractions."""

    def change(row: Row) -> None:
        for name in row:
            if name.endswith("(%)"):
                row[name] = _scaled(row[name], 0.01)

    folder.each("cpu_usage_[0-9]*.csv", change)


@defect("csv", "hits and misses do not sum to one")
def soc_pmu_hits_and_misses_equal(folder: Folder) -> None:
    """The rate of hits is written twice."""
    folder.each("soc_pmu*.csv", lambda row: row.update({"TLB Miss Rate": row["TLB Hit Rate"]}))


@defect("csv", "the parts do not sum to the total")
def fusion_op_total_in_bytes(folder: Folder) -> None:
    """Bytes are written under a header that says KB."""
    folder.each(
        "fusion_op*.csv",
        lambda row: row.update({"Memory Total(KB)": _scaled(row["Memory Total(KB)"], 1024)}),
    )


@defect("csv", "time divided by calls is not the average")
def os_runtime_statistic_in_ms(folder: Folder) -> None:
    """The total is written in another unit than its parts."""
    folder.each(
        "os_runtime_statistic*.csv",
        lambda row: row.update({"Time(us)": _scaled(row["Time(us)"], 1e-3)}),
    )


@defect("csv", "the least is more than the most")
def hccs_least_and_most_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("hccs*.csv", lambda row: _swap(row, "Max", "Min"))


@defect("csv", "the metric's average is not that of its rows")
def hbm_average_halved(folder: Folder) -> None:
    """The average is taken over twice as many channels."""

    def change(row: Row) -> None:
        if row["Metric"] == "Average":
            for name in ("Read(MB/s)", "Write(MB/s)"):
                row[name] = _scaled(row[name], 0.5)

    folder.each("hbm_[0-9]*.csv", change)


@defect("csv", "the memory of the device is not that of the record of memory")
def npu_mem_in_bytes(folder: Folder) -> None:
    """Bytes are written under a header that says KB."""

    def change(row: Row) -> None:
        for name in ("ddr(KB)", "hbm(KB)", "memory(KB)"):
            row[name] = _scaled(row[name], 1024)

    folder.each("npu_mem_[0-9]*.csv", change)


@defect("csv", "the sum of DDR and HBM is not the memory")
def npu_mem_hbm_and_ddr_added_twice(folder: Folder) -> None:
    """A part is added twice."""

    def change(row: Row) -> None:
        row["memory(KB)"] = _scaled(row["memory(KB)"], 2)

    folder.each("npu_mem_[0-9]*.csv", change)


@defect("csv", "the parts of a node last longer than the whole")
def aicpu_times_in_ms(folder: Folder) -> None:
    """The total is written in another unit than its parts."""
    folder.each(
        "aicpu_[0-9]*.csv",
        lambda row: row.update({"Total_time(us)": _scaled(row["Total_time(us)"], 1e-3)}),
    )


@defect("csv", "a mark ends before it starts")
def msprof_tx_start_and_end_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("msprof_tx*.csv", lambda row: _swap(row, "Start_time(us)", "End_time(us)"))


@defect("csv", "marks name processes that are threads of none")
def msprof_tx_process_and_thread_exchanged(folder: Folder) -> None:
    """Process and thread are exchanged, which changes rows of other threads alone."""
    folder.each("msprof_tx*.csv", lambda row: _swap(row, "pid", "tid"))


# Whole files.


@defect("csv", "a column that every writer has is absent")
def kernel_details_without_its_lengths(folder: Folder) -> None:
    """A column is lost by a filter of columns."""

    def change(rows: list[Row]) -> list[Row]:
        lost = _length(rows[0])
        return [{name: cell for name, cell in row.items() if name != lost} for row in rows]

    _rows(folder, KERNELS, change)


@defect("csv", "the header has one column twice")
def kernel_details_is_a_spreadsheet(folder: Folder) -> None:
    """A spreadsheet saved the file: large numbers in scientific notation."""

    def change(row: Row) -> None:
        row[_start(row)] = f"{float(row[_start(row)]):.5E}"

    _each(folder, KERNELS, change)


@defect("csv", "the last row ends in the middle")
def kernels_cut_in_the_last_row(folder: Folder) -> None:
    """The disk is full."""
    path = folder.files(_present(folder, KERNELS))[0]
    path.write_bytes(path.read_bytes()[:-60])


@defect("csv", "cells hold characters of a broken encoding")
def kernels_in_utf_16(folder: Folder) -> None:
    """The file is written in the encoding of Windows."""
    path = folder.files(_present(folder, KERNELS))[0]
    path.write_bytes(path.read_bytes().decode().encode("utf-16"))


@defect("csv", "columns are separated otherwise")
def kernels_with_semicolons(folder: Folder) -> None:
    """The file is written in the locale of a spreadsheet."""
    path = folder.files(_present(folder, KERNELS))[0]
    path.write_bytes(path.read_bytes().replace(b",", b";"))


@defect("csv", "a file that belongs to the others is absent")
def kernels_absent(folder: Folder) -> None:
    """One writer failed."""
    if len(list(folder.path.rglob("*.csv"))) < 3:
        raise Inapplicable
    folder.files(_present(folder, KERNELS))[0].unlink()


@defect("csv", "the header has no rows, and others have kernels")
def op_statistic_empty(folder: Folder) -> None:
    """One writer failed."""
    _present(folder, KERNELS)
    path = folder.files("op_statistic*.csv")[0]
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


# JSON documents of collectives.


def _operations(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Collectives of communication.json, by name."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            yield from step[kind].items()


def _times(value: Any) -> Iterator[dict[str, Any]]:
    for _, one in _operations(value):
        yield one["Communication Time Info"]


def _bandwidths(value: Any) -> Iterator[dict[str, Any]]:
    for _, one in _operations(value):
        yield from one["Communication Bandwidth Info"].values()


def _document(
    name: str, seen_by: str, file: str = "communication.json"
) -> Callable[[Callable[[Any], object]], None]:
    """Register a defect that changes a document in place."""

    def register(change: Callable[[Any], object]) -> None:
        def apply(folder: Folder) -> None:
            folder.document(file, change)

        apply.__doc__ = change.__doc__
        defect("document", seen_by, name)(apply)

    return register


@_document("collective-starts-in-local-time", "it lies hours outside all other files")
def _starts_local(value: Any) -> None:
    """Local time is written as if it were UTC."""
    for one in _times(value):
        if one.get("Start Timestamp(us)"):
            one["Start Timestamp(us)"] += HOURS_8_US


@_document("collective-starts-in-ms", "it lies decades outside all other files")
def _starts_ms(value: Any) -> None:
    """Milliseconds are written under a name that says us."""
    for one in _times(value):
        if one.get("Start Timestamp(us)"):
            one["Start Timestamp(us)"] /= 1000


@_document("collective-elapse-in-us", "elapsed is not the sum of its parts")
def _elapse_us(value: Any) -> None:
    """Microseconds are written under a name that says ms."""
    for one in _times(value):
        one["Elapse Time(ms)"] *= 1000


@_document("collective-all-times-in-us", "elapsed is longer than the step")
def _all_us(value: Any) -> None:
    """Microseconds are written under names that say ms."""
    for one in _times(value):
        for name in one:
            if name.endswith("(ms)"):
                one[name] *= 1000


@_document("collective-wait-and-transit-exchanged", "the ratio of waiting is not of these times")
def _wait_transit(value: Any) -> None:
    """Two members are written under each other's name."""
    for one in _times(value):
        one["Wait Time(ms)"], one["Transit Time(ms)"] = (
            one["Transit Time(ms)"],
            one["Wait Time(ms)"],
        )


@_document("collective-wait-ratio-in-percent", "a share above one")
def _ratio_percent(value: Any) -> None:
    """Fractions are written in percent."""
    for one in _times(value):
        one["Wait Time Ratio"] *= 100


@_document("collective-synchronisation-longer-than-wait", "a part is more than the whole")
def _synchronisation(value: Any) -> None:
    """Synchronisation and waiting are exchanged in their sums."""
    for one in _times(value):
        one["Synchronization Time(ms)"] = one["Wait Time(ms)"] + one["Transit Time(ms)"] + 0.01


@_document("collective-sizes-in-bytes", "size divided by time is not the bandwidth")
def _sizes_bytes(value: Any) -> None:
    """Bytes are written under a name that says MB."""
    for one in _bandwidths(value):
        one["Transit Size(MB)"] *= 1_000_000


@_document("collective-sizes-in-mebibytes", "size divided by time is not the bandwidth")
def _sizes_mebi(value: Any) -> None:
    """Mebibytes are written as megabytes, which the bandwidth is not."""
    for one in _bandwidths(value):
        one["Transit Size(MB)"] *= 1_000_000 / 1_048_576


@_document("collective-bandwidth-in-mb", "size divided by time is not the bandwidth")
def _bandwidth_mb(value: Any) -> None:
    """MB/s are written under a name that says GB/s."""
    for one in _bandwidths(value):
        if one.get("Bandwidth(GB/s)"):
            one["Bandwidth(GB/s)"] *= 1000


@_document("collective-distribution-of-another", "the distribution does not sum to the size")
def _distribution(value: Any) -> None:
    """Counts of packets are taken twice."""
    for one in _bandwidths(value):
        for entry in one["Size Distribution"].values():
            entry[0] *= 2


@_document("collective-transports-exchanged", "SDMA is the sum of HCCS, PCIE and SIO")
def _transports(value: Any) -> None:
    """RDMA and HCCS are exchanged."""
    for _, one in _operations(value):
        bandwidths = one["Communication Bandwidth Info"]
        bandwidths["RDMA"], bandwidths["HCCS"] = bandwidths["HCCS"], bandwidths["RDMA"]


@_document("collective-totals-without-the-last", "the total is not the sum of the operations")
def _totals(value: Any) -> None:
    """The last collective is not added."""
    for step in value.values():
        names = [name for name in step["collective"] if not name.startswith("Total")]
        if len(names) > 1:
            del step["collective"][names[-1]]


@_document("collective-step-off-by-one", "other files have no such step")
def _step_off(value: Any) -> None:
    """Steps are counted from 0 in one file and from 1 in another."""
    for name in list(value):
        found = re.fullmatch(r"step(\d+)", name)
        if found:
            value[f"step{int(found[1]) + 1}"] = value.pop(name)


@_document("collective-without-group", "the name ends in a group in all other files")
def _groupless(value: Any) -> None:
    """The hash of the group is not appended."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            step[kind] = {name.partition("@")[0]: one for name, one in step[kind].items()}


@_document("collective-group-differs", "the matrix has another group")
def _other_group(value: Any) -> None:
    """The hash of the group is taken with another sign."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            step[kind] = {
                re.sub(r"@(\d+)", lambda m: f"@{(1 << 64) - int(m[1])}", name): one
                for name, one in step[kind].items()
            }


@_document("collective-times-of-the-next", "starts are not in the order of the names' numbers")
def _times_of_next(value: Any) -> None:
    """Times are joined one operation too late."""
    listed = [one for name, one in _operations(value) if not name.startswith("Total")]
    infos = [one["Communication Time Info"] for one in listed]
    if len(infos) < 2:
        raise Inapplicable
    for one, info in zip(listed, [*infos[1:], infos[0]], strict=True):
        one["Communication Time Info"] = info


def _links(value: Any) -> Iterator[dict[str, dict[str, Any]]]:
    """Links of each operation of communication_matrix.json."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            yield from step[kind].values()


MATRIX = "communication_matrix.json"


@_document("matrix-json-source-and-destination-exchanged", "links of one rank start at it", MATRIX)
def _matrix_transposed(value: Any) -> None:
    """The matrix is transposed."""
    for links in _links(value):
        found = {"-".join(reversed(name.split("-"))): one for name, one in links.items()}
        links.clear()
        links.update(found)


@_document("matrix-json-bandwidth-in-mb", "size divided by time is not the bandwidth", MATRIX)
def _matrix_bandwidth(value: Any) -> None:
    """MB/s are written under a name that says GB/s."""
    for links in _links(value):
        for one in links.values():
            one["Bandwidth(GB/s)"] *= 1000


@_document("matrix-json-sizes-in-bytes", "size divided by time is not the bandwidth", MATRIX)
def _matrix_sizes(value: Any) -> None:
    """Bytes are written under a name that says MB."""
    for links in _links(value):
        for one in links.values():
            one["Transit Size(MB)"] *= 1_000_000


@_document("matrix-json-times-in-us", "size divided by time is not the bandwidth", MATRIX)
def _matrix_times(value: Any) -> None:
    """Microseconds are written under a name that says ms."""
    for links in _links(value):
        for one in links.values():
            one["Transit Time(ms)"] *= 1000


@_document("matrix-json-local-for-remote", "a link to another rank is not local", MATRIX)
def _matrix_local(value: Any) -> None:
    """The type of the link is taken of the first."""
    for links in _links(value):
        for one in links.values():
            one["Transport Type"] = "LOCAL"


@_document("matrix-json-without-total", "the operations are not summed", MATRIX)
def _matrix_totals(value: Any) -> None:
    """The sums are not written."""
    for step in value.values():
        for kind in ("p2p", "collective"):
            for name in [name for name in step[kind] if "-total@" in name]:
                del step[kind][name]


@_document("matrix-json-operation-of-another", "communication.json has no such operation", MATRIX)
def _matrix_names(value: Any) -> None:
    """Operations are numbered from 1."""
    for links in _links(value):
        for one in links.values():
            one["Op Name"] = re.sub(
                r"_(\d+)_1$", lambda m: f"_{int(m[1]) + 1000}_1", one.get("Op Name", "")
            )


@_document("profiler-info-of-another-rank", "the name of the file has another rank", "profiler_i*")
def _info_rank(value: Any) -> None:
    """The file is of another rank."""
    if "rank_id" not in value:
        raise Inapplicable
    value["rank_id"] += 3


@_document("profiler-info-ends-before-its-start", "the capture ends before its data", "profiler_i*")
def _info_end(value: Any) -> None:
    """The end is written in us."""
    value["end_info"]["collectionTimeEnd"] //= 1000


@_document("profiler-info-level-as-number", "a level is a word", "profiler_i*")
def _info_level(value: Any) -> None:
    """The number of an enum is written instead of its name."""
    value["config"]["experimental_config"]["_profiler_level"] = 1


@_document("metadata-rank-outside-its-group", "a rank is one of its groups' ranks", "profiler_m*")
def _metadata_rank(value: Any) -> None:
    """Groups are those of another rank."""
    groups = value.get("parallel_group_info")
    if not groups:
        raise Inapplicable
    for one in groups.values():
        one["global_ranks"] = [rank + 8 for rank in one["global_ranks"]]


@_document("metadata-group-rank-off-by-one", "group_rank is the place in the list", "profiler_m*")
def _metadata_group_rank(value: Any) -> None:
    """Ranks of groups are counted from 1."""
    groups = value.get("parallel_group_info")
    if not groups:
        raise Inapplicable
    for one in groups.values():
        one["group_rank"] += 1


@defect("document", "the document ends in the middle")
def communication_cut(folder: Folder) -> None:
    """The disk is full."""
    path = folder.files("communication.json")[0]
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@defect("document", "NaN is no JSON")
def communication_with_nan(folder: Folder) -> None:
    """A division by zero is printed."""
    path = folder.files("communication.json")[0]
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'("Bandwidth\(GB/s\)": )0(\.0)?\b', r"\1NaN", text), encoding="utf-8")


@defect("document", "the matrix and the operations are one file under two names")
def matrix_in_place_of_operations(folder: Folder) -> None:
    """Two files are written from one variable."""
    target = folder.files("communication.json")[0]
    shutil.copyfile(folder.files("communication_matrix.json")[0], target)


@defect("document", "all operations are in one step, kernels in several")
def collectives_of_all_steps_in_the_first(folder: Folder) -> None:
    """The step of a collective is not looked up."""
    path = folder.files("communication.json")[0]
    value = json.loads(path.read_text(encoding="utf-8"))
    if len(value) < 2:
        raise Inapplicable
    first, *others = value
    for other in others:
        for kind in ("p2p", "collective"):
            value[first][kind] = {**value[other][kind], **value[first][kind]}
        del value[other]
    path.write_text(json.dumps(value), encoding="utf-8")
