"""What the sides of an agreement read: tables of the facts, views, and derived tables.

Views and derived tables are made when the first side asks for them, from what the folder holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import duckdb
import pyarrow as pa

from ascend_spec.loader import parse

from .agreement import tables_in
from .database import Facts, quoted, text_literal

MADE = ("layer", "view", "derived")
"""Schemas of what is made here."""

WHOLE = ("timeline", "trace_view")
"""Timelines that hold all layers (text/timeline/files.yaml)."""

DOCUMENTS = {"operator": "communication", "link": "communication", "packet": "communication"}
DOCUMENTS |= {"matrix": "communication_matrix"}
"""The documents that tables are filled from; the tables are always there."""

MACROS = (
    # us to whole ns; NULL for what is none.
    "CREATE OR REPLACE MACRO ns(us) AS TRY_CAST(round(us * 1000) AS BIGINT)",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a table of the facts, and by which column its row is known (``row``)."""

    table: str
    column: str
    row: str = "row"


@dataclass(frozen=True, slots=True)
class Input:
    """A cell that a derived table follows from, in rows that meet a condition."""

    table: str
    column: str
    where: str = "true"


@dataclass(frozen=True)
class View:
    """A query that several sides share (views.yaml).

    ``of`` is the table that ``file`` and ``row`` are of, and all columns that ``cells`` does not
    mention. ``timeline``: the view is absent without this file of the spec.
    """

    summary: str
    select: str
    of: str | None = None
    timeline: str | None = None
    cells: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True)
class Derived:
    """A table that Python computes from the facts.

    ``needs`` are the sources that it reads; without them it is absent. ``takes`` are further ones
    that it reads if they are there.
    ``cells`` say which cells a column follows from, in the row that the table names, ``inputs``
    which cells of any row change it.
    """

    name: str
    summary: str
    needs: tuple[str, ...]
    compute: Callable[[Facts], pa.Table]
    of: str | None = None
    cells: Mapping[str, Cell] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    takes: tuple[str, ...] = ()


@cache
def views() -> Mapping[str, View]:
    """The views by name."""
    text = (files(__package__) / "views.yaml").read_text(encoding="utf-8")
    return {
        name: View(
            given["summary"],
            given["select"],
            given.get("of"),
            given.get("timeline"),
            {column: cell_of(place) for column, place in (given.get("cells") or {}).items()},
        )
        for name, given in parse(text).items()
    }


def cell_of(place: str) -> Cell:
    """A cell from ``schema.table.column`` and, where its row has another column, ``@row``."""
    place, _, row = place.partition("@")
    schema, table, column = place.split(".", 2)
    return Cell(f"{schema}.{table}", column, row or "row")


@cache
def derived() -> Mapping[str, Derived]:
    """The derived tables by name."""
    from .derived import TABLES  # its modules build on this one

    return {table.name: table for table in TABLES}


