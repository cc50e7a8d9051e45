"""Two states of a table, row by row and value by value: rows paired by keys, values by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from ascend_ref.db.display import clip, printable

from ..compare.agreement import WHICH, Agreement, Comparison, Side, Which, other_than
from ..compare.match import PAIRS, Compared, Outcome, Selected, difference, outcome, pair_types
from ..compare.sql import quoted
from ..media.text.database import Facts
from .texts import EXAMPLE_COLUMNS, SHOWN, Difference

_KINDS = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Both:
    """A table on both sides, with int64, double and string columns.

    ``keys`` tell rows apart. ``tolerances``: SQL over ``left.`` and ``right.`` columns for the
    greatest difference of numbers that agree; without one they are equal.
    """

    name: str
    sides: Mapping[Which, pa.Table]
    keys: Sequence[str]
    tolerances: Mapping[str, str]


def differences(facts: Facts, both: Both, called: tuple[str, str]) -> Iterator[Difference]:
    """What the sides, which are ``called`` so, do not agree in; what one lacks is named once."""
    names = dict(zip(WHICH, called, strict=True))
    columns = {which: both.sides[which].column_names for which in WHICH}
    for which in WHICH:
        what = "absent column" if which == "left" else "added column"
        other = other_than(which)
        for name in columns[which]:
            if name not in columns[other]:
                words = f"{names[other]} does not have it"
                yield Difference(what, both.name, both.name, name, 1, 1, words)
    shared = [name for name in columns["left"] if name in columns["right"]]
    if shared:
        yield from _shown(facts, both.name, outcome(facts, _asked(facts, both, shared)), names)


def _asked(facts: Facts, both: Both, columns: Sequence[str]) -> Compared:
    keys = tuple(name for name in both.keys if name in columns)
    compare = {
        name: Comparison(tolerance=both.tolerances.get(name))
        for name in columns
        if name not in keys
    }
    side = Side("tables", {name: quoted(name) for name in columns})
    sides = {}
    for file, which in enumerate(WHICH):
        table = both.sides[which].select(columns)
        place = {
            "file": pa.repeat(pa.scalar(file), table.num_rows),
            "row": pa.array(range(table.num_rows), pa.int64()),
            "times": pa.repeat(pa.scalar(1), table.num_rows),
        }
        for name, values in place.items():
            table = table.append_column(name, values)
        facts.connection.register(f"table_{which}", table)
        kinds = {name: _KINDS[table.schema.field(name).type] for name in columns}
        sides[which] = Selected(side, f"SELECT * FROM table_{which}", kinds, {})
    return Compared(Agreement(side, side, keys, compare), keys, None, compare, sides)


def _shown(
    facts: Facts, place: str, found: Outcome, called: Mapping[Which, str]
) -> Iterator[Difference]:
    asked, types = found.compared, pair_types(found.compared)
    total = max(found.rows.values())
    for name, count in found.differing.items():
        if count:
            chosen = [f"left_{name}", f"right_{name}", *(f"left_{key}" for key in asked.keys)]
            left, right, *at = _first(facts, chosen, difference(asked, types, name))
            words = f"{_text(left)} of {called['left']}, {_text(right)} of {called['right']}"
            where = _stated(asked.keys, at)
            words += f" ({where})" if where else ""
            yield Difference("value", place, place, name, count, total, words)
    for which in WHICH:
        if count := found.alone[which]:
            what = "absent row" if which == "left" else "added row"
            shown = asked.keys or asked.shown[:EXAMPLE_COLUMNS]
            chosen = [f"{which}_{name}" for name in shown]
            row = _first(facts, chosen, f"{other_than(which)}_turn IS NULL")
            words = f"{_stated(shown, row)} of {called[which]}"
            yield Difference(what, place, place, None, count, total, words)


def _first(facts: Facts, columns: Sequence[str], where: str) -> tuple[object, ...]:
    order = "left_file, left_row, right_file, right_row"
    listed = ", ".join(map(quoted, columns))
    return facts.rows(f"SELECT {listed} FROM {PAIRS} WHERE {where} ORDER BY {order} LIMIT 1")[0]


def _stated(names: Sequence[str], values: Sequence[object]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in zip(names, values, strict=True))


def _text(value: object) -> str:
    return "nothing" if value is None else clip(printable(str(value)), SHOWN)
