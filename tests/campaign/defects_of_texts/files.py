"""Whole files: rows and columns that are lost, moved or there twice."""

from __future__ import annotations

from damaged_profiles import Folder, Row
from exporter_defects import Inapplicable, defect

from .cells import KERNELS, change_rows, each_row, length_of, present_in, start_of


@defect("csv", "a column that every writer has is absent")
def kernel_details_without_its_lengths(folder: Folder) -> None:
    """A column is lost by a filter of columns."""

    def change(rows: list[Row]) -> list[Row]:
        lost = length_of(rows[0])
        return [{name: cell for name, cell in row.items() if name != lost} for row in rows]

    change_rows(folder, KERNELS, change)


@defect("csv", "the header has one column twice")
def kernel_details_is_a_spreadsheet(folder: Folder) -> None:
    """A spreadsheet saved the file: large numbers in scientific notation."""

    def change(row: Row) -> None:
        row[start_of(row)] = f"{float(row[start_of(row)]):.5E}"

    each_row(folder, KERNELS, change)


@defect("csv", "the last row ends in the middle")
def kernels_cut_in_the_last_row(folder: Folder) -> None:
    """The disk is full."""
    path = folder.files(present_in(folder, KERNELS))[0]
    path.write_bytes(path.read_bytes()[:-60])


@defect("csv", "cells hold characters of a broken encoding")
def kernels_in_utf_16(folder: Folder) -> None:
    """The file is written in the encoding of Windows."""
    path = folder.files(present_in(folder, KERNELS))[0]
    path.write_bytes(path.read_bytes().decode().encode("utf-16"))


@defect("csv", "columns are separated otherwise")
def kernels_with_semicolons(folder: Folder) -> None:
    """The file is written in the locale of a spreadsheet."""
    path = folder.files(present_in(folder, KERNELS))[0]
    path.write_bytes(path.read_bytes().replace(b",", b";"))


@defect("csv", "a file that belongs to the others is absent")
def kernels_absent(folder: Folder) -> None:
    """One writer failed."""
    if len(list(folder.path.rglob("*.csv"))) < 3:
        raise Inapplicable
    folder.files(present_in(folder, KERNELS))[0].unlink()


@defect("csv", "the header has no rows, and others have kernels")
def op_statistic_empty(folder: Folder) -> None:
    """One writer failed."""
    present_in(folder, KERNELS)
    path = folder.files("op_statistic*.csv")[0]
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
