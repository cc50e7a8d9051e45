"""How one medium shows an entity, as SQL: what relations are asked on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import pyarrow as pa

from ascend_ref.db.header import UnreadableDatabase

Dialect = Literal["sqlite", "duckdb"]


@dataclass(frozen=True, slots=True)
class Codes:
    """The numbers by which a cell names texts. ``cell``: SQL of the number.

    ``names``: the texts by number, of a closed set; else ``source`` has a row for each, with
    ``id``, its key, and ``value``. ``written``: the same SQL of one of its ids, if possible faster.
    ``is_whole``: every row has a number that names a text.
    """

    cell: str
    names: Mapping[int, str] | None = None
    source: str = ""
    written: Callable[[str], str] = str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one source. ``source``: what follows FROM. ``columns``: SQL by column of the entity.

    ``place``: SQL of a whole number that finds the row again. ``where``: which rows. ``linked``:
    conditions by column, of rows that have a link at all: a row without one takes part in no
    relation that reads the column, so that links stay bare columns in joins. ``codes``: by column,
    the numbers that stand for its texts. ``keys``: columns of which each value is in one row only.
    ``joins``: what is joined to the source where its alias is used. ``is_empty``: it has no row.
    """

    source: str
    place: str
    columns: Mapping[str, str]
    where: tuple[str, ...] = ()
    linked: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, Codes] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()
    joins: Mapping[str, str] = field(default_factory=dict)
    is_empty: bool = False

    def select(self, names: Sequence[str], coded: bool = False) -> str:
        """The part as a SELECT of ``place`` and these columns; NULL for those it does not show."""
        further = self._codes(names) if coded else ""
        return self._select(names, further, (*self.where, *self.links(names)))

    def marked(self, groups: Sequence[Collection[str]]) -> str:
        """The columns of all groups; ``own_N``: whether a row takes part in what reads group N."""
        marks = "".join(
            f", ({' AND '.join(self.links(names)) or 'TRUE'}) AS own_{number}"
            for number, names in enumerate(groups)
        )
        names = sorted(set().union(*groups))
        return self._select(names, marks + self._codes(names), self.where)

    def links(self, names: Iterable[str]) -> tuple[str, ...]:
        """The conditions of rows that take part in what reads these columns."""
        return tuple(self.linked[name] for name in sorted(names) if name in self.linked)

    def counted(self, names: Sequence[str]) -> str:
        """The combinations of these columns, all with codes, and ``times``: how many rows each."""
        rows = self._select(names, ", count(*) AS times", (*self.where, *self.links(names)))
        return f"{rows} GROUP BY {', '.join(self.codes[name].cell for name in names)}"

    def _codes(self, names: Iterable[str]) -> str:
        return "".join(
            f", {self.codes[name].cell} AS code_{name}" for name in names if name in self.codes
        )

    def _select(self, names: Iterable[str], further: str, conditions: Sequence[str]) -> str:
        shown = "".join(f', {self.columns.get(name, "NULL")} AS "{name}"' for name in names)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        cells = f"{self.place} AS place{shown}{further}"
        used = [
            f" {join}" for alias, join in self.joins.items() if f"{alias}." in f"{cells} {where}"
        ]
        return f"SELECT {cells} FROM {self.source}{''.join(used)}{where}"


