"""Databases of two sides, table by table, by meaning: never by the number of a text or of a row.

Tables are read as those of a recording are, texts and names of enums in place of their ids, and
numbers that link rows are followed (:mod:`.following`). Times are whole ns, and equal. How a table
was declared is for ``check``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.recorded.model import Output
from ascend_ref.recorded.shape import shape_of
from ascend_ref.recorded.tables import DatabaseFile, FileTables
from ascend_ref.spill import Spill
from ascend_spec import catalog, recording_catalog
from ascend_spec.db.model import STRINGS, Column
from ascend_spec.db.model import Table as TableFacts

from ..compare.agreement import WHICH, Which
from ..compare.match import Compared
from ..compare.sql import quoted
from ..media.text.database import Facts, open_facts
from .files import DatabaseTable, File
from .following import Following, links_of
from .pairing import LEFT, RIGHT, Difference, Pairing, Table, broken_file, listed, unmatched

TIMES = frozenset(("timestampNs", "timestampText"))


def differences(
    left: Sequence[File],
    right: Sequence[File],
    features: Collection[str] | None = None,
    sides: tuple[str, str] = ("the truth", "the exporter"),
    output: Output = "pytorch",
) -> list[Difference]:
    """What the tables among the files of two sides do not agree in. ``features``: only these;
    ``sides``: their names. ``output``: whose databases they are.
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
    if not all(paths) or [one.read_bytes() for one in paths[0]] == [
        one.read_bytes() for one in paths[1]
    ]:
        return found
    places = {name: place for name, place in wanted[1].items() if name in wanted[0]}
    with open_facts() as facts:
        both = _Both(facts, places, sides, output)
        for number, some in enumerate(paths):
            found += both.read(number, some)
        found += both.differences()
    return found


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
        self, facts: Facts, places: Mapping[str, str], sides: tuple[str, str], output: Output
    ) -> None:
        self._facts = facts
        self._places = places
        self._output = output
        self._pairing = Pairing(facts, RIGHT, sides)
        self._following = Following(facts, RIGHT)
        self._present: dict[tuple[str, int], frozenset[str]] = {}

    def read(self, number: int, paths: Sequence[Path]) -> Iterator[Difference]:
        """Read the databases of a side; what cannot be read is a difference."""
        try:
            files = [DatabaseFile(path) for path in paths]
        except UnreadableDatabase as problem:
            yield broken_file(paths[0].name, paths[0].name, str(problem))
            return
        tables, lenient = (FileTables(self._output, files, Spill(), one) for one in (False, True))
        for name in tables:
            try:
                table = tables[name]
            except UnreadableDatabase as problem:
                yield broken_file(name, self._places.get(name, name), str(problem))
                table = lenient[name]
            self._present[name, number] = tables.present(name)
            self._load(name, number, table)

    def _load(self, name: str, number: int, table: pa.Table) -> None:
        columns = ", ".join(
            f"CAST({quoted(field.name)} AS VARCHAR) AS {quoted(field.name)}"
            if pa.types.is_dictionary(field.type)
            else quoted(field.name)
            for field in table.schema
        )
        numbered = table.add_column(0, "row", pa.array(np.arange(1, table.num_rows + 1)))
        select = f"SELECT {number} AS file, row, {columns} FROM recorded"
        is_there = f"db.{name}" in self._facts.tables()
        begin = "INSERT INTO" if is_there else "CREATE TABLE"
        end = "" if is_there else "AS "
        self._facts.scan("recorded", numbered, f"{begin} db.{quoted(name)} {end}{select}")

    def differences(self) -> Iterator[Difference]:
        """What the tables that both have do not agree in."""
        self._following.follow_all(self._paired_by)
        for name in sorted(self._places):
            if self._holds(name):
                yield from self._pairing.differences(self._table(name), self._lacks(name))

    def _holds(self, name: str) -> bool:
        return all((name, number) in self._present for number in (LEFT, RIGHT))

    def _paired_by(self, name: str) -> Compared | None:
        if not self._holds(name):
            return None
        return self._pairing.asked(self._table(name), self._lacks(name))

    def _lacks(self, name: str) -> Mapping[Which, frozenset[str]]:
        """The columns that the file of a side does not have, and that of the other has."""
        there = {which: self._present[name, number] for number, which in enumerate(WHICH)}
        return {"left": there["right"] - there["left"], "right": there["left"] - there["right"]}

    def _table(self, name: str) -> Table:
        facts, shape = catalog().tables[name], shape_of(self._output, name)
        known = self._present[name, LEFT] | self._present[name, RIGHT]
        columns = {one: f"t.{quoted(one)}" for one in shape.columns if one in known}
        joins = ""
        for column in links_of(shape.columns):
            if column.name in columns:
                columns[column.name], join = self._following.column(name, column)
                joins += join
        own = {one: column for one, column in shape.columns.items() if one in known}
        near = _time_of(facts, own)
        source = f"(SELECT t.file, t.row, {listed(columns)} FROM db.{quoted(name)} t{joins})"
        return Table(
            self._places.get(name, name),
            name,
            source,
            {one: quoted(one) for one in columns},
            _keys(facts.device, own, near),
            near,
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
