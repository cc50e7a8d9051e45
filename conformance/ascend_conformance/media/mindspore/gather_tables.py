"""Intermediate files as facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ascend_ref.mindspore.parse.flops import SUMS
from ascend_ref.mindspore.parse.memory_usage import DETAILS, SUMMARY
from ascend_spec.mindspore import TableColumn

from ...engine.sqlite_facts import SqliteFacts, SqlValue
from .facts import HAS_ROWS, own_columns
from .folder import TableFile
from .tables import Table, column_of, fitting, newest_header

WHOLE = re.compile(r"-?[0-9]{1,18}")
DECIMAL = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,3})?|inf|nan)")
EMPTY = ("", "-", "None")
"""What stands where there is no number: of operators without a task, of the average, of records
without a time.
"""

MOST_CELLS = 1_000
"""Cells that are otherwise of which each is kept."""

LARGEST = 1 << 28
"""Bytes of a document that is read."""

_BEGIN, _END = "_start_point", "_end_point"


def gather_table(
    facts: SqliteFacts, number: int, file: TableFile, days: Sequence[str]
) -> list[str]:
    """Fill the facts from a file; the days of some on which it has such columns.

    Raises ``OSError``.
    """
    if file.table.form == "json":
        _gather_document(facts, number, file)
        return list(days)
    if file.table.form not in HAS_ROWS:
        return list(days)
    table = Table(file.table, file.path)
    reader = _Reader(facts, number, table)
    facts.add(file.table.table, reader.rows())
    if reader.reductions:
        facts.add("reduction", reader.reductions)
    facts.add("cell_fault", reader.faults)
    name = file.table.table
    facts.add(
        "row_fault",
        ((number, one.line, None, name, one.kind, one.text, one.wanted) for one in table.faults),
    )
    fits = fitting(file.table, table, days) if table.header else list(days)
    _state_header(facts, number, table, fits, days)
    return fits


def _state_header(
    facts: SqliteFacts, number: int, table: Table, fits: Sequence[str], days: Sequence[str]
) -> None:
    text = ",".join(table.header)
    nearest = "" if fits else newest_header(table.table, days)
    between = (fits[0], fits[-1]) if fits else (None, None)
    row = (number, table.header_line, None, table.table.table, text, nearest, int(bool(fits)))
    facts.add("header", [(*row, *between)])


SUMMED: Mapping[str, tuple[str, Sequence[str]]] = {
    SUMS: ("operations", ("FLOPs", "FLOPS", "FLOPS_Utilization")),
    SUMMARY: (
        "memory_taken",
        ("capacity", "allocations", "deallocations", "peak_mem", "static_mem"),
    ),
}
"""Documents whose numbers are facts: the table of these, and their keys."""


class _Reader:
    """The rows of a file as facts, with what of them is otherwise."""

    def __init__(self, facts: SqliteFacts, number: int, table: Table) -> None:
        self.facts, self.number, self.table = facts, number, table
        self.faults: list[Sequence[SqlValue]] = []
        self.reductions: list[Sequence[SqlValue]] = []
        self._names: Sequence[str] = ()
        self._columns: Sequence[TableColumn | None] = ()
        self._places: Sequence[int | None] = ()

    def rows(self) -> Iterator[Sequence[SqlValue]]:
        """Rows in the order of the columns of the facts."""
        for line, is_end, cells in self.table.rows():
            if not self._columns:
                self._start()
            values = [
                self._value(line, column, text, is_end)
                for column, text in zip(self._columns, cells, strict=False)
            ]
            count = len(values)
            row = [values[at] if at is not None and at < count else None for at in self._places]
            yield self.number, line, None, *row, int(is_end)
            if count > len(row) - 1 and self.table.table.table == "step_trace_raw":
                self._melt(line, values)

    def _start(self) -> None:
        table = self.table
        is_csv = table.table.form == "csv"
        self._names = table.header if is_csv else table.columns
        self._columns = [column_of(table.table, one) for one in self._names]
        known = {name.replace(" ", "_"): at for at, name in reversed(list(enumerate(self._names)))}
        wanted = own_columns(table.table)[:-1]
        self._places = [known.get(one, known.get(one.removesuffix("_"))) for one in wanted]

    def _value(self, line: int, column: TableColumn | None, text: str, is_end: bool) -> SqlValue:
        if column is None or column.style == "text":
            unit = column.unit if column else "10 ns"
            return _number(text) if unit is not None else text
        if text in EMPTY:
            return text or None
        match column.style:
            case "integer":
                is_one = WHOLE.fullmatch(text) is not None
            case "shortest":
                is_one = DECIMAL.fullmatch(text) is not None
            case _:
                is_one = _is_json(text)
        if is_one:
            return _number(text) if column.style != "json" else text
        if len(self.faults) < MOST_CELLS and not (is_end and column.style == "json"):
            of = self.table.table.table
            self.faults.append((self.number, line, None, of, column.name, text[:80], column.style))
        return text

    def _melt(self, line: int, values: Sequence[SqlValue]) -> None:
        """The reductions of a row, whose columns stand next to each other in threes."""
        step = values[0]
        fixed = [at for at, one in enumerate(self._columns) if one is None]
        for at in range(fixed[0] if fixed else len(values), len(values) - 2, 3):
            cells = dict(zip(self._names[at : at + 3], values[at : at + 3], strict=True))
            begin = next((one for one in cells if one.endswith(_BEGIN)), None)
            end = next((one for one in cells if one.endswith(_END)), None)
            plain = next((one for one in cells if one not in (begin, end)), None)
            if begin and end and plain:
                times = (cells[begin], cells[end], cells[plain])
                self.reductions.append((self.number, line, None, step, plain, *times))
        if len(self.reductions) > MOST_CELLS:
            self.facts.add("reduction", self.reductions)
            self.reductions.clear()


def _number(text: str) -> SqlValue:
    """A number where the text is one."""
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _gather_document(facts: SqliteFacts, number: int, file: TableFile) -> None:
    """State of a document that it is none, or not the kind that it should be."""
    of = file.table.table
    if file.path.stat().st_size > LARGEST:
        row: Sequence[SqlValue] = (number, None, 0, "too-large", of, f"more than {LARGEST:,} bytes")
        facts.add("damage", [row])
        return
    try:
        document: Any = json.loads(file.path.read_bytes())
    except (ValueError, RecursionError) as problem:
        offset = getattr(problem, "pos", 0)
        facts.add("damage", [(number, None, offset, "document", of, f"no JSON: {problem}"[:200])])
        return
    if not isinstance(document, (dict, list)):
        facts.add("damage", [(number, None, 0, "document", of, "no object and no list")])
    elif of == DETAILS and isinstance(document, dict):
        graphs = [one for one in document.values() if isinstance(one, dict)]
        rows = [(number, None, None, *_numbers(one, ("static_mem",))) for one in graphs]
        facts.add("memory_graph", rows)
    elif of in SUMMED and isinstance(document, dict):
        facts.add(SUMMED[of][0], [(number, None, None, *_numbers(document, SUMMED[of][1]))])


def _numbers(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[SqlValue]:
    """Numbers of a document by their keys; ``None`` for what is none."""
    for name in names:
        value = document.get(name)
        yield value if isinstance(value, (int, float)) else None
