"""Judges agreements: where two sides differ, as findings that name both places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ascend_ref.db.display import clip, printable
from ascend_ref.timeline.session import WHOLE
from ascend_spec import document_catalog, text_catalog, timeline_catalog
from ascend_spec.documents import DOCUMENTS

from ...compare.agreement import WHICH, Agreement, Which, other_than
from ...compare.match import FILE, PAIRS, ROW, Cell, Compared, Outcome, difference, pair_types
from ...compare.sql import quoted
from ...engine.asking import Asked, At, Question
from ...engine.work import NoAnswer
from ...finding import Finding, Scalar
from ...options import Options
from .findings import NOWHERE, SHOWN, Fault, Position, finding_of
from .folder import DATABASE, Folder
from .layers import layers_by_table
from .loaddocs import key_of
from .outsider import vote
from .places import column_in_words, position
from .queries import limited, nothing_asked
from .rules import TextRule
from .selecting import Absent, reading_of
from .sources import Sources, gathers, home_of, made

DIGITS = 9
"""Digits of fractions, where they suffice."""
COLUMNS_SHOWN = 6
"""Columns of a row that stands alone which are shown."""
_FORMULA = re.compile(r"""(\w+|"[^"]+")( [-+*/] (\w+|"[^"]+"))+""")
"""Formulas that users are shown; of others they see the column."""
_DIVISOR = re.compile(r"""nullif\((\w+|"[^"]+"), 0\)""")


def ask_agreements(folder: Folder, rules: Iterable[TextRule], options: Options) -> Asked[Finding]:
    """Judge every rule that is an agreement, at each of its places."""
    asked = nothing_asked()
    sources = Sources(folder.facts)
    asked.ask(
        Question(
            (At(rule, agreement.left.of.partition(".")[2]),),
            partial(_answer, folder, sources, agreement, options),
            partial(limited, folder.facts.connection),
        )
        for rule in rules
        if rule.search.agreement is not None and concerns(folder, rule)
        for agreement in rule.search.agreement.instances
    )
    return asked


def _answer(
    folder: Folder, sources: Sources, agreement: Agreement, options: Options, asked: Sequence[At]
) -> Iterator[Finding]:
    try:
        found = reading_of(sources, agreement)
    except Absent as problem:
        raise NoAnswer(_reason(folder, problem) or "") from problem
    cast = vote(folder, asked[0].rule.id, found)
    if cast is not None:
        folder.votes.append(cast)
    for fault in faults(folder, found, options):
        yield finding_of(folder, asked[0].rule, fault)
    for which in WHICH:
        side = found.compared.sides[which].side
        if side.unless and not found.rows[which]:
            reason = folder.facts.value(f"SELECT any_value({side.unless}) FROM {side.of}")
            raise NoAnswer(reason or "")


def concerns(folder: Folder, rule: TextRule) -> bool:
    """Whether a rule is for the output and the writers of a folder."""
    if rule.search.outputs and folder.output not in (None, *rule.search.outputs):
        return False
    known = text_catalog().writers
    writers = {name for one in folder.writers.values() for name in known[one].kin}
    return not (rule.search.writers and writers.isdisjoint(rule.search.writers)) and not (
        rule.search.not_writers and writers.intersection(rule.search.not_writers)
    )


def _reason(folder: Folder, absent: Absent) -> str | None:
    """Why an agreement cannot be judged; ``None`` where there is nothing to judge.

    That is so where both sides are absent, or one that these writers do not write, and where a file
    has none of the columns: the rules of its header say so where it should.
    """
    if absent.of_derived:
        return f"it is recomputed from the column {absent}, which the files do not have"
    if len(absent.tables) != 1:
        return None
    (table,) = absent.tables.values()
    schema, _, name = table.partition(".")
    writers = _writers_of(schema, name)
    if writers is not None and writers.isdisjoint(folder.writers.values()):
        return None
    if schema == "db" and folder.database is None:
        return "no readable database lies next to these files"
    return f"there is no {name} here" if schema == "unit" else f"nothing here shows {table}"


