"""What the sides of an agreement read: tables of the facts, views, and derived tables.

Views and derived tables are made when the first side asks for them, from what the folder holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb

from ascend_ref.timeline.session import WHOLE
from ascend_spec import per_spec
from ascend_spec.core import packaged

from ...compare.agreement import combinations_of, tables_in
from ...compare.match import Cell
from ...compare.sql import quoted, text_literal
from ...ruleset import fill
from .database import Facts
from .derived import FUNCTIONS
from .derived.reading import Asked, LacksColumn
from .rules import TextRule

MADE = ("layer", "view", "derived")
"""Schemas of what is made here."""

DOCUMENTS = {"operator": "communication", "link": "communication", "packet": "communication"}
DOCUMENTS |= {"matrix": "communication_matrix"}
"""The documents that tables are filled from; the tables are always there."""

OPTIONAL_TABLES = (
    "db.SESSION_TIME_INFO",
    "db.COMMUNICATION_SCHEDULE_TASK_INFO",
    "db.NPU_INFO",
)
"""Tables that derived tables look into if they are there."""

DOCUMENTS_OF = {"view": ("views.yaml", "sample_views.yaml"), "derived": ("derived.yaml",)}
"""What is made here, by schema."""

EVERY = "*"
"""Every column that has no cell of its own."""

OF_EVENTS = ("trace.flow", "trace.arrow", "trace.slice", "trace.counter")
"""Relations of the facts that show rows of ``trace.event``."""


@dataclass(frozen=True, slots=True)
class Input:
    """A cell that a derived table follows from, in rows that meet a condition."""

    table: str
    column: str
    where: str = "true"


@dataclass(frozen=True)
class Made:
    """A query that several sides share (views.yaml, sample_views.yaml), or what is computed from
    one (derived.yaml).

    ``of`` is the table that ``file`` and ``row`` are of, and all columns that ``cells`` does not
    mention. ``timeline``: it is absent without this file of the spec. ``stated``: it is absent
    where this condition does not hold, since the table that it is of then states nothing about it.
    ``gathers``: a row stands for several.

    ``compute``: the function of :mod:`.derived` that makes the table of the rows of ``select``;
    ``needs``: further sources that it reads, ``takes`` those that it reads if they are there;
    ``inputs``: which cells of any row change it. ``given``: the values of its placeholders.
    """

    summary: str
    select: str = ""
    of: str | None = None
    timeline: str | None = None
    stated: str | None = None
    cells: Mapping[str, Cell] = field(default_factory=dict)
    gathers: bool = False
    compute: str | None = None
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)

    def cell(self, column: str) -> Cell | None:
        """The cell that a column shows."""
        found = self.cells.get(column) or self.cells.get(EVERY)
        return found or (Cell(self.of, column) if self.of else None)


def cell_of(place: str) -> Cell:
    """A cell from ``schema.table.column``, with ``@row`` where its row has another column.

    ``trace.event.args/Input Dims`` is a member of args.
    """
    schema, table, column = place.split(".", 2)
    column, _, key = column.partition("/") if column.startswith("args/") else (column, "", "")
    named = column.startswith("@")
    column, _, row = column[named:].partition("@")
    return Cell(f"{schema}.{table}", f"{'@' * named}{column}", row or "row", key or None)


def input_of(given: Mapping[str, str]) -> Input:
    """An input from its cell and condition."""
    schema, table, column = given["cell"].split(".", 2)
    return Input(f"{schema}.{table}", column, given.get("where", "true"))


@per_spec
def made() -> Mapping[str, Made]:
    """Views and derived tables by name; one with ``each`` is one at each of these places."""
    return {
        f"{schema}.{fill(name, place)}": _made(fill(given, place), place)
        for schema, documents in DOCUMENTS_OF.items()
        for document in documents
        for name, given in packaged(__package__, document).items()
        for some in given.get("each", ({},))
        for place in combinations_of(some)
    }


def _made(given: Mapping[str, Any], place: Mapping[str, str]) -> Made:
    facts = {name: one for name, one in given.items() if name != "each"}
    facts["cells"] = {column: cell_of(cell) for column, cell in facts.get("cells", {}).items()}
    facts["inputs"] = tuple(map(input_of, facts.get("inputs", ())))
    return Made(**facts, given=place)


class Sources:
    """The sources of one folder."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._columns: dict[str, tuple[str, ...]] = {}
        self._missing: dict[str, str | None] = {}
        self._with_rows: dict[str, bool] = {}
        self.lacking: dict[str, str] = {}
        self._tables = facts.tables().keys()
        named = facts.rows("SELECT DISTINCT name FROM unit.file WHERE kind <> 'csv'")
        self._files = {name for (name,) in named}
        for schema in MADE:
            facts.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")

    def missing(self, name: str) -> str | None:
        """The table for whose absence there is no such source; ``None`` where there may be one."""
        if name not in self._missing:
            self._missing[name] = next(self._lacks(name), None)
        return self._missing[name]

    def unseen(self, name: str) -> str | None:
        """The table for whose absence no condition can look into a source.

        The tables of documents and timelines are always there, without rows if these are not.
        """
        if name.startswith(MADE):
            return self.missing(name)
        return None if name in self._tables else name

    def has_row(self, query: str) -> bool:
        """Whether a query has a row; many agreements ask the same."""
        if query not in self._with_rows:
            self._with_rows[query] = self.facts.value(f"SELECT EXISTS ({query})")
        return self._with_rows[query]

    def _lacks(self, name: str) -> Iterator[str]:
        schema, _, bare = name.partition(".")
        yield from self._absent_files(schema, bare)
        if schema not in MADE:
            if name not in self._tables:
                yield name
            return
        for table in inputs_of(name):
            absent = self.missing(table)
            if absent is not None:
                yield absent
        stated = made()[name].stated if name in made() else None
        if stated is not None and not self.facts.value(f"SELECT {stated}"):
            yield made()[name].of or name

    def columns(self, name: str) -> tuple[str, ...]:
        """The columns of a source, which is made if need be; none of one that is absent."""
        if name not in self._columns:
            self._columns[name] = () if self.unseen(name) else self._ready(name)
        return self._columns[name]

    def _ready(self, name: str) -> tuple[str, ...]:
        schema, _, bare = name.partition(".")
        if schema in MADE:
            for table in read_by(name):
                self.columns(table)
            self._make(schema, bare)
        return self.facts.columns(name)

    def _absent_files(self, schema: str, name: str) -> list[str]:
        """The timeline or document without which a source has nothing to show."""
        wanted: tuple[str, ...] = WHOLE if schema == "layer" else ()
        if schema == "doc":
            wanted = (DOCUMENTS.get(name, name),)
        source = made().get(f"{schema}.{name}")
        if source is not None and source.timeline is not None:
            wanted = (source.timeline,)
        return [f"unit.{wanted[0]}"] if wanted and self._files.isdisjoint(wanted) else []

    def _make(self, schema: str, name: str) -> None:
        place = f"{schema}.{quoted(name)}"
        source = made().get(f"{schema}.{name}")
        if source is not None and source.compute is not None:
            asked = Asked(self.facts, source.select, source.given)
            try:
                table = FUNCTIONS[source.compute](asked)
            except LacksColumn as problem:
                self.lacking[f"{schema}.{name}"] = str(problem)
                return
            statement = f"CREATE OR REPLACE TABLE {place} AS FROM computed"
            self.facts.scan("computed", table, statement, defines=f"{schema}.{name}")
            return
        select = _layer(name) if source is None else source.select
        try:
            self.facts.define(f"{schema}.{name}", f"CREATE OR REPLACE VIEW {place} AS {select}")
        except duckdb.BinderException:
            # A column that the view reads does not stand in the file.
            return

    @contextmanager
    def changing(self, tables: frozenset[str]) -> Iterator[None]:
        """While these tables are others, derived tables that read them are computed anew."""
        columns, with_rows = self._columns, self._with_rows
        self._columns = {
            name: known
            for name, known in columns.items()
            if not (is_computed(name) and base_tables(name) & tables)
        }
        self._with_rows = {}
        try:
            yield
        finally:
            self._columns, self._with_rows = columns, with_rows

    def cell(self, source: str, column: str) -> Cell | None:
        """The cell that a column of a source shows."""
        schema = source.partition(".")[0]
        if schema in ("layer", "trace"):
            return Cell(str(home_of(source)), "dur" if column == "end_ns" else column)
        if schema not in MADE:
            return Cell(source, column)
        return made()[source].cell(column)


