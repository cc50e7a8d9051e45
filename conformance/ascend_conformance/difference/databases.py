"""Databases of two sides, table by table, by meaning: never by the number of a text or of a row.

Tables are read as those of a recording are, texts and names of enums in place of their ids, and
numbers that link rows are followed (:mod:`.following`). Times are whole ns, and equal. How a table
was declared is for ``check``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.capture.batch import Integers
from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.recorded.model import Output
from ascend_ref.recorded.shape import shape_of
from ascend_ref.recorded.tables import DatabaseFile, FileTables
from ascend_ref.spill import Spill
from ascend_spec import catalog, recording_catalog
from ascend_spec.db.model import STRINGS, Column
from ascend_spec.db.model import Table as TableFacts

from ..compare.agreement import WHICH, Which
from ..compare.sql import quoted
from ..media.text.database import Facts, open_facts
from .clocks import FARTHEST
from .clocks import Side as Batches
from .clocks import moved as moved_clocks
from .files import DatabaseTable, File, have_same_bytes, rowid
from .following import Following
from .hashes import TIMES, Hashed, is_time, unlike_rows
from .links import links_of
from .members import renamed_members, with_names
from .pairing import (
    LEFT,
    RIGHT,
    Difference,
    Example,
    Pairing,
    Table,
    broken_file,
    clocks_ahead,
    listed,
    unmatched,
)

_STRICT = (False, True)
"""Whether cells that are not of the type of their column are read as NULL."""


def differences(
    left: Sequence[File],
    right: Sequence[File],
    features: Collection[str] | None = None,
    sides: tuple[str, str] = ("the truth", "the exporter"),
    output: Output = "pytorch",
    examples: int = 1,
    clocks: bool = False,
    opened: Mapping[Path, DatabaseFile] | None = None,
) -> list[Difference]:
    """What the tables among the files of two sides do not agree in. ``features``: only these;
    ``sides``: their names. ``output``: whose databases they are. ``examples`` of each difference
    are stated at most. ``clocks``: that the times of a side are all later by one length is one.
    ``opened``: databases that have been found sound.
    """
    tables = [[one for one in some if isinstance(one, DatabaseTable)] for some in (left, right)]
    broken = {one.name: one for some in tables for one in some if not one.is_readable}
    # What an unreadable database lacks is not known.
    named = [{one.name: one for one in some if one.path.name not in broken} for some in tables]
    wanted = [
        {name: one.place for name, one in some.items() if features is None or name in features}
        for some in named
    ]
    found = [broken_file(name, name, _damage(one.path)) for name, one in sorted(broken.items())]
    found += unmatched(wanted, sides)
    paths = [list(dict.fromkeys(one.path for one in some.values())) for some in named]
    if not all(paths) or have_same_bytes(*paths):
        return found
    places = {name: place for name, place in wanted[1].items() if name in wanted[0]}
    with open_facts() as facts:
        both = _Both(facts, places, sides, output, examples, opened or {})
        for number, some in enumerate(paths):
            found += both.read(number, some)
        both.rename_members()
        found += both.differences(clocks)
    return found


def output_of(files: Iterable[DatabaseFile]) -> Output:
    """Whose databases some are."""
    carriers = {one.carrier for one in files}
    return "msprof" if carriers == {"msprof"} else "pytorch"


def _damage(path: Path) -> str:
    """How a database is damaged."""
    try:
        DatabaseFile(path)
    except UnreadableDatabase as problem:
        return str(problem)
    return "some of its rows cannot be read"


class _Both:
    """The databases of two sides, read together."""

    def __init__(
        self,
        facts: Facts,
        places: Mapping[str, str],
        sides: tuple[str, str],
        output: Output,
        examples: int,
        opened: Mapping[Path, DatabaseFile],
    ) -> None:
        self._opened = opened
        self._facts = facts
        self._places = places
        self._output = output
        self._pairing = Pairing(facts, RIGHT, sides, examples)
        self._spill = Spill()
        self._tables: tuple[dict[str, pa.Table], dict[str, pa.Table]] = ({}, {})
        self._present: dict[tuple[str, int], frozenset[str]] = {}
        self._homes: dict[tuple[str, int], Path] = {}

    def read(self, number: int, paths: Sequence[Path]) -> Iterator[Difference]:
        """Read the databases of a side; what cannot be read is a difference."""
        try:
            files = [*map(self._file, paths)]
        except UnreadableDatabase as problem:
            yield broken_file(paths[0].name, paths[0].name, str(problem))
            return
        tables, lenient = (FileTables(self._output, files, self._spill, one) for one in _STRICT)
        for name in tables:
            try:
                table = tables[name]
            except UnreadableDatabase as problem:
                yield broken_file(name, self._places.get(name, name), str(problem))
                table = lenient[name]
            self._tables[number][name] = table
            self._present[name, number] = tables.present(name)
            self._homes[name, number] = tables.path_of(name)

    def rename_members(self) -> None:
        """Let both sides call the members of enums as the revision of the right one does."""
        paths = [{path for (_, at), path in self._homes.items() if at == side} for side in (0, 1)]
        names = renamed_members(*([*map(self._file, sorted(some))] for some in paths))
        for name, table in self._tables[LEFT].items() if names else ():
            shape = shape_of(self._output, name)
            self._tables[LEFT][name] = with_names(table, shape, names)

    def _file(self, path: Path) -> DatabaseFile:
        return self._opened.get(path) or DatabaseFile(path)

    def differences(self, clocks: bool) -> Iterator[Difference]:
        """What the tables that both have do not agree in. ``clocks``: that one is ahead is one."""
        names = [one for one in sorted(self._places) if self._holds(one)]
        moved = self._clocks(names) if clocks else {}
        yield from clocks_ahead(moved, self._pairing.sides["right"])
        shapes = {name: shape_of(self._output, name) for name in names}
        columns = {name: sorted(self._common(name)) for name in names}
        sides = [
            Hashed(tables, shapes, columns, by, self._spill)
            for tables, by in zip(self._tables, ({}, moved), strict=True)
        ]
        for side in sides:
            side.hash_all()
        rows = {
            name: unlike_rows(self._spill, *(side.rows[name] for side in sides)) for name in names
        }
        unlike = [name for name in names if any(map(len, rows[name]))]
        for name in unlike:
            for number in (LEFT, RIGHT):
                self._load(name, number, rows[name][number])
        following = Following(self._facts, sides, rows)
        asked = partial(self._table, following, rows, moved)
        following.follow_all(
            lambda name: (
                self._pairing.asked(asked(name), self._lacks(name)) if name in unlike else None
            )
        )
        for name in names:
            table, lacks = asked(name), self._lacks(name)
            yield from self._pairing.columns(table, lacks)
            for one in self._pairing.rows(table, lacks) if name in unlike else ():
                yield replace(one, examples=tuple(map(self._placed(name), one.examples)))

    def _clocks(self, names: Sequence[str]) -> Mapping[str, int]:
        times: list[tuple[str, Batches, Batches]] = []
        for name in names:
            shape = shape_of(self._output, name)
            own = {one: shape.columns[one] for one in self._common(name)}
            near = _time_of(catalog().tables[name], own)
            if near is not None and is_time(shape, near):
                left, right = (partial(self._times, side[name], near) for side in self._tables)
                times.append((name, left, right))
        return moved_clocks(times)

    def _times(self, table: pa.Table, column: str) -> Iterator[Integers]:
        for batch in self._spill.batches(table.num_rows):
            part = table[column].slice(batch.start, batch.stop - batch.start)
            yield integers(part, FARTHEST)

    def _load(self, name: str, number: int, rows: Integers) -> None:
        """Rows of a table as facts."""
        table = self._tables[number][name].take(pa.array(rows))
        columns = ", ".join(
            f"CAST({quoted(field.name)} AS VARCHAR) AS {quoted(field.name)}"
            if pa.types.is_dictionary(field.type)
            else quoted(field.name)
            for field in table.schema
        )
        numbered = table.add_column(0, "row", pa.array(rows + 1))
        select = f"SELECT {number} AS file, row, {columns} FROM recorded"
        begin = "CREATE TABLE" if number == LEFT else "INSERT INTO"
        end = "AS " if number == LEFT else ""
        self._facts.scan("recorded", numbered, f"{begin} db.{quoted(name)} {end}{select}")

    def _placed(self, name: str) -> Callable[[Example], Example]:
        """Adds the rowids of the rows of a table to an example of it."""

        def placed(example: Example) -> Example:
            found = {
                which: f"{name} rowid {rowid(self._homes[name, number], name, row)}"
                for which, (number, row) in example.rows.items()
            }
            return replace(example, places=found)

        return placed

    def _holds(self, name: str) -> bool:
        return all((name, number) in self._present for number in (LEFT, RIGHT))

    def _common(self, name: str) -> frozenset[str]:
        return self._present[name, LEFT] & self._present[name, RIGHT]

    def _lacks(self, name: str) -> Mapping[Which, frozenset[str]]:
        """The columns that the file of a side does not have, and that of the other has."""
        there = {which: self._present[name, number] for number, which in enumerate(WHICH)}
        return {"left": there["right"] - there["left"], "right": there["left"] - there["right"]}

    def _table(
        self,
        following: Following,
        rows: Mapping[str, tuple[Integers, Integers]],
        moved: Mapping[str, int],
        name: str,
    ) -> Table:
        facts, shape = catalog().tables[name], shape_of(self._output, name)
        known = self._present[name, LEFT] | self._present[name, RIGHT]
        columns = {one: f"t.{quoted(one)}" for one in shape.columns if one in known}
        joins = ""
        for column in links_of(shape.columns):
            if column.name in columns:
                columns[column.name], join = following.column(name, column)
                joins += join
        own = {one: column for one, column in shape.columns.items() if one in known}
        near = _time_of(facts, own)
        source = f"(SELECT t.file, t.row, {listed(columns)} FROM db.{quoted(name)} t{joins})"
        alike = [
            side[name].num_rows - len(some)
            for side, some in zip(self._tables, rows[name], strict=True)
        ]
        return Table(
            self._places.get(name, name),
            name,
            source,
            {one: quoted(one) for one in columns},
            _keys(facts.device, own, near),
            near,
            alike=max(alike),
            ahead=dict.fromkeys((one for one in own if is_time(shape, one)), moved.get(name, 0)),
        )


def _time_of(table: TableFacts, own: Mapping[str, Column]) -> str | None:
    """The column that says when."""
    named = [table.interval[0] if table.interval else None, table.sample]
    named += [name for name, column in own.items() if column.type in TIMES]
    return next((one for one in named if one in own), None)


def _keys(device: str | None, own: Mapping[str, Column], near: str | None) -> tuple[str, ...]:
    """By what rows are known: their device and first text where they have a time, else the key of
    the entity that they show.
    """
    if near is not None:
        texts = (
            name
            for name, one in own.items()
            if one.text_reference == STRINGS or (not one.references and one.type == "bareText")
        )
        return tuple(one for one in (device, next(texts, None)) if one in own and one is not None)
    entities = recording_catalog().entities
    return tuple(
        name
        for name, column in own.items()
        if any(
            part in entities[entity].key
            for entity, _, part in (value.partition(".") for value in column.shows.of)
        )
    )
