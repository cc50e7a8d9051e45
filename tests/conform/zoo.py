"""Defective exporters: the reference exporter with one bug each.

A bug changes either the database that the exporter reads (``before``), as a wrong join or a wrong
column does, or the files that it writes (``after``). Where there is nothing to change the exporter
is right. ``larger``: why no case of at most three operators shows the bug.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))

from damaged_profiles import Database, Folder, Row, Timeline, later
from exporter_defects import Inapplicable

from ascend_conformance.harness.database_to_text import reference
from ascend_conformance.harness.exporters import Function
from ascend_ref.profile.export import databases

KERNELS = ("kernel_details*.csv", "op_summary_*.csv")
STARTS = ("Start Time(us)", "Task Start Time(us)", "task_start(us)", "Timestamp(us)")
LENGTHS = ("Duration(us)", "Task Duration(us)", "task_time(us)")
WAITS = ("Wait Time(us)", "Task Wait Time(us)")
When = Literal["before", "after"]


Applies = Callable[[Any], object]


@dataclass(frozen=True)
class Bug:
    """``export``: what the defective exporter does; ``source``: the changelog or thread that it is
    from.
    """

    name: str
    imitates: str
    export: Callable[[Path, Path], object]
    larger: str | None = None
    source: str | None = None

    def exporter(self) -> Function:
        return Function(self.name, self.export)


def register(
    bugs: dict[str, Bug],
    export: Callable[[Applies, Path, Path], object],
    larger: str | None = None,
    source: str | None = None,
) -> Callable[[Applies], Applies]:
    """A decorator of functions that are bugs, each of its own name and docstring."""

    def add(apply: Applies) -> Applies:
        name = apply.__name__.replace("_", "-")
        words = (apply.__doc__ or "").strip()
        bugs[name] = Bug(name, words, partial(export, apply), larger, source)
        return apply

    return add


def export_changed(
    export: Callable[[Path, Path], object], apply: Applies, source: Path, target: Path
) -> None:
    """Export a copy that was changed, or the same where there is nothing to change."""
    with TemporaryDirectory() as place:
        copy = Path(place) / source.name
        shutil.copytree(source, copy)
        with suppress(Inapplicable):
            apply(copy)
        export(copy, target)


BUGS: dict[str, Bug] = {}


def bug(when: When, larger: str | None = None) -> Callable[[Applies], Applies]:
    return register(BUGS, EXPORTS[when], larger)


def _change_and_export(apply: Applies, source: Path, target: Path) -> None:
    export_changed(reference, lambda copy: apply(Database(databases(copy)[0])), source, target)


def _export_and_change(apply: Applies, source: Path, target: Path) -> None:
    reference(source, target)
    with suppress(Inapplicable):
        apply(Folder(target))


EXPORTS: Mapping[When, Callable[[Applies, Path, Path], None]] = {
    "before": _change_and_export,
    "after": _export_and_change,
}


def cells(folder: Folder, columns: tuple[str, ...], change: Callable[[str], str]) -> None:
    """Change the cells of some columns in every CSV file that has one of them."""

    def changed(row: Row) -> None:
        for name in columns:
            if row.get(name, "").strip() not in ("", "N/A"):
                row[name] = change(row[name])

    folder.each("*.csv", changed)


def number(cell: str, change: Callable[[float], float], digits: int = 3) -> str:
    tab = "\t" if cell.endswith("\t") else ""
    return f"{change(float(cell)):.{digits}f}{tab}"


def nanoseconds(cell: str) -> int:
    whole, _, rest = cell.strip().partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


def stamp(value: int, like: str) -> str:
    return f"{value // 1000}.{value % 1000:03}" + ("\t" if like.endswith("\t") else "")


def present(row: Row, names: tuple[str, ...]) -> str:
    return next(name for name in names if name in row)


# --- what the database is read as ---


@bug("before")
def dangling_names(database: Database) -> None:
    """Names of operators are looked up in another table of texts."""
    database.change("UPDATE COMPUTE_TASK_INFO SET name = 4000000000")


@bug("before")
def context_ignored(database: Database) -> None:
    """The context of a task is not read."""
    database.change("UPDATE TASK SET contextId = 7 WHERE contextId <> 7")


@bug("before")
def joined_by_task_only(database: Database) -> None:
    """Kernels are joined to tasks by taskId, which two devices of a process share."""
    database.change(
        "UPDATE TASK SET "
        "startNs = (SELECT min(o.startNs) FROM TASK o WHERE o.taskId = TASK.taskId), "
        "endNs = (SELECT min(o.endNs) FROM TASK o WHERE o.taskId = TASK.taskId)"
    )


@bug("before")
def clock_of_one_device(database: Database) -> None:
    """The times of the last device are shifted as if it had the clock of another."""
    database.change(
        "UPDATE TASK SET startNs = startNs + 5000, endNs = endNs + 5000 "
        "WHERE deviceId = (SELECT max(deviceId) FROM TASK)"
    )


@bug("before")
def devices_mixed(database: Database) -> None:
    """All tasks are of the first device."""
    database.change("UPDATE TASK SET deviceId = 7 WHERE deviceId <> 7")


@bug("before")
def launches_without_connection(database: Database) -> None:
    """Tasks are not connected to the call that launched them."""
    database.change("UPDATE TASK SET connectionId = 4294967295 WHERE connectionId < 4294967295")


@bug("before")
def last_task_dropped(database: Database) -> None:
    """A loop over tasks ends one too early."""
    database.change("DELETE FROM TASK WHERE startNs = (SELECT max(startNs) FROM TASK)")


@bug("before")
def first_task_dropped(database: Database) -> None:
    """Tasks before the first host call are thrown away."""
    database.change(
        "DELETE FROM TASK WHERE globalTaskId = (SELECT globalTaskId FROM COMPUTE_TASK_INFO LIMIT 1)"
    )


@bug("before")
def float32_times(database: Database) -> None:
    """Times relative to the start are kept in 32-bit floats."""
    database.change(
        "UPDATE TASK SET startNs = startNs / 64 * 64 WHERE startNs % 64",
        "UPDATE TASK SET endNs = endNs / 64 * 64 WHERE endNs % 64",
    )


@bug("before")
def operators_of_another_type(database: Database) -> None:
    """The name of the operator is shown as its type."""
    database.change("UPDATE COMPUTE_TASK_INFO SET opType = name WHERE opType <> name")


# --- what is written ---


@bug("after")
def lengths_in_ns(folder: Folder) -> None:
    """Durations are written in ns under a header that says us."""
    cells(folder, LENGTHS, lambda cell: number(cell, lambda value: value * 1000))


@bug("after")
def lengths_in_whole_us(folder: Folder) -> None:
    """Durations are divided as whole numbers."""
    cells(folder, LENGTHS, lambda cell: number(cell, math.floor))


@bug("after")
def starts_as_float64_ns(folder: Folder) -> None:
    """Unix times in ns go through a 64-bit float, which holds 256 ns."""
    cells(folder, STARTS, lambda cell: stamp(int(float(nanoseconds(cell))), cell))


@bug("after")
def starts_in_local_time(folder: Folder) -> None:
    """Times are those of a time zone."""
    cells(folder, STARTS, lambda cell: stamp(nanoseconds(cell) + 8 * 3600 * 10**9, cell))


@bug("after")
def sorted_as_text(folder: Folder) -> None:
    """Rows are sorted by a number as a text."""
    folder.rows("api_statistic*.csv", lambda rows: rows.sort(key=lambda row: row["Time(us)"]))


@bug("after")
def cut_at_two_rows(folder: Folder) -> None:
    """A limit of rows, 65,535 in some sheets, cuts the file."""
    folder.rows("*.csv", lambda rows: rows[:2])


@bug("after")
def last_row_dropped(folder: Folder) -> None:
    """The buffer is not flushed at the end."""
    folder.rows("*.csv", lambda rows: rows[:-1] if len(rows) > 1 else None)


@bug("after")
def rows_twice(folder: Folder) -> None:
    """A join on a key that two rows share doubles them."""
    folder.rows("op_statistic*.csv", lambda rows: rows + rows)


@bug("after")
def wait_since_previous_start(folder: Folder) -> None:
    """The wait is counted from the start of the previous operator, not from its end."""

    def changed(rows: list[Row]) -> None:
        start, wait = present(rows[0], STARTS), present(rows[0], WAITS)
        for before, row in pairwise(rows):
            gap = nanoseconds(row[start]) - nanoseconds(before[start])
            row[wait] = f"{gap / 1000:.3f}"

    for name in KERNELS:
        if list(folder.path.rglob(name)):
            folder.rows(name, changed)


@bug("after")
def variance_of_a_sample(folder: Folder) -> None:
    """The variance is divided by n - 1."""

    def changed(row: Row) -> None:
        count = int(row["Count"])
        if count > 1:
            row["Variance"] = number(row["Variance"], lambda value: value * count / (count - 1))

    folder.each("api_statistic*.csv", changed)


@bug("after")
def statistics_of_another_filter(folder: Folder) -> None:
    """Counts leave out one call of each name, as a filter by time does."""
    folder.each("*_statistic*.csv", lambda row: row.update(Count=str(int(row["Count"]) + 1)))


@bug("after")
def least_for_greatest(folder: Folder) -> None:
    """The columns of the least and the greatest are exchanged."""

    def changed(row: Row) -> None:
        row["Min(us)"], row["Max(us)"] = row["Max(us)"], row["Min(us)"]

    folder.each("api_statistic*.csv", changed)


@bug("after")
def steps_off_by_one(folder: Folder) -> None:
    """Steps are counted from the first of the capture, not of the program."""
    cells(folder, ("Step", "Step Id"), lambda cell: str(int(cell) + 1))


@bug("after")
def another_rank(folder: Folder) -> None:
    """The number of another device is written."""
    cells(folder, ("Device_id",), lambda cell: str(int(cell) + 1))


@bug("after")
def computing_without_free(folder: Folder) -> None:
    """The free time of a step is that of the whole capture."""
    folder.each(
        "step_trace_time.csv",
        lambda row: row.update(Free=number(row["Free"], lambda value: 2 * value + 1)),
    )


@bug("after")
def shapes_exchanged(folder: Folder) -> None:
    """Shapes of inputs and outputs are exchanged."""

    def changed(row: Row) -> None:
        row["Input Shapes"], row["Output Shapes"] = row["Output Shapes"], row["Input Shapes"]

    for name in KERNELS:
        if list(folder.path.rglob(name)):
            folder.each(name, changed)


@bug("after")
def names_cut(folder: Folder) -> None:
    """Names are kept in a field of eight characters."""
    cells(folder, ("Name", "Op Name", "kernel_name"), lambda cell: cell[:8])


@bug("after")
def read_for_write(folder: Folder) -> None:
    """The bandwidths of reading and writing are exchanged."""

    def changed(row: Row) -> None:
        names = [name for name in row if name.startswith(("Read(", "Write("))]
        if len(names) == 2:
            left, right = names
            row[left], row[right] = row[right], row[left]

    folder.each("*.csv", changed)


@bug("after")
def file_absent(folder: Folder) -> None:
    """The step trace is not written."""
    for path in folder.files("step_trace_time.csv"):
        path.unlink()


@bug("after")
def column_absent(folder: Folder) -> None:
    """A column of a newer generation is not written."""
    folder.rows(
        "*.csv", lambda rows: [{key: row[key] for key in row if key not in WAITS} for row in rows]
    )


@bug("after")
def timeline_in_ns(folder: Folder) -> None:
    """Times of the device's lane are in ns."""
    hardware(folder, lambda event: event.update(dur=event["dur"] * 1000))


