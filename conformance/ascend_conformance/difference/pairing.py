"""Rows of two sides in one database, paired and compared: what texts and databases have in common.

Each table of it holds the rows of both sides, those of the left one in files below a border, and is
an agreement of the two, matched and compared as those of the rules are: by meaning, within one unit
of the last printed digit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ascend_ref.db.display import clip, printable

from ..compare.agreement import WHICH, Agreement, Comparison, Side, Which, other_than
from ..compare.follow import TIME
from ..compare.match import (
    FILE,
    PAIRS,
    ROW,
    Compared,
    Outcome,
    Selected,
    difference,
    outcome,
    pair_types,
)
from ..compare.sql import quoted
from ..finding import Scalar
from ..media.text.database import Facts

LEFT, RIGHT = 0, 1
"""Numbers of the sides as files of the facts, where each is one."""
SHOWN = 60
"""Characters of a value that are shown."""
EXAMPLE_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Example:
    """A pair that differs, or a row alone: file and row of each side that has it, and values.

    ``places``: of the rows, in words.
    """

    rows: Mapping[Which, tuple[int, int]]
    values: Mapping[Which, Mapping[str, Scalar]]
    places: Mapping[Which, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """What does not agree: ``what`` as the rules call it, in which file and column, how often of
    how many rows, and the first of it in words; ``examples``: the first ones. ``changes``: those of
    the schema at its place; ``is_explained``: it follows from them alone.
    """

    what: str
    feature: str
    place: str
    column: str | None
    count: int
    total: int
    words: str
    examples: tuple[Example, ...] = ()
    changes: tuple[str, ...] = ()
    is_explained: bool = False


def broken_file(feature: str, place: str, reason: str) -> Difference:
    """That a file cannot be read, and why."""
    return Difference("broken file", feature, place, None, 1, 1, printable(reason))


def clocks_ahead(ahead: Mapping[str, int], side: str) -> Iterator[Difference]:
    """That the times of a side are all later, or earlier, by one length in ns: for each length
    once. ``ahead``: the length by the place of the table.
    """
    for length in dict.fromkeys(ahead.values()):
        yield _clock_ahead([one for one, by in ahead.items() if by == length], length, side)


def _clock_ahead(tables: Sequence[str], length: int, side: str) -> Difference:
    shown = ", ".join(tables[:EXAMPLE_COLUMNS])
    more = f" and {len(tables) - EXAMPLE_COLUMNS} more" if len(tables) > EXAMPLE_COLUMNS else ""
    direction = "later" if length > 0 else "earlier"
    words = f"{side} is {abs(length):,} ns {direction} in {shown}{more}"
    return Difference("clock", tables[0], tables[0], None, 1, 1, words)


def unmatched(places: Sequence[Mapping[str, str]], sides: tuple[str, str]) -> list[Difference]:
    """The features that only one side has. ``places``: of those that each side has."""
    left, right = places
    absent = [
        Difference("absent file", one, left[one], None, 1, 1, f"{sides[1]} wrote none")
        for one in sorted(left.keys() - right.keys())
    ]
    return absent + [
        Difference("added file", one, right[one], None, 1, 1, f"{sides[0]} has none")
        for one in sorted(right.keys() - left.keys())
    ]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the facts that both sides fill: its name and feature, what its rows are, and
    their columns as SQL. ``tolerances``: how far numbers of a column may be apart, as SQL.
    ``home``: the table of the facts whose rows they are, by which their places are found.
    ``alike``: further rows, which have an equal on the other side. ``ahead``: by column how many ns
    the right side is later, which is no difference.
    """

    place: str
    feature: str
    of: str
    columns: Mapping[str, str]
    keys: tuple[str, ...]
    near: str | None = None
    times: tuple[str, ...] = ()
    tolerances: Mapping[str, str] = field(default_factory=dict)
    home: str = ""
    alike: int = 0
    ahead: Mapping[str, float] = field(default_factory=dict)


