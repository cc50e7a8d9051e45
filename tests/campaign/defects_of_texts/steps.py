"""step_trace_time.csv."""

from __future__ import annotations

from damaged_profiles import Folder, Row
from exporter_defects import defect

from .cells import KERNELS, present_in, scaled, swap


@defect("csv", "the parts do not sum to the stage")
def step_trace_time_in_ms(folder: Folder) -> None:
    """Milliseconds are written in one column."""
    folder.each(
        "step_trace_time.csv", lambda row: row.update({"Stage": scaled(row["Stage"], 1e-3)})
    )


@defect("csv", "the parts do not sum")
def step_trace_time_free_and_overlap_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("step_trace_time.csv", lambda row: swap(row, "Free", "Overlapped"))


@defect("csv", "the kernels of the step last longer than it computes")
def step_trace_time_computing_halved(folder: Folder) -> None:
    """Computing is of one core type alone."""

    def change(row: Row) -> None:
        row["Computing"] = str(float(row["Computing"]) / 2)

    present_in(folder, KERNELS)
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
    present_in(folder, KERNELS)

    def change(row: Row) -> None:
        if row["Step"]:
            row["Step"] = str(int(row["Step"]) + 1)

    folder.each("step_trace_time.csv", change)


@defect("csv", "an iteration does not take from its start to its end")
def step_trace_lengths_in_ms(folder: Folder) -> None:
    """Milliseconds are written under a header that says us."""
    folder.each(
        "step_trace_[0-9]*.csv",
        lambda row: row.update({"Iteration Time(us)": scaled(row["Iteration Time(us)"], 1e-3)}),
    )


@defect("csv", "forward ends before it starts")
def step_trace_start_and_end_exchanged(folder: Folder) -> None:
    """Two columns are written under each other's header."""
    folder.each("step_trace_[0-9]*.csv", lambda row: swap(row, "FP Start(us)", "BP End(us)"))