@dataclass(frozen=True)
class View:
    """An entity as one table, file or layer shows it.

    ``name``: what shows it, as findings name it. ``space``: views of one space share identities.
    ``rank``: 0 is the most precise. ``slack``: units that a sum of its numbers may be off.
    """

    entity: str
    name: str
    space: str
    parts: tuple[Part, ...]
    medium: str
    rank: int = 0
    slack: int = 0

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that some of its rows show."""
        return frozenset(name for part in self.parts for name in part.columns)

    def select(self, names: Iterable[str], coded: bool = False) -> str:
        """The rows as a SELECT of ``place`` and these columns; ``coded``: with their codes."""
        wanted = sorted(names)
        return " UNION ALL ".join(part.select(wanted, coded) for part in self._with_rows)

    def codes(self, name: str) -> Codes | None:
        """The numbers that stand for the texts of a column, where all of its rows have them."""
        return self.parts[0].codes.get(name) if len(self.parts) == 1 else None

    def is_key(self, name: str) -> bool:
        """Whether each value of a column is in one row only."""
        return len(self.parts) == 1 and name in self.parts[0].keys

    def marked(self, groups: Sequence[Collection[str]]) -> str:
        """The rows with the columns of all groups; see :meth:`Part.marked`."""
        return " UNION ALL ".join(part.marked(groups) for part in self._with_rows)

    def is_read_whole(self, names: Iterable[str]) -> bool:
        """Whether each of its rows takes part in what reads these columns."""
        wanted = tuple(names)
        return not any(part.links(wanted) for part in self._with_rows)

    def alike(self, groups: Sequence[Collection[str]]) -> list[int]:
        """Of each group of columns the first in whose reading the same rows take part."""
        links = [tuple(part.links(names) for part in self._with_rows) for names in groups]
        return [links.index(one) for one in links]

    @property
    def _with_rows(self) -> Sequence[Part]:
        return [part for part in self.parts if not part.is_empty] or self.parts[:1]


class Bound(dict[str, View]):
    """The views of a relation by entity. ``coded``: the relation on the codes that they have, as
    :mod:`.codes` writes it, with the relation as it was.
    """

    coded: tuple[Any, Any] | None = None


class Views(tuple[View, ...]):
    """All views of one medium, with what relations were bound to among them.

    ``bound``: by the number of a relation's object, that object and its views.
    """

    bound: dict[int, tuple[Any, Any]]

    def __new__(cls, views: Iterable[View]) -> Views:
        """The views, of which nothing is bound yet."""
        made = super().__new__(cls, views)
        made.bound = {}
        return made


class Shown(Protocol):
    """What a medium supplies to have relations judged in it."""

    dialect: Dialect

    def views(self) -> Sequence[View]:
        """The views of the entities that it shows."""

    def rows(self, query: str) -> Iterable[tuple[Any, ...]]:
        """The rows of a SELECT, one after the other."""

    def values(self, query: str, columns: int, rows: int) -> Sequence[tuple[Any, ...]]:
        """The first rows of a SELECT, as values that are safe to show."""


MIXED = (UnreadableDatabase, UnicodeDecodeError, pa.ArrowInvalid, pa.ArrowTypeError)
"""What comes of columns that hold anything but integers: the last two where they lie in memory."""


@runtime_checkable
class Streaming(Shown, Protocol):
    """What can hand rows over in batches, too: walks over it are judged by code."""

    def batches(
        self, query: str, multiplies: bool
    ) -> AbstractContextManager[Iterator[pa.RecordBatch]]:
        """The rows of a SELECT, each column of one type.

        ``multiplies``: whether a file can make the work grow faster than its rows.
        """


def with_interval(
    columns: Mapping[str, str], interval: tuple[str, str, str] | None
) -> dict[str, str]:
    """Columns with the third of start, end and length where two of them are shown."""
    found = dict(columns)
    if interval is None:
        return found
    start, end, length = interval
    if end not in found and {start, length} <= found.keys():
        found[end] = f"({found[start]} + {found[length]})"
    if length not in found and {start, end} <= found.keys():
        found[length] = f"({found[end]} - {found[start]})"
    return found


def inherited(view: View, column: str, names: Iterable[str], owner: View) -> View:
    """A view with columns of another entity of the same space, found by a number of theirs."""
    lacking = [one for one in names if one in owner.columns and one not in view.columns]
    source = owner.select({"id", *lacking})
    parts = tuple(
        replace(
            part,
            source=f"{part.source} JOIN ({source}) owner ON owner.id = {part.columns[column]}",
            columns={**part.columns, **{name: f'owner."{name}"' for name in lacking}},
        )
        for part in view.parts
        if column in part.columns
    )
    return replace(view, parts=parts) if parts else view


def owners(views: Iterable[View], view: View) -> list[View]:
    """The views of tasks whose numbers a view has."""
    return [
        one
        for one in views
        if one.entity == "task" and one.space == view.space and "id" in one.columns
    ]


def showing(views: Iterable[View], entity: str, columns: Collection[str]) -> list[View]:
    """The views of an entity that show all of these columns, the most precise first."""
    found = [one for one in views if one.entity == entity and one.columns.issuperset(columns)]
    return sorted(found, key=lambda one: (one.rank, one.name))
