"""Text files damaged as a rule's break does: the facts are broken, and what differs is written.

Breaks change the facts that were read of the files; the rows that are others then are put back
where they came from: cells of CSV files, events of timelines, values of documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import duckdb

from ...compare.agreement import Agreement
from ...compare.sql import quoted
from ...engine.damaging import Change
from ...engine.relations.binding import Unjudged
from ...engine.relations.edits import CannotShow, change
from ...engine.relations.rule import Relation, RelationSearch
from ...engine.trials import NotBreakable
from ...ruleset import Rule
from .concerned import changed_tables
from .database import Facts, open_facts
from .deliverables import Output
from .disagreement import mutations
from .edits import EditableFiles
from .folder import Folder, load_database, read_folder
from .layers import layers_by_table
from .queries import lacking
from .rewriting import remove_files, write_headers, write_rows, write_values
from .rewriting_events import LABELS, ChangedEvent, note_events, rename_processes, write_events
from .rules import TextRule, instances, load_text_rules
from .selecting import Absent
from .sources import Sources
from .specbreaks import structural_breaks
from .written import Pair, Written


class Way(NamedTuple):
    """One way to break a rule: the place, the tables that change, and what changes them."""

    place: str
    tables: frozenset[str]
    carry_out: Callable[[], object]


def damage_texts(output: Output, rule: Rule[Any], at: str | None) -> list[Change]:
    """Carry out a rule's break in the text files of a folder, at a place or at the first.

    Raises :class:`NotBreakable`, ``OSError``.
    """
    of_relation = isinstance(rule.search, RelationSearch)
    reasons: list[str] = []
    with open_facts() as facts:
        folder = read_folder(
            facts, output.deliverables, alone=output.alone, kept="not" if of_relation else "whole"
        )
        if output.database is not None:
            load_database(folder, output.database, load_text_rules().values())
        for way in _ways_of_relation(folder, rule) if of_relation else _ways(folder, rule, reasons):
            if at not in (None, way.place):
                continue
            try:
                written = _differences(folder, way)
            except (NotBreakable, CannotShow, Absent, duckdb.Error) as reason:
                reasons.append(f"{way.place}: {reason}" if way.place else str(reason))
                continue
            written.write(folder)
            return written.changes
    raise NotBreakable(reasons[0] if reasons else "the rule has no place in it")


def _ways_of_relation(folder: Folder, relation: Relation) -> Iterator[Way]:
    facts = folder.facts
    shown = EditableFiles(facts, folder.csv_writers)
    raw = {name for name in facts.tables() if name.startswith("raw.")}

    def carry_out() -> None:
        for edit in relation.search.edits:
            done = change(relation, edit, shown)
            if isinstance(done, Unjudged):
                raise NotBreakable(done.reason)

    yield Way("", frozenset({*raw, "trace.event"}), carry_out)


def _ways(folder: Folder, rule: TextRule, reasons: list[str]) -> Iterator[Way]:
    facts = folder.facts
    if rule.search.agreement is not None:
        for given, agreement in zip(
            rule.search.agreement.each, rule.search.agreement.instances, strict=True
        ):
            yield from _ways_of_agreement(facts, ", ".join(given.values()), agreement, reasons)
    elif rule.search.check is not None:
        for place, breaks in structural_breaks(folder, rule):
            yield _way(facts, place, breaks)
    else:
        for given, instance in zip(rule.search.at, instances(rule), strict=True):
            place = ", ".join(given.values())
            absent = lacking(facts.tables(), instance)
            if absent:
                reasons.append(f"{place}: there is no {'.'.join(filter(None, absent[0]))}")
            elif instance.breaks:
                yield _way(facts, place, instance.breaks)


def _ways_of_agreement(
    facts: Facts, place: str, agreement: Agreement, reasons: list[str]
) -> Iterator[Way]:
    sources = Sources(facts)
    try:
        found = mutations(sources, agreement)
    except Absent as reason:
        reasons.append(f"{place}: there is no {reason}")
        return
    for one in found:

        def carry_out(statements: Iterable[Any] = one.statements) -> None:
            for statement in statements:
                statement.run(facts)

        yield Way(place, one.tables, carry_out)


def _way(facts: Facts, place: str, breaks: Iterable[str]) -> Way:
    statements = tuple(breaks)
    tables = frozenset(f"{schema}.{name}" for schema, name in changed_tables(statements))
    return Way(place, tables, lambda: [facts.connection.execute(one) for one in statements])


def _differences(folder: Folder, way: Way) -> Written:
    """What a way changes in the files. The facts are afterwards as they were."""
    facts, found = folder.facts, Written()
    events: dict[tuple[int, int], ChangedEvent] = defaultdict(ChangedEvent)
    tables = [one for one in sorted(way.tables) if facts.columns(one)]
    with facts.undone():
        for number, table in enumerate(tables):
            facts.connection.execute(f"CREATE TEMP TABLE before_{number} AS FROM {_named(table)}")
        way.carry_out()
        for number, table in enumerate(tables):
            if not facts.columns(table):
                raise NotBreakable(f"its break takes {table} away")
            rows = _changed_rows(facts, table, f"before_{number}")
            schema = table.partition(".")[0]
            if schema == "raw":
                write_rows(folder, found, table, f"before_{number}", rows)
            elif schema == "doc" and table != "doc.fault":
                write_values(folder, found, table, rows)
            elif table == "unit.header":
                write_headers(folder, found, rows)
            elif table == "unit.file":
                remove_files(folder, found, rows)
            elif table in LABELS or table == "trace.metadata":
                rename_processes(facts, events, table, rows)
            elif table == "trace.event" or table.removeprefix("trace.") in layers_by_table():
                note_events(events, table, rows)
            elif rows:
                raise NotBreakable(
                    f"its break is not made in a file, but in what was read of it ({table})"
                )
        write_events(folder, found, events)
    if not found.changes:
        raise NotBreakable("it changes nothing here")
    return found


def _named(table: str) -> str:
    schema, _, name = table.partition(".")
    return f"{schema}.{quoted(name)}"


def _changed_rows(facts: Facts, table: str, before: str) -> dict[tuple[int, int], Pair]:
    columns = facts.columns(table)
    found: dict[tuple[int, int], Pair] = defaultdict(lambda: ([], []))
    listed = ", ".join(map(quoted, columns))
    for side, one, other in ((0, before, _named(table)), (1, _named(table), before)):
        for values in facts.rows(
            f"SELECT {listed} FROM {one} EXCEPT ALL SELECT {listed} FROM {other}"
        ):
            row = dict(zip(columns, values, strict=True))
            found[row["file"], row.get("row", 0)][side].append(row)
    return dict(sorted(found.items()))
