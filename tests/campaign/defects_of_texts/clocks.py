"""Clocks: the same three mistakes in each column of times."""

from __future__ import annotations

from collections.abc import Callable

from damaged_profiles import Folder, Row
from exporter_defects import defect

from .cells import EMPTY, HOURS_8_US, moved

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
        change(folder, lambda cell: moved(cell, HOURS_8_US))

    @defect("csv", "it lies decades outside all other files", f"{lower}-csv-since-boot")
    def since_boot(folder: Folder) -> None:
        """The clock since boot is not converted to Unix time."""
        change(folder, lambda cell: moved(cell, -1_700_000_000_000_000))

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
