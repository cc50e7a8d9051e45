"""Cells and columns of CSV files: what the defects of this folder read and change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from damaged_profiles import Folder, Row, later
from exporter_defects import Inapplicable

KERNELS = ("kernel_details*.csv", "op_summary*.csv")
"""Files with one row for each kernel, by the adapter and by msprof."""

EMPTY = {"", "N/A", "NA"}
HOURS_8_US = 8 * 3600 * 1_000_000


# Cells.


def scaled(cell: str, factor: float) -> str:
    """A cell times a factor, with the digits that it had; what is no number stays."""
    text = cell.strip()
    if text in EMPTY:
        return cell
    digits = len(text.partition(".")[2])
    return cell.replace(text, f"{float(text) * factor:.{digits}f}")


def moved(cell: str, by_us: float) -> str:
    text = cell.strip()
    return cell if text in EMPTY else cell.replace(text, later(text, by_us))


def one_of(row: Row, *names: str) -> str:
    """The first of the columns that the row has: writers name them differently."""
    return next((name for name in names if name in row), names[0])


def unit_of(row: Row, name: str) -> str:
    """A column by its name without the unit, which differs between the writers."""
    found = [column for column in row if re.fullmatch(re.escape(name) + r"(\(.*\))?", column)]
    if not found:
        raise KeyError(name)
    return found[0]


def each_row(folder: Folder, names: Iterable[str], change: Callable[[Row], object]) -> None:
    """Change each row of the files of the first pattern that the folder has."""
    folder.each(present_in(folder, names), change)


def change_rows(
    folder: Folder, names: Iterable[str], change: Callable[[list[Row]], list[Row] | None]
) -> None:
    folder.rows(present_in(folder, names), change)


def present_in(folder: Folder, names: Iterable[str]) -> str:
    found = [name for name in names if any(folder.path.rglob(name))]
    if not found:
        raise Inapplicable
    return found[0]


def start_of(row: Row) -> str:
    return one_of(row, "Start Time(us)", "Task Start Time(us)")


def length_of(row: Row) -> str:
    return one_of(row, "Duration(us)", "Task Duration(us)")


def wait_of(row: Row) -> str:
    return one_of(row, "Wait Time(us)", "Task Wait Time(us)")


def name_of(row: Row) -> str:
    return one_of(row, "Name", "Op Name")


def type_of(row: Row) -> str:
    return one_of(row, "Type", "OP Type")


def core_of(row: Row) -> str:
    return one_of(row, "Accelerator Core", "Task Type")


def swap(row: Row, left: str, right: str) -> None:
    row[left], row[right] = row[right], row[left]


def shift_column(rows: Sequence[Row], name: str) -> None:
    """Each row gets the value of the next; the last keeps its own."""
    values = [row[name] for row in rows]
    for row, value in zip(rows, values[1:], strict=False):
        row[name] = value