def _writers_of(schema: str, name: str) -> frozenset[str] | None:
    """Who writes what a table is filled from; ``None`` where everybody does."""
    if schema in ("csv", "raw") and name in text_catalog().csv:
        return frozenset(text_catalog().csv[name].writers)
    if schema == "unit" and name in DOCUMENTS:
        return frozenset(document_catalog().writers_of(name))
    if schema == "unit" and name in timeline_catalog().files:
        return frozenset(timeline_catalog().files[name].writers)
    return None


def faults(folder: Folder, found: Outcome, options: Options) -> Iterator[Fault]:
    """A fault for each column that differs, and for the rows of each side that stand alone."""
    if not found.faults:
        return
    view = ShownOutcome(folder, found)
    for name, count in found.differing.items():
        if count:
            yield view.differing(name, count, options)
    for which in WHICH:
        if found.alone[which] and found.compared.agreement.counts(which):
            yield view.alone(which, found.alone[which], options)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: its file, and what users call the table, the row and the column."""

    file: int
    table: str
    column: str
    cell: Cell | None = None
    row: int | None = None
    at: Position = NOWHERE

    @property
    def words(self) -> str:
        """``op_summary.csv line 17``, ``TASK row 3``; the table alone where there is no row."""
        if self.row is None:
            return self.table
        if self.at.line is not None:
            return f"{self.table} line {self.at.line:,}"
        if self.cell is not None and self.cell.table.startswith("doc."):
            return f"{self.table} {self.at.pointer}"
        if self.at.offset is not None:
            return f"{self.table} event {self.row:,}"
        return f"{self.table} row {self.row:,}"


class ShownOutcome:
    """The rows of an outcome as users see them."""

    def __init__(self, folder: Folder, found: Outcome) -> None:
        self.folder = folder
        self.found = found
        self.compared: Compared = found.compared
        self.types = pair_types(found.compared)

    def differing(self, name: str, count: int, options: Options) -> Fault:
        """The pairs that differ in a column; the place is in a deliverable, if one of them is."""
        query = f"FROM {PAIRS} WHERE {difference(self.compared, self.types, name)}"
        rows = self._rows(query, max(options.max_examples, 1))
        first = self._where("left", name, rows[0])
        in_text = first.row is not None and first.cell and not first.cell.table.startswith("db.")
        order = WHICH if in_text else WHICH[::-1]
        own, other = (self._where(which, name, rows[0]) for which in order)
        values = self._values(name, rows[0], order)
        remark = f"{own.column} {values[0]} against {other.column} {values[1]} of {other.words}"
        if inputs := self._inputs(rows[0]):
            remark += f" with {', '.join(f'{label} {value}' for label, value in inputs.items())}"
        examples = [self._example(name, row, order) for row in rows]
        fault = self._fault(own, order[0], count, remark, examples, options, query)
        return replace(fault, of=self._counted_short(name, query))

    def _counted_short(self, name: str, query: str) -> str | None:
        """The side whose rows a column counts, where all pairs that differ have too few of them."""
        for which in WHICH:
            if self.compared.sides[which].side.columns[name].startswith("count("):
                less = f"{quoted(f'{which}_{name}')} < {quoted(f'{other_than(which)}_{name}')}"
                if self.folder.facts.value(f"SELECT bool_and({less}) {query}"):
                    return self._called(which)
        return None

    def alone(self, which: Which, count: int, options: Options) -> Fault:
        """The rows of a side without a counterpart."""
        other = other_than(which)
        query = f"FROM {PAIRS} WHERE {other}_turn IS NULL"
        rows = self._rows(query, max(options.max_examples, 1))
        shown = [name for name in self.compared.shown if name != FILE][:COLUMNS_SHOWN]
        place = self._where(which, None, rows[0])
        if place.file == DATABASE:  # recomputed from many places: the other file lacks it
            place = replace(place, file=self._file_of(other))
        examples: list[dict[str, Scalar]] = []
        for row in rows:
            values = {name: self._value(name, row[f"{which}_{name}"]) for name in shown}
            named = {name: self._where(which, name, row).column or name for name in shown}
            examples.append({named[name]: value for name, value in values.items()})
        stated = ", ".join(f"{column} {value}" for column, value in examples[0].items())
        remark = f"{stated} of {place.words} is not in {self._called(other)}{self._scope(other)}"
        fault = self._fault(place, which, count, remark, examples, options, query)
        both = self.found.alone[other] and self.compared.agreement.counts(other)
        recomputed = any(one.side.of.startswith("derived.") for one in self.compared.sides.values())
        return fault if both or recomputed else replace(fault, of=self._called(other))

    def _rows(self, query: str, limit: int) -> list[dict[str, Any]]:
        order = "left_file, left_row, right_file, right_row"
        cursor = self.folder.facts.connection.execute(f"{query} ORDER BY {order} LIMIT {limit}")
        names = [entry[0] for entry in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _fault(
        self,
        place: Place,
        which: Which,
        count: int,
        remark: str,
        examples: list[dict[str, Scalar]],
        options: Options,
        query: str,
    ) -> Fault:
        return Fault(
            place.file,
            column_in_words(place.cell.table if place.cell else "", place.column) or None,
            count=count,
            total=max(self.found.rows[which], count),
            row=place.row,
            at=place.at,
            examples=examples[: options.max_examples],
            remark=clip(printable(remark), SHOWN),
            query=query if options.with_sql else None,
        )

    def _example(
        self, name: str, row: Mapping[str, Any], order: tuple[Which, ...]
    ) -> dict[str, Scalar]:
        shown: dict[str, Scalar] = {}
        for which, value in zip(order, self._values(name, row, order), strict=True):
            place = self._where(which, name, row)
            named = f"{place.words} {place.column}".strip()
            shown[named if named not in shown else f"{named} (2)"] = value
        return shown | self._inputs(row)

    def _inputs(self, row: Mapping[str, Any]) -> dict[str, Scalar]:
        """What the values of a pair are computed from, with units."""
        shown: dict[str, Scalar] = {}
        for name, unit in self.compared.agreement.inputs.items():
            value = next((one for which in WHICH if (one := row.get(f"{which}_{name}"))), None)
            if value is not None:
                number = f"{value:,}" if isinstance(value, int) else f"{value:,.{DIGITS}g}"
                shown[name.replace("_", " ")] = f"{number} {unit}".strip()
        return shown

    def _values(self, name: str, row: Mapping[str, Any], order: tuple[Which, ...]) -> list[Scalar]:
        """The values of both sides; fractions with few digits, or with all if those are equal."""
        stated = [row[f"{which}_{name}"] for which in order]
        short = [float(f"{one:.{DIGITS}g}") if isinstance(one, float) else one for one in stated]
        shown = [self._value(name, one) for one in (stated if short[0] == short[1] else short)]
        return [
            self._of_cell(which, name, row, one) for which, one in zip(order, shown, strict=True)
        ]

    def _of_cell(self, which: Which, name: str, row: Mapping[str, Any], value: Scalar) -> Scalar:
        """A number as the file has it, where it is compared as another one."""
        cells = self.compared.sides[which].cells.get(name, ())
        if not isinstance(value, int) or len(cells) != 1 or cells[0].key is not None:
            return value
        cell, file, number = cells[0], row[f"{which}_file"], row.get(f"{which}_{cells[0].row}")
        if cell.column not in self.folder.facts.columns(cell.table):
            return value  # it is made from the rows of that table
        side = self.compared.sides[which].side
        if side.together or side.called:  # worked out of many rows
            return value
        query = f"SELECT {quoted(cell.column)} FROM {cell.table} WHERE (file, row) = ($1, $2)"
        stated = self.folder.facts.rows(query, (file, number))
        if not stated or not isinstance(stated[0][0], int) or stated[0][0] == value:
            return value
        return f"{stated[0][0]} (compared as {value})"

    def _where(self, which: Which, name: str | None, row: Mapping[str, Any]) -> Place:
        """The place of a value; of the side's row for no column."""
        side = self.compared.sides[which].side
        file = row[f"{which}_file"]
        home = home_of(side.of)
        cells = self.compared.sides[which].cells.get(name or "", ())
        cell = cells[0] if cells else Cell(home, "") if home else None
        label = self._label(which, name) if name else ""
        times = row[f"{which}_times"]
        called = self._called(which, cell)
        if times is not None and side.together and times > 1:
            called = f"{times:,} rows of {called}"
        elif gathers(side.of) and not side.called:
            called = f"the rows of {called} from"
        number = row.get(f"{which}_{cell.row}") if cell else None
        if number is None and home is not None:  # the row has no part in that table
            cell = Cell(home, cell.column if cell else "")
            number = row.get(f"{which}_{ROW}")
        if cell is None or number is None:
            return Place(DATABASE if file is None else file, called, label, cell)
        named = cell.key or cell.column
        if named.startswith("@"):
            label = row[f"{which}_{named[1:]}"] or label
        at = DATABASE if file is None else file
        found = position(self.folder, cell.table, at, number, cell.column, exact=False)
        return Place(file, called, label, cell, number, found)

    def _label(self, which: Which, name: str) -> str:
        """What users call a column of a side: of the file, or the formula."""
        side = self.compared.sides[which].side
        cells = self.compared.sides[which].cells.get(name, ())
        if side.of.startswith("derived.") or not cells:
            return name.replace("_", " ")
        formula = _DIVISOR.sub(r"\1", side.columns[name])
        if len(cells) > 1 and _FORMULA.fullmatch(formula):
            return formula.replace('"', "")
        return cells[0].key or key_of(cells[0].table, cells[0].column)

    def _scope(self, which: Which) -> str:
        """Which rows of its table a side has, where those are not all."""
        source = self.compared.sides[which].side.of
        known = made().get(source) if source.startswith("view.") else None
        return f", of which count: {known.summary.rstrip('.')}" if known else ""

    def _file_of(self, which: Which) -> int:
        """The number of the file that a side stands in, or ``DATABASE``."""
        home = home_of(self.compared.sides[which].side.of)
        called = table_in_words(self.folder, home) if home else ""
        places = {number: file.place for number, file in self.folder.files.items()}
        return next((one for one, place in places.items() if called.startswith(place)), DATABASE)

    def _called(self, which: Which, cell: Cell | None = None) -> str:
        """What users call a side."""
        side = self.compared.sides[which].side
        if side.called:
            return side.called
        home = cell.table if cell else home_of(side.of)
        return table_in_words(self.folder, home) if home else "what is recomputed"

    def _value(self, name: str, value: Any) -> Scalar:
        one = self.compared.columns.get(name)
        unit = one.unit if one else "ns" if name == self.compared.near else None
        if value is None:
            return "nothing"
        if unit == "ns" and isinstance(value, int):
            sign, amount = "-" * (value < 0), abs(value)
            return f"{sign}{amount // 1000}.{amount % 1000:03d} us"
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return f"{value!r} {unit}" if unit else value
        return clip(str(value), SHOWN)


def table_in_words(folder: Folder, table: str) -> str:
    """A table of the facts as users know it: its file, and the layer in it."""
    schema, _, name = table.partition(".")
    if schema == "db":
        return name
    if schema in ("csv", "raw"):
        return f"{name}.csv"
    if schema == "doc":
        return "communication_matrix.json" if name == "matrix" else "communication.json"
    places = [one.place for one in folder.files.values() if one.name in WHOLE]
    places += [one.place for one in folder.files.values() if one.kind == "timeline"]
    place = places[0] if places else "the timeline"
    return f"{place} {layers_by_table()[name].name}" if name in layers_by_table() else place
