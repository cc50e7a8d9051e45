"""``output_op_compute_time_detail``: times of types and operators for people who read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from ascend_spec.mindspore import LineKind

from .aicore import DETAIL, TYPES
from .drawn import Cell, drawn
from .framework import framework_of
from .run import Run
from .text import names_in

TABLE = "output_op_compute_time_detail"


def write_readable_times(run: Run) -> None:
    """Write the table of types and that of operators, made of the files of both."""
    path = None if run.made(DETAIL) is None else run.path(TABLE)
    if path is None:
        return
    types = _types(run)
    lines = [
        run.form(TABLE, "title"),
        *_table(run, "row", types),
        "",
        run.form(TABLE, "detail_title"),
        *_table(run, "detail_row", _operators(run, [str(row[0]) for row in types])),
    ]
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _types(run: Run) -> list[list[Cell]]:
    rows: list[list[Cell]] = [
        [name, float(time), int(number), float(percent)]
        for name, time, number, percent in _rows(run.made(TYPES))
    ]
    if run.way("detail_tables") == "lines":
        return rows
    rows.sort(key=lambda row: float(row[1]), reverse=True)
    if run.way("drawn_times") == "6-decimals":
        rows = [[name, float(f"{time:.6f}"), *rest] for name, time, *rest in rows]
    return rows


def _operators(run: Run, types: Sequence[str]) -> list[list[Cell]]:
    """The operators of each type, the longest first."""
    framework = framework_of(run)
    known = {str(row["full_op_name"]): row for row in framework.rows} if framework else {}
    found: dict[str, list[list[Cell]]] = {one: [] for one in types}
    for name, time, *_ in _rows(run.made(DETAIL)):
        operator = known.get(name, {})
        op_name, op_type, subgraph = (
            str(operator.get(one) or "") for one in ("op_name", "op_type", "subgraph")
        )
        if op_type in found:
            found[op_type].append([op_name, op_type, float(time), subgraph, name])
    for rows in found.values():
        rows.sort(key=lambda row: float(row[2]), reverse=True)
    return [row for rows in found.values() for row in rows]


def _table(run: Run, line: LineKind, rows: Sequence[Sequence[Cell]]) -> list[str]:
    form = run.form(TABLE, line)
    names = names_in(form)
    cells = [row[: len(names)] for row in rows]
    if run.way("detail_tables") == "drawn":
        return drawn(names, cells)
    return [form.format_map(dict(zip(names, row, strict=True))) for row in [names, *cells]]


def _rows(path: Path | None) -> list[list[str]]:
    """The rows of a file of CSV without its header; none where there is no file."""
    if path is None:
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]
