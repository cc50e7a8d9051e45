"""Other files of msprof and of the adapter."""

from __future__ import annotations

from damaged_profiles import Folder, Row
from exporter_defects import defect

from .cells import KERNELS, present_in, scaled, shift_column, swap


@defect("csv", "a task lasts longer than from its start to its stop")
def task_time_in_ns(folder: Folder) -> None:
    """Nanoseconds are written under a header that says us."""
    folder.each(
        "task_time*.csv",
        lambda row: row.update({"task_time(us)": scaled(row["task_time(us)"], 1e3)}),
    )


@defect("csv", "tasks of this name have another type and length in the summary")
def task_time_names_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    present_in(folder, KERNELS)
    folder.rows("task_time*.csv", lambda rows: shift_column(rows, "kernel_name"))


@defect("csv", "tasks stop before they start")
def task_time_start_and_stop_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("task_time*.csv", lambda row: swap(row, "task_start(us)", "task_stop(us)"))


@defect("csv", "rows of kernels are not in the summary")
def task_time_kernels_lost(folder: Folder) -> None:
    """A slice of records is lost."""
    present_in(folder, KERNELS)
    folder.rows("task_time*.csv", lambda rows: rows[: len(rows) // 2])


@defect("csv", "the tasks are no kernels of that name")
def l2_cache_names_of_the_next(folder: Folder) -> None:
    """Names are joined one row too late."""
    present_in(folder, KERNELS)
    folder.rows("l2_cache*.csv", lambda rows: shift_column(rows, "Op Name"))


@defect("csv", "rates above one")
def l2_cache_rates_in_percent(folder: Folder) -> None:
    """Fractions are written in percent."""
    folder.each("l2_cache*.csv", lambda row: row.update({"Hit Rate": scaled(row["Hit Rate"], 100)}))


@defect("csv", "no kernel has the task")
def l2_cache_task_off_by_one(folder: Folder) -> None:
    """Tasks are counted from 1 instead of 0."""
    present_in(folder, KERNELS)
    folder.each(
        "l2_cache*.csv", lambda row: row.update({"Task Id": str(int(row["Task Id"]) + 10000)})
    )


@defect("csv", "a call takes less than what it calls")
def operator_details_self_and_total_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each(
        "operator_details.csv",
        lambda row: swap(row, "Host Self Duration(us)", "Host Total Duration(us)"),
    )


@defect("csv", "calls on the device last longer than all kernels")
def operator_details_device_in_ns(folder: Folder) -> None:
    """Nanoseconds are written under a header that says us."""
    present_in(folder, KERNELS)

    def change(row: Row) -> None:
        for name in row:
            if name.startswith("Device "):
                row[name] = scaled(row[name], 1e3)

    folder.each("operator_details.csv", change)


@defect("csv", "calls on AI cores last longer than on the device")
def operator_details_with_aicore_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each(
        "operator_details.csv",
        lambda row: swap(row, "Device Total Duration(us)", "Device Self Duration(us)"),
    )


@defect("csv", "shares do not sum to one hundred")
def cpu_usage_as_fraction(folder: Folder) -> None:
    """Percentages are written as fractions."""

    def change(row: Row) -> None:
        for name in row:
            if name.endswith("(%)"):
                row[name] = scaled(row[name], 0.01)

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
        lambda row: row.update({"Memory Total(KB)": scaled(row["Memory Total(KB)"], 1024)}),
    )


@defect("csv", "time divided by calls is not the average")
def os_runtime_statistic_in_ms(folder: Folder) -> None:
    """The total is written in another unit than its parts."""
    folder.each(
        "os_runtime_statistic*.csv",
        lambda row: row.update({"Time(us)": scaled(row["Time(us)"], 1e-3)}),
    )


@defect("csv", "the least is more than the most")
def hccs_least_and_most_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("hccs*.csv", lambda row: swap(row, "Max", "Min"))


@defect("csv", "the metric's average is not that of its rows")
def hbm_average_halved(folder: Folder) -> None:
    """The average is taken over twice as many channels."""

    def change(row: Row) -> None:
        if row["Metric"] == "Average":
            for name in ("Read(MB/s)", "Write(MB/s)"):
                row[name] = scaled(row[name], 0.5)

    folder.each("hbm_[0-9]*.csv", change)


@defect("csv", "the memory of the device is not that of the record of memory")
def npu_mem_in_bytes(folder: Folder) -> None:
    """Bytes are written under a header that says KB."""

    def change(row: Row) -> None:
        for name in ("ddr(KB)", "hbm(KB)", "memory(KB)"):
            row[name] = scaled(row[name], 1024)

    folder.each("npu_mem_[0-9]*.csv", change)


@defect("csv", "the sum of DDR and HBM is not the memory")
def npu_mem_hbm_and_ddr_added_twice(folder: Folder) -> None:
    """A part is added twice."""

    def change(row: Row) -> None:
        row["memory(KB)"] = scaled(row["memory(KB)"], 2)

    folder.each("npu_mem_[0-9]*.csv", change)


@defect("csv", "the parts of a node last longer than the whole")
def aicpu_times_in_ms(folder: Folder) -> None:
    """The total is written in another unit than its parts."""
    folder.each(
        "aicpu_[0-9]*.csv",
        lambda row: row.update({"Total_time(us)": scaled(row["Total_time(us)"], 1e-3)}),
    )


@defect("csv", "a mark ends before it starts")
def msprof_tx_start_and_end_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("msprof_tx*.csv", lambda row: swap(row, "Start_time(us)", "End_time(us)"))


@defect("csv", "marks name processes that are threads of none")
def msprof_tx_process_and_thread_exchanged(folder: Folder) -> None:
    """Process and thread are exchanged, which changes rows of other threads alone."""
    folder.each("msprof_tx*.csv", lambda row: swap(row, "pid", "tid"))
