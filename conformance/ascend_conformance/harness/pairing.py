"""Rows of two sides in one database, paired and compared: what texts and databases have in common.

Each table of it holds the rows of both sides, those of the left one in files below a border, and is
an agreement of the two, matched and compared as those of the rules are: by meaning, within one unit
of the last printed digit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ascend_ref.db.display import clip, printable

from ..compare.agreement import WHICH, Agreement, Comparison, Side, Which, other_than
from ..compare.follow import TIME
from ..compare.match import PAIRS, Compared, Outcome, Selected, difference, outcome, pair_types
from ..compare.sql import quoted
from ..media.text.database import Facts

LEFT, RIGHT = 0, 1
"""Numbers of the sides as files of the facts, where each is one."""
SHOWN = 60
"""Characters of a value that are shown."""
EXAMPLE_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Difference:
    """What does not agree: ``what`` as the rules call it, in which file and column, how often of
    how many rows, and the first of it in words.
    """

    what: str
    feature: str
    place: str
    column: str | None
    count: int
    total: int
    words: str


def broken_file(feature: str, place: str, reason: str) -> Difference:
    """That a file cannot be read, and why."""
    return Difference("broken file", feature, place, None, 1, 1, printable(reason))


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
    """

    place: str
    feature: str
    of: str
    columns: Mapping[str, str]
    keys: tuple[str, ...]
    near: str | None = None
    times: tuple[str, ...] = ()
    tolerances: Mapping[str, str] = field(default_factory=dict)


class Pairing:
    """Tables of two sides, named by ``sides``; files of the left one are below ``border``."""

    def __init__(self, facts: Facts, border: int, sides: tuple[str, str]) -> None:
        self.facts = facts
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
        for which in WHICH:
            for name in sorted(lacks[which]):
                what = "absent column" if which == "right" else "added column"
                words = f"{self.sides[which]} does not have it"
                yield Difference(what, table.feature, table.place, name, 1, 1, words)
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
        sides = {which: self._selected(side, types, which) for which in WHICH}
        return Compared(agreement, keys, near, compare, sides)

    def _selected(self, side: Side, types: Mapping[str, str], which: Which) -> Selected:
        cells = f", {listed(side.columns)}" if side.columns else ""
        query = f"SELECT file, row, 1 AS times{cells} FROM {side.of} WHERE {self.of(which)}"
        return Selected(side, query, types, {})

    def count(self, asked: Compared, which: Which) -> int:
        """The rows of a side."""
        return int(self.facts.value(f"SELECT count(*) FROM ({asked.sides[which].query})") or 0)

    def _shown(self, table: Table, found: Outcome) -> Iterator[Difference]:
        types = pair_types(found.compared)
        total = max(found.rows.values())
        for name, count in found.differing.items():
            if count:
                where = difference(found.compared, types, name)
                words = self._pair(name, where, found.compared)
                yield Difference("value", table.feature, table.place, name, count, total, words)
        for which in WHICH:
            if count := found.alone[which]:
                what = "absent row" if which == "left" else "added row"
                words = self._alone(which, found.compared)
                yield Difference(what, table.feature, table.place, None, count, total, words)

    def _pair(self, name: str, where: str, asked: Compared) -> str:
        named = [*asked.keys, *([asked.near] if asked.near and asked.near != name else [])]
        chosen = [f"left_{name}", f"right_{name}", *(f"left_{one}" for one in named)]
        row = self._first(chosen, where)
        left, right = (_text(one, asked.columns[name]) for one in row[:2])
        at = _stated(asked, named, row[2:])
        words = f"{left} of {self.sides['left']}, {right} of {self.sides['right']}"
        return f"{words} ({at})" if at else words

    def _alone(self, which: Which, asked: Compared) -> str:
        shown = asked.shown[:EXAMPLE_COLUMNS]
        row = self._first([f"{which}_{one}" for one in shown], f"{other_than(which)}_turn IS NULL")
        return f"{_stated(asked, shown, row)} of {self.sides[which]}"

    def _first(self, columns: Sequence[str], where: str) -> tuple[object, ...]:
        names = ", ".join(map(quoted, columns)) or "1"
        order = "left_file, left_row, right_file, right_row"
        query = f"SELECT {names} FROM {PAIRS} WHERE {where} ORDER BY {order} LIMIT 1"
        return tuple(self.facts.rows(query)[0])


def listed(columns: Mapping[str, str]) -> str:
    """Columns as a SELECT lists them."""
    return ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())


def _stated(asked: Compared, names: Sequence[str], values: Sequence[object]) -> str:
    return ", ".join(
        f"{name} {_text(value, asked.columns.get(name))}"
        for name, value in zip(names, values, strict=True)
    )


def _text(value: object, compared: Comparison | None) -> str:
    if compared is TIME and isinstance(value, int):
        return f"{value // 1000}.{value % 1000:03d} us"
    return "nothing" if value is None else clip(printable(str(value)), SHOWN)
