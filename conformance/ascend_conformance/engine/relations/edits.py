"""Breaks and keeps of relations: changes stated on entities, carried out on cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ascend_spec import recording_catalog

from .binding import Unjudged, bind
from .rule import Edit, Relation
from .sql import matched_query
from .views import Bound, Shown, View, owners


class Editable(Shown, Protocol):
    """A medium whose cells can be changed, as copies of specimens are."""

    def write(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        """Make the row of a view show these values, by column of its entity; ``None``: no value.

        Raises :class:`CannotShow` for a column that no cell of the row can show by itself.
        """

    def drop(self, view: View, place: int) -> None:
        """Take a row away."""

    def repeat(self, view: View, place: int) -> None:
        """Write a row once more."""


class CannotShow(ValueError):
    """A change that a medium has no cell for."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What an edit changed: the view and the place of the row."""

    view: View
    place: int


def change(relation: Relation, edit: Edit, shown: Editable) -> Changed | Unjudged:
    """Carry out one edit of a relation. Raises :class:`CannotShow`."""
    bound = bind(relation, shown.views())
    if isinstance(bound, Unjudged):
        return bound
    view = bound[relation.search.aliases[edit.alias]]
    row = _first_row(relation, edit, shown, bound)
    if row is None:
        return Unjudged(relation, "no row that the edit is about")
    place: int = row["place"]
    if edit.drop:
        shown.drop(view, place)
    elif edit.repeat:
        shown.repeat(view, place)
    else:
        _write(shown, view, place, _values(relation, edit, shown, bound, row))
    return Changed(view, place)


def _write(shown: Editable, view: View, place: int, values: Mapping[str, Any]) -> None:
    """Write values into a row, and those that it inherits into the row that has them."""
    own = dict(values)
    shows = next(one for one in shown.views() if (one.entity, one.name) == (view.entity, view.name))
    for link, names in recording_catalog().entities[view.entity].inherits.items():
        owned = {one: own.pop(one) for one in names if one in own and one not in shows.columns}
        if owned:
            [(number,)] = shown.rows(
                f"SELECT {link} FROM ({shows.select({link})}) WHERE place = {place}"
            )
            owner = next(one for one in owners(shown.views(), shows) if "id" in one.columns)
            found = f"SELECT place FROM ({owner.select({'id'})}) WHERE id = {number}"
            for (home,) in list(shown.rows(found)):
                shown.write(owner, home, owned)
    if own:
        shown.write(view, place, own)


def _wanted(edit: Edit) -> dict[str, str]:
    """Expressions over the row, by name."""
    wanted = {"place": f"{edit.alias}.place"}
    for column in (*edit.add, *(edit.swap or ())):
        wanted[f"own_{column}"] = f"{edit.alias}.{column}"
    for column, given in edit.set.items():
        if isinstance(given, Mapping) and "value" in given:
            wanted[f"given_{column}"] = given["value"]
    if edit.shift:
        wanted |= {"own_start": f"{edit.alias}.start", "own_end": f"{edit.alias}.end"}
    if isinstance(edit.shift, Mapping):
        wanted["given_shift"] = edit.shift["to"]
    return wanted


def _first_row(relation: Relation, edit: Edit, shown: Shown, bound: Bound) -> dict[str, Any] | None:
    wanted = _wanted(edit)
    selected = ", ".join(f"{sql} AS {name}" for name, sql in wanted.items())
    query = matched_query(relation, bound, shown.dialect, edit.if_, selected, wanted.values())
    for row in shown.rows(f"SELECT * FROM ({query}) ORDER BY place LIMIT 1"):
        return dict(zip(wanted, row, strict=True))
    return None


def _values(
    relation: Relation, edit: Edit, shown: Shown, bound: Bound, row: Mapping[str, Any]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for column, given in edit.set.items():
        if not isinstance(given, Mapping):
            values[column] = given
        elif "query" in given:
            query = matched_query(relation, bound, shown.dialect, None, given["query"], (), True)
            [(values[column],)] = shown.rows(query)
        else:
            values[column] = row[f"given_{column}"]
            if "plus" in given:
                values[column] += given["plus"]
    for column, amount in edit.add.items():
        values[column] = row[f"own_{column}"] + amount
    if edit.swap:
        one, other = edit.swap
        values |= {one: row[f"own_{other}"], other: row[f"own_{one}"]}
    if edit.shift:
        by = edit.shift
        if isinstance(by, Mapping):
            by = row["given_shift"] + by.get("plus", 0) - row["own_start"]
        values |= {"start": row["own_start"] + by, "end": row["own_end"] + by}
    return values
