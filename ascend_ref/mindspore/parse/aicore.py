"""Times of operators and of their types, made of what was written about executions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path

from .framework import framework_of
from .operators import TIMES
from .run import Run
from .tables import write_rows

TYPES = "aicore_intermediate_type"
DETAIL = "aicore_intermediate_detail"

HEADS = 3
"""Lines in front of the rows of ``output_op_compute_time``."""


@dataclass(frozen=True, slots=True)
class Times:
    """The cells of ``output_op_compute_time`` in their columns, and its total."""

    rows: Sequence[Mapping[str, str]]
    total: Decimal


def write_aicore(run: Run) -> None:
    """Write ``aicore_intermediate_detail`` and ``aicore_intermediate_type``."""
    path = run.made(TIMES)
    if path is None:
        return
    times = read_times(path, [one.name for one in run.columns(TIMES)])
    _write(run, DETAIL, ([*_detail(row)] for row in times.rows))
    is_nothing = not times.total
    if is_nothing and run.way("nothing_executed") == "no-file":
        return
    _write(run, TYPES, () if is_nothing else _types(run, times))


def read_times(path: Path, columns: Sequence[str]) -> Times:
    """The operators and the total of ``output_op_compute_time`` with these columns."""
    lines = path.read_text(encoding="utf-8").split("\n")[HEADS:-1]
    cells = [line.rsplit(None, len(columns) - 1) for line in lines[:-1]]
    rows = [dict(zip(columns, row, strict=True)) for row in cells]
    return Times(rows, Decimal(lines[-1].split()[-2]))


def _detail(row: Mapping[str, str]) -> Iterator[str]:
    yield row["op_name"]
    yield row["compute_time(ms)"]
    if "execution_times" in row:
        yield row["execution_times"]


def _types(run: Run, times: Times) -> Iterator[tuple[object, ...]]:
    """Rows of ``aicore_intermediate_type``. Sums are decimal, as the texts are."""
    way = run.way("type_times")
    framework = framework_of(run)
    types = {row["full_op_name"]: row.get("op_type") for row in framework.rows} if framework else {}
    sums: dict[object, tuple[Decimal, int]] = {}
    total = times.total if way != "executions" else Decimal(0)
    for row in times.rows:
        average = Decimal(row["compute_time(ms)"])
        number = 1 if way == "averages" else int(row["execution_times"])
        time = average if way == "averages" else average * number
        if way != "averages":
            total += time
        name = types.get(row["op_name"])
        known = sums.get(name)
        sums[name] = (time, number) if known is None else (known[0] + time, known[1] + number)
    for name, (time, number) in sums.items():
        yield name, time, number, round(time / total * 100, 2)


def _write(run: Run, table: str, rows: Iterable[Iterable[object]]) -> None:
    path = run.path(table)
    if path is not None:
        write_rows(run, path, chain([[one.name for one in run.columns(table)]], rows))