@bug("after")
def timeline_in_local_time(folder: Folder) -> None:
    """Times of the device's lane are those of a time zone."""
    hardware(folder, lambda event: event.update(ts=later(event["ts"], 8 * 3600 * 1e6)))


@bug("after")
def arrows_to_the_end(folder: Folder) -> None:
    """Arrows lead to the end of a kernel, not to its start."""

    def changed(timeline: Timeline) -> None:
        for event in timeline.flows("HostToDevice", "f"):
            event["ts"] = later(event["ts"], 1.5)

    timeline(folder, changed)


@bug("after")
def timeline_cut(folder: Folder) -> None:
    """The timeline ends in the middle, as after a full disk."""
    for path in timelines(folder):
        text = path.read_bytes()
        path.write_bytes(text[: len(text) * 2 // 3])


@bug("after")
def collectives_in_us(folder: Folder) -> None:
    """Elapse times of collectives are in us under a name that says ms."""

    def changed(value: Any) -> None:
        for said in _collectives(value):
            said["Elapse Time(ms)"] *= 1000

    folder.document("communication.json", changed)


@bug("after")
def matrix_transposed(folder: Folder) -> None:
    """Source and target of links are exchanged."""

    def changed(value: Any) -> None:
        for step in value.values():
            for kind in step.values():
                for operator, links in kind.items():
                    kind[operator] = {
                        "-".join(link.split("-")[::-1]): links[link] for link in links
                    }

    folder.document("communication_matrix.json", changed)


def _collectives(value: Any) -> list[dict[str, Any]]:
    return [
        said["Communication Time Info"]
        for step in value.values()
        for kind in step.values()
        for said in kind.values()
    ]


def timelines(folder: Folder) -> list[Path]:
    found = [*folder.path.rglob("trace_view.json"), *folder.path.rglob("msprof_*.json")]
    return [path for path in found if "_tx_" not in path.name]


def timeline(folder: Folder, change: Callable[[Timeline], object]) -> None:
    for path in timelines(folder):
        found = Timeline(path)
        change(found)
        found.write()


def hardware(folder: Folder, change: Callable[[dict[str, Any]], object]) -> None:
    def changed(timeline: Timeline) -> None:
        for event in timeline.layer("Ascend Hardware"):
            change(event)

    timeline(folder, changed)
