"""Differences that a change of the schema explains, between databases of two revisions.

A table or a column that one revision has and the other has not, the members of an enum and the
version are as their revisions state them. Other differences at a place that changed are named with
the change, which may explain them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from ascend_ref.db.introspect import describe
from ascend_ref.db.open import open_readonly, read_examples
from ascend_ref.recorded.model import Output
from ascend_ref.recorded.shape import shape_of, sources
from ascend_ref.recorded.tables import DatabaseFile
from ascend_spec import Schema, catalog

from ..schema.explaining import explaining
from .pairing import Difference

_VERSION = "SCHEMA_VERSION"
_META = "META_DATA"
_MOST = 1 << 12
"""Rows of an enum or of META_DATA that are looked at."""


@dataclass(frozen=True, slots=True)
class Revised:
    """A database with the schema of its revision."""

    path: Path
    schema: Schema

    @classmethod
    def of(cls, file: DatabaseFile) -> Revised:
        """A database that has been opened."""
        return cls(file.path, catalog().at(file.revision, file.carrier))

    def holds(self, table: str) -> bool:
        """Whether its revision has a table."""
        return table in self.schema.tables or table in self.schema.enums

    def columns(self, table: str) -> Collection[str]:
        """The columns that its revision has, by their newest names."""
        own = self.schema.tables.get(table)
        if own is None:
            return ()
        output: Output = "msprof" if self.schema.carrier == "msprof" else "pytorch"
        return sources(shape_of(output, table), own, (one.name for one in own.columns.values()))

    def rows(self, table: str, columns: Sequence[str]) -> Mapping[object, object]:
        """The rows of a small table: of two columns the second by the first."""
        with closing(open_readonly(self.path)) as connection:
            if describe(connection).readable(table, *columns) is None:
                return {}
            select = f"SELECT {', '.join(columns)} FROM main.{table}"
            found = read_examples(connection, select, columns=len(columns), rows=_MOST)
        return {one[0]: one[1] for one in found}


def explained(
    some: Iterable[Difference], left: Sequence[DatabaseFile], right: Sequence[DatabaseFile]
) -> Iterator[Difference]:
    """Differences, each with the changes of the schema at its place; those between databases of one
    revision as they are.
    """
    sides = [{one.carrier: Revised.of(one) for one in side} for side in (left, right)]
    carriers = [
        carrier
        for carrier in sorted(sides[0].keys() & sides[1].keys())
        if sides[0][carrier].schema.revision != sides[1][carrier].schema.revision
    ]
    for one in some:
        pairs = ((sides[0][carrier], sides[1][carrier]) for carrier in carriers)
        own = (pair for pair in pairs if any(side.holds(one.place) for side in pair))
        pair = next(own, None)
        yield one if pair is None else _explained(one, *pair)


def _explained(one: Difference, left: Revised, right: Revised) -> Difference:
    words = explaining(left.schema.revision, right.schema, one.place, one.column)
    if one.column is None and not words:
        columns = list(catalog().tables[one.place].columns)
        found = (
            explaining(left.schema.revision, right.schema, one.place, name) for name in columns
        )
        words = tuple(dict.fromkeys(word for some in found for word in some))
    certain = _is_certain(one, left, right)
    if certain and not words:
        names = f"{left.schema.revision.id} and {right.schema.revision.id}"
        words = (f"{one.place}: the revisions {names} differ in it",)
    return replace(one, changes=words, is_explained=certain)


def _is_certain(one: Difference, left: Revised, right: Revised) -> bool:
    """Whether both sides are at this place what their revisions state."""
    kind, _, what = one.what.partition(" ")
    has, lacks = (left, right) if kind == "absent" else (right, left)
    if what == "file":
        return has.holds(one.place) and not lacks.holds(one.place)
    if what == "column":
        return one.column in has.columns(one.place) and one.column not in lacks.columns(one.place)
    if one.place in left.schema.enums and one.place in right.schema.enums:
        return all(
            side.rows(one.place, ("id", "name")) == dict(side.schema.enums[one.place])
            for side in (left, right)
        )
    if one.place == _META and one.column == "value":
        held = [side.rows(_META, ("name", "value")) for side in (left, right)]
        names = {name for name in held[0].keys() & held[1] if held[0][name] != held[1][name]}
        return all(str(name).startswith(_VERSION) for name in names)
    return False