class Pairing:
    """Tables of two sides, named by ``sides``; files of the left one are below ``border``.

    ``examples``: how many a difference has at most.
    """

    def __init__(
        self, facts: Facts, border: int, sides: tuple[str, str], examples: int = 1
    ) -> None:
        self.facts = facts
        self._examples = examples
        self.sides: Mapping[Which, str] = dict(zip(WHICH, sides, strict=True))
        self._border = border
        self._types: dict[str, dict[str, str]] = {}

    def of(self, which: Which) -> str:
        """SQL for the rows of a side."""
        return f"file {'<' if which == 'left' else '>='} {self._border}"

    def types(self, query: str) -> dict[str, str]:
        """The columns of a query, with their types."""
        if query not in self._types:
            rows = self.facts.rows(f"DESCRIBE {query}")
            self._types[query] = {str(name): str(kind) for name, kind, *_ in rows}
        return self._types[query]

    def differences(
        self, table: Table, lacks: Mapping[Which, Collection[str]]
    ) -> Iterator[Difference]:
        """Columns, values and rows of a table. ``lacks``: the columns that a side has not."""
        yield from self.columns(table, lacks)
        yield from self.rows(table, lacks)

    def columns(self, table: Table, lacks: Mapping[Which, Collection[str]]) -> Iterator[Difference]:
        """The columns that one side has not."""
        for which in WHICH:
            for name in sorted(lacks[which]):
                what = "absent column" if which == "right" else "added column"
                words = f"{self.sides[which]} does not have it"
                yield Difference(what, table.feature, table.place, name, 1, 1, words)

    def rows(self, table: Table, lacks: Mapping[Which, Collection[str]]) -> Iterator[Difference]:
        """Values and rows, in the columns that both sides have."""
        asked = self.asked(table, lacks)
        if asked.shown:
            yield from self._shown(table, outcome(self.facts, asked))

    def asked(self, table: Table, lacks: Mapping[Which, Collection[str]]) -> Compared:
        """The agreement of a table, on the columns that both sides have."""
        missing = {*lacks["left"], *lacks["right"]}
        columns = [one for one in table.columns if one not in missing]
        keys = tuple(one for one in table.keys if one in columns)
        near = table.near if table.near in columns else None
        rest = [one for one in columns if one not in keys]
        compare = {
            one: TIME if one in table.times else Comparison(tolerance=table.tolerances.get(one))
            for one in rest
        }
        side = Side(table.of, {one: table.columns[one] for one in columns})
        agreement = Agreement(side, side, keys, compare, near)
        kinds = self.types(f"SELECT {listed(side.columns) or '1'} FROM {table.of}")
        types = {one: kinds[one] for one in columns}
        sides = {which: self._selected(side, types, which, table.ahead) for which in WHICH}
        return Compared(agreement, keys, near, compare, sides)

    def _selected(
        self, side: Side, types: Mapping[str, str], which: Which, ahead: Mapping[str, float]
    ) -> Selected:
        columns = dict(side.columns)
        if which == "right":
            columns |= {
                one: f"{columns[one]} - {by}" for one, by in ahead.items() if one in columns
            }
        cells = f", {listed(columns)}" if columns else ""
        query = f"SELECT file, row, 1 AS times{cells} FROM {side.of} WHERE {self.of(which)}"
        return Selected(side, query, types, {})

    def count(self, asked: Compared, which: Which) -> int:
        """The rows of a side."""
        return int(self.facts.value(f"SELECT count(*) FROM ({asked.sides[which].query})") or 0)

    def _shown(self, table: Table, found: Outcome) -> Iterator[Difference]:
        types = pair_types(found.compared)
        total = max(found.rows.values()) + table.alike
        for name, count in found.differing.items():
            if count:
                where = difference(found.compared, types, name)
                words, examples = self._pair(table, name, where, found.compared)
                yield Difference(
                    "value", table.feature, table.place, name, count, total, words, examples
                )
        for which in WHICH:
            if count := found.alone[which]:
                what = "absent row" if which == "left" else "added row"
                words, examples = self._alone(table, which, found.compared)
                yield Difference(
                    what, table.feature, table.place, None, count, total, words, examples
                )

    def _pair(
        self, table: Table, name: str, where: str, asked: Compared
    ) -> tuple[str, tuple[Example, ...]]:
        named = [*asked.keys, *([asked.near] if asked.near and asked.near != name else [])]
        examples = self._found(table, [name], named, where, WHICH)
        left, right = (_text(examples[0].values[one][name], asked.columns[name]) for one in WHICH)
        at = _stated(asked, named, examples[0].values["left"])
        words = f"{left} of {self.sides['left']}, {right} of {self.sides['right']}"
        return f"{words} ({at})" if at else words, examples

    def _alone(
        self, table: Table, which: Which, asked: Compared
    ) -> tuple[str, tuple[Example, ...]]:
        shown = asked.shown[:EXAMPLE_COLUMNS]
        examples = self._found(table, [], shown, f"{other_than(which)}_turn IS NULL", (which,))
        stated = _stated(asked, shown, examples[0].values[which])
        return f"{stated} of {self.sides[which]}", examples

    def _found(
        self,
        table: Table,
        values: Sequence[str],
        named: Sequence[str],
        where: str,
        sides: tuple[Which, ...],
    ) -> tuple[Example, ...]:
        """The first rows of :data:`PAIRS`: values of each side, and of the first what names it."""
        shown = {one: [*values, *(named if one == sides[0] else ())] for one in sides}
        columns = [f"{one}_{name}" for one in sides for name in (FILE, ROW, *shown[one])]
        order = "left_file, left_row, right_file, right_row"
        query = (
            f"SELECT {', '.join(map(quoted, columns))} FROM {PAIRS} WHERE {where} "
            f"ORDER BY {order} LIMIT {max(self._examples, 1)}"
        )
        return tuple(self._example(table, iter(row), shown) for row in self.facts.rows(query))

    @staticmethod
    def _example(
        table: Table, cells: Iterator[Any], shown: Mapping[Which, Sequence[str]]
    ) -> Example:
        rows: dict[Which, tuple[int, int]] = {}
        values: dict[Which, Mapping[str, Scalar]] = {}
        for which, names in shown.items():
            rows[which] = next(cells), next(cells)
            ahead = table.ahead if which == "right" else {}
            values[which] = {name: _later(next(cells), ahead.get(name, 0)) for name in names}
        return Example(rows, values)


def listed(columns: Mapping[str, str]) -> str:
    """Columns as a SELECT lists them."""
    return ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())


def _later(value: Any, ahead: float) -> Any:
    """A value as its side has it."""
    return value + ahead if ahead and isinstance(value, int | float) else value


def _stated(asked: Compared, names: Sequence[str], values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {_text(values[name], asked.columns.get(name))}" for name in names)


def _text(value: object, compared: Comparison | None) -> str:
    if compared is TIME and isinstance(value, int):
        return f"{value // 1000}.{value % 1000:03d} us"
    return "nothing" if value is None else clip(printable(str(value)), SHOWN)
