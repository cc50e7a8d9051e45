"""What the sides of an agreement read: tables of the facts, views, and derived tables.

Views and derived tables are made when the first side asks for them, from what the folder holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files

import duckdb

from ascend_spec import per_spec
from ascend_spec.core import parse

from ...compare.agreement import WHICH, combinations_of, tables_in
from ...compare.match import Cell
from ...compare.sql import quoted, text_literal
from ...ruleset import fill
from .database import Facts
from .derived import TABLES
from .made import Derived, LacksColumn, View, cell_of
from .rules import TextRule

MADE = ("layer", "view", "derived")
"""Schemas of what is made here."""

WHOLE = ("timeline", "trace_view")
"""Timelines that hold all layers (timeline/files.yaml)."""

DOCUMENTS = {"operator": "communication", "link": "communication", "packet": "communication"}
DOCUMENTS |= {"matrix": "communication_matrix"}
"""The documents that tables are filled from; the tables are always there."""

OPTIONAL_TABLES = ("db.SESSION_TIME_INFO", "db.COMMUNICATION_SCHEDULE_TASK_INFO")
"""Tables that derived tables look into if they are there."""

VIEWS = ("views.yaml", "sample_views.yaml")

OF_EVENTS = ("trace.flow", "trace.arrow", "trace.slice", "trace.counter")
"""Relations of the facts that show rows of ``trace.event``."""

MACROS = (
    # us to whole ns; NULL for what is none.
    "CREATE OR REPLACE MACRO ns(us) AS TRY_CAST(round(us * 1000) AS BIGINT)",
    # A text of us to ns, exactly.
    "CREATE OR REPLACE MACRO instant(text) AS "
    "TRY_CAST(TRY_CAST(text AS DECIMAL(38, 6)) * 1000 AS BIGINT)",
)


@per_spec
def views() -> Mapping[str, View]:
    """The views by name; one with ``each`` stands for one at each of these places."""
    found: dict[str, View] = {}
    documents = [parse((files(__package__) / one).read_text(encoding="utf-8")) for one in VIEWS]
    for name, given in (pair for document in documents for pair in document.items()):
        places = given.get("each", ({},))
        for place in (chosen for some in places for chosen in combinations_of(some)):
            cells = {
                fill(column, place): cell_of(fill(cell, place))
                for column, cell in (given.get("cells") or {}).items()
            }
            found[fill(name, place)] = View(
                given["summary"],
                fill(given["select"], place),
                fill(given["of"], place) if "of" in given else None,
                given.get("timeline"),
                given.get("told"),
                cells,
                given.get("gathers", False),
            )
    return found


@per_spec
def derived() -> Mapping[str, Derived]:
    """The derived tables by name."""
    return {table.name: table for table in TABLES}


class Sources:
    """The sources of one folder."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._columns: dict[str, tuple[str, ...]] = {}
        self._missing: dict[str, str | None] = {}
        self.lacking: dict[str, str] = {}
        self._tables = facts.tables().keys()
        for schema in MADE:
            facts.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for macro in MACROS:
            facts.connection.execute(macro)

    def missing(self, name: str) -> str | None:
        """The table for whose absence there is no such source; ``None`` where there may be one."""
        if name not in self._missing:
            self._missing[name] = next(self._lacks(name), None)
        return self._missing[name]

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
        told = views()[bare].told if schema == "view" else None
        if told is not None and not self.facts.value(f"SELECT {told}"):
            yield views()[bare].of or name

    def columns(self, name: str) -> tuple[str, ...]:
        """The columns of a source, which is made if need be; none of one that is absent."""
        if name not in self._columns:
            self._columns[name] = () if self.missing(name) else self._ready(name)
        return self._columns[name]

    def _ready(self, name: str) -> tuple[str, ...]:
        schema, _, bare = name.partition(".")
        if schema in MADE:
            for table in inputs_of(name):
                self.columns(table)
            for table in derived()[bare].takes if schema == "derived" else ():
                self.columns(table)
            self._make(schema, bare)
        return self.facts.columns(name)

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
            try:
                table = derived()[name].compute(self.facts)
            except LacksColumn as problem:
                self.lacking[f"{schema}.{name}"] = str(problem)
                return
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
            if not (is_computed(name) and base_tables(name) & tables)
        }
        try:
            yield
        finally:
            self._columns = before

    def cell(self, source: str, column: str) -> Cell | None:
        """The cell that a column of a source shows."""
        schema, _, name = source.partition(".")
        if schema in ("layer", "trace"):
            return Cell(str(home_of(source)), "dur" if column == "end_ns" else column)
        if schema not in MADE:
            return Cell(source, column)
        made: View | Derived = views()[name] if schema == "view" else derived()[name]
        return made.cells.get(column) or (Cell(made.of, column) if made.of else None)


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
                needed = {table for which in WHICH for table in needed_tables(one.side(which).of)}
                stored = {table for table in needed if table.startswith("db.")}
                if stored and needed - stored <= present:
                    yield from stored
                    yield from OPTIONAL_TABLES


def layers_to_compare(
    rules: Iterable[TextRule], files: Iterable[str], stored: bool
) -> Iterator[str]:
    """The layers that agreements read, each time they do, beside these CSV files.

    ``stored``: and beside a database.
    """
    there = {f"raw.{name}" for name in files}
    for rule in rules:
        for agreement in rule.search.agreement.instances if rule.search.agreement else ():
            one = agreement.read_as[0]
            sides = [needed_tables(one.side(which).of) for which in WHICH]
            asked = {name for side in sides for name in side if name.startswith(("raw.", "db."))}
            if all(name in there or (stored and name.startswith("db.")) for name in asked):
                for side in sides:
                    yield from (
                        name.partition(".")[2] for name in side if name.startswith("trace.")
                    )


@per_spec
def needed_tables(name: str) -> frozenset[str]:
    """The tables of the facts without which a source is absent."""
    schema, _, bare = name.partition(".")
    if schema == "csv":
        return frozenset({f"raw.{bare}"})
    if schema not in MADE:
        return frozenset({name})
    found: set[str] = set()
    for table in inputs_of(name):
        found |= needed_tables(table)
    return frozenset(found)


def home_of(source: str) -> str | None:
    """The table of the facts that the rows of a source are of, CSV files as ``raw``."""
    schema, _, name = source.partition(".")
    if source in OF_EVENTS:
        return "trace.event"
    if schema == "layer":
        return f"trace.{name}"
    if schema == "view":
        home = views()[name].of
        return home_of(home) if home else None
    return None if schema == "derived" else source.replace("csv.", "raw.", 1)


def gathers(source: str) -> bool:
    """Whether a row of a source stands for several."""
    schema, _, name = source.partition(".")
    return schema == "view" and views()[name].gathers


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


@per_spec
def base_tables(name: str) -> frozenset[str]:
    """The tables of the facts that a source reads, CSV files as ``raw``."""
    schema, _, bare = name.partition(".")
    if schema == "csv":
        return frozenset({f"raw.{bare}"})
    if name in OF_EVENTS:
        return frozenset({"trace.event", "trace.process"})
    if schema not in MADE:
        return frozenset({name})
    found: set[str] = set()
    for table in read_by(name):
        found |= base_tables(table)
    return frozenset(found)