@per_spec
def is_computed(name: str) -> bool:
    """Whether a source is a derived table, or reads one."""
    return name.startswith("derived.") or (
        name.startswith(MADE) and any(is_computed(table) for table in inputs_of(name))
    )


def tables_to_compare(facts: Facts, rules: Iterable[TextRule]) -> Iterator[str]:
    """The tables of the database that agreements compare with something that the folder has."""
    present = facts.tables().keys()
    for rule in rules:
        for agreement in rule.search.agreement.instances if rule.search.agreement else ():
            for one in agreement.read_as:
                needed = {table for source in one.sources for table in _tables(source, False)}
                stored = {table for table in needed if table.startswith("db.")}
                if stored and needed - stored <= present:
                    yield from stored
                    yield from OPTIONAL_TABLES


def base_tables(name: str) -> frozenset[str]:
    """The tables of the facts that a source reads, CSV files as ``raw``."""
    return _tables(name, True)


@per_spec
def _tables(name: str, every: bool) -> frozenset[str]:
    """Those that a source reads, or without ``every`` those without which it is absent."""
    schema, _, bare = name.partition(".")
    if schema == "csv":
        return frozenset({f"raw.{bare}"})
    if every and name in OF_EVENTS:
        return frozenset({"trace.event", "trace.process"})
    if schema not in MADE:
        return frozenset({name})
    read = read_by(name) if every else inputs_of(name)
    return frozenset(table for one in read for table in _tables(one, every))


def home_of(source: str) -> str | None:
    """The table of the facts that the rows of a source are of, CSV files as ``raw``."""
    schema, _, name = source.partition(".")
    if source in OF_EVENTS:
        return "trace.event"
    if schema == "layer":
        return f"trace.{name}"
    if schema == "view":
        home = made()[source].of
        return home_of(home) if home else None
    return None if schema == "derived" else source.replace("csv.", "raw.", 1)


def gathers(source: str) -> bool:
    """Whether a row of a source stands for several."""
    return source in made() and made()[source].gathers


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
    elif name in made():
        yield from tables_in(made()[name].select)
        yield from made()[name].needs


def read_by(name: str) -> Iterator[str]:
    """The sources that a view or a derived table reads, or may read."""
    yield from inputs_of(name)
    if name in made():
        yield from made()[name].takes