class Sources:
    """The sources of one folder."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._columns: dict[str, tuple[str, ...]] = {}
        self._missing: dict[str, str] = {}
        for schema in MADE:
            facts.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for macro in MACROS:
            facts.connection.execute(macro)

    def columns(self, name: str) -> tuple[str, ...]:
        """The columns of a source; none of one that is absent."""
        return () if self.missing(name) else self._columns[name]

    def missing(self, name: str) -> str | None:
        """The table for whose absence there is no such source; ``None`` where there is one."""
        if name not in self._columns and name not in self._missing:
            self._look(name)
        return self._missing.get(name)

    def _look(self, name: str) -> None:
        schema, _, bare = name.partition(".")
        if schema in MADE:
            reads = list(inputs_of(name))
            missing = [absent for table in reads if (absent := self.missing(table)) is not None]
            missing += self._absent_files(schema, bare)
            if missing:
                self._missing[name] = missing[0]
                return
            if schema == "derived":
                for table in derived()[bare].takes:
                    self.missing(table)
            self._make(schema, bare)
        else:
            missing = self._absent_files(schema, bare)
            if missing:
                self._missing[name] = missing[0]
                return
        columns = self.facts.columns(name)
        if columns:
            self._columns[name] = columns
        else:
            self._missing[name] = name

    def _absent_files(self, schema: str, name: str) -> list[str]:
        """The file of the spec without which a source has nothing to tell."""
        wanted: tuple[str, ...] = WHOLE if schema == "layer" else ()
        if schema == "doc":
            wanted = (DOCUMENTS.get(name, name),)
        if schema == "view" and (timeline := views()[name].timeline) is not None:
            wanted = (timeline,)
        if not wanted:
            return []
        named = ", ".join(map(text_literal, wanted))
        there = self.facts.value(f"SELECT count(*) FROM unit.file WHERE name IN ({named})")
        return [] if there else [f"unit.{wanted[0]}"]

    def _make(self, schema: str, name: str) -> None:
        place = f"{schema}.{quoted(name)}"
        if schema == "derived":
            table = derived()[name].compute(self.facts)
            self.facts.scan("computed", table, f"CREATE OR REPLACE TABLE {place} AS FROM computed")
            return
        select = _layer(name) if schema == "layer" else views()[name].select
        try:
            self.facts.connection.execute(f"CREATE OR REPLACE VIEW {place} AS {select}")
        except duckdb.BinderException:
            # A column that the view reads does not stand in the file.
            return

    @contextmanager
    def changing(self, tables: frozenset[str]) -> Iterator[None]:
        """While these tables are others, derived tables that read them are computed anew."""
        before = dict(self._columns)
        self._columns = {
            name: columns
            for name, columns in before.items()
            if not (name.startswith("derived.") and base_tables(name) & tables)
        }
        try:
            yield
        finally:
            self._columns = before

    def cell(self, source: str, column: str) -> Cell | None:
        """The cell that a column of a source shows."""
        schema, _, name = source.partition(".")
        if schema == "layer":
            return Cell(f"trace.{name}", "dur" if column == "end_ns" else column)
        if schema not in MADE:
            return Cell(source, column)
        made: View | Derived = views()[name] if schema == "view" else derived()[name]
        return made.cells.get(column) or (Cell(made.of, column) if made.of else None)


def home_of(source: str) -> str | None:
    """The table of the facts that the rows of a source are of, CSV files as ``raw``."""
    schema, _, name = source.partition(".")
    if schema == "layer":
        return f"trace.{name}"
    if schema == "view":
        home = views()[name].of
        return home_of(home) if home else None
    return None if schema == "derived" else source.replace("csv.", "raw.", 1)


def _layer(table: str) -> str:
    """The events of a layer in the timelines that hold all layers, with their devices."""
    whole = ", ".join(map(text_literal, WHOLE))
    return (
        f"SELECT e.* EXCLUDE (shape), p.device, e.ts + ns(e.dur) AS end_ns "
        f"FROM trace.{quoted(table)} e JOIN trace.process p ON p.file = e.file AND p.pid = e.pid "
        f"JOIN unit.file f ON f.file = e.file WHERE f.name IN ({whole})"
    )


def inputs_of(name: str) -> Iterator[str]:
    """The sources that a view or a derived table reads itself."""
    schema, _, bare = name.partition(".")
    if schema == "layer":
        yield from (f"trace.{bare}", "trace.event", "trace.process", "unit.file")
    elif schema == "view":
        yield from tables_in(views()[bare].select)
    elif schema == "derived":
        yield from derived()[bare].needs


def read_by(name: str) -> Iterator[str]:
    """The sources that a view or a derived table reads, or may read."""
    schema, _, bare = name.partition(".")
    yield from inputs_of(name)
    if schema == "derived":
        yield from derived()[bare].takes


@cache
def base_tables(name: str) -> frozenset[str]:
    """The tables of the facts that a source reads, CSV files as ``raw``."""
    schema, _, bare = name.partition(".")
    if schema == "csv":
        return frozenset({f"raw.{bare}"})
    if schema not in MADE:
        return frozenset({name})
    found: set[str] = set()
    for table in read_by(name):
        found |= base_tables(table)
    return frozenset(found)
