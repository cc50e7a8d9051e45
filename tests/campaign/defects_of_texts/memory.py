"""Files of memory."""

from __future__ import annotations

from damaged_profiles import Folder, Row
from exporter_defects import defect

from .cells import EMPTY, KERNELS, each_row, one_of, scaled, shift_column, swap, unit_of


@defect("csv", "levels of memory are a thousand times those of the allocations")
def memory_record_in_other_unit(folder: Folder) -> None:
    """Megabytes are written as kilobytes."""

    def change(row: Row) -> None:
        for name in ("Total Allocated", "Total Reserved", "Total Active"):
            if any(column.startswith(name) for column in row):
                row[unit_of(row, name)] = scaled(row[unit_of(row, name)], 1024)

    folder.each("memory_record*.csv", change)


@defect("csv", "more is allocated than reserved")
def memory_allocated_and_reserved_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""

    def change(row: Row) -> None:
        left, right = unit_of(row, "Total Allocated"), unit_of(row, "Total Reserved")
        if row[left].strip() not in EMPTY:
            swap(row, left, right)

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
        "operator_memory*.csv", lambda row: row.update({"Size(KB)": scaled(row["Size(KB)"], 1024)})
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
    folder.rows("operator_memory*.csv", lambda rows: shift_column(rows, "Size(KB)"))


@defect("csv", "the level at the allocation is not that of the memory record")
def operator_memory_levels_of_the_release(folder: Folder) -> None:
    """Levels of allocation and of release are exchanged."""

    def change(row: Row) -> None:
        for name in ("Total Allocated", "Total Reserved", "Total Active"):
            columns = [column for column in row if column.split("(")[0].endswith(name)]
            if len(columns) == 2 and row[columns[1]].strip() not in EMPTY:
                swap(row, *columns)

    folder.each("operator_memory*.csv", change)


@defect("csv", "memory is released before it is allocated")
def operator_memory_times_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""

    def change(row: Row) -> None:
        if row["Release Time(us)"].strip():
            swap(row, "Allocation Time(us)", "Release Time(us)")

    folder.each("operator_memory*.csv", change)


@defect("csv", "duration is not release minus allocation")
def operator_memory_durations_in_ms(folder: Folder) -> None:
    """Milliseconds are written under a header that says us."""
    folder.each(
        "operator_memory*.csv",
        lambda row: row.update({"Duration(us)": scaled(row["Duration(us)"], 1e-3)}),
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
        name = one_of(row, "Device Type", "Device")
        row[name] = "NPU:5"

    folder.each("operator_memory*.csv", change)


@defect("csv", "the device of the memory is not that of the folder")
def memory_record_of_another_device_in_text(folder: Folder) -> None:
    """The file is of another rank."""

    def change(row: Row) -> None:
        name = one_of(row, "Device Type", "Device")
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

    each_row(folder, KERNELS, change)


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
        name = unit_of(row, "Total Reserved")
        row[name] = scaled(row[name], 1048576 if "MB" in name else 1024)

    folder.each("npu_module_mem*.csv", change)


@defect("csv", "samples of a module have the same time twice")
def npu_module_samples_twice(folder: Folder) -> None:
    """The rows are flushed twice."""
    folder.rows("npu_module_mem*.csv", lambda rows: [row for row in rows for _ in range(2)])
