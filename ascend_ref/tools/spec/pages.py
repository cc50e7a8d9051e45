"""Tables, columns and enums as Markdown pages: the same text for the site and for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from ascend_ref.markdown import (
    Fact,
    Style,
    anchor,
    bullets,
    code,
    commas,
    facts,
    page,
    sentences,
    table,
)
from ascend_spec import Schema, catalog, consumer_catalog, text_catalog, timeline_catalog
from ascend_spec.core import Erratum
from ascend_spec.db.model import CARRIERS, Column, Enum, Member, Presence, Table
from ascend_spec.raw.shown import raw_sources

from .history import Event, history_of
from .recording_pages import shown_text
from .subject import Fields, Subject, grouped, things

if TYPE_CHECKING:
    from ascend_spec.text import CsvColumn, CsvFile
    from ascend_spec.timeline import Arg, Layer

Variant = TypeVar("Variant", bound="CsvColumn | Arg")

PRESENCE: dict[Presence, str] = {
    "always": "always",
    "when-rows": "when it has rows",
    "by-switch": "when switched on",
}
ROWS = {"one": "exactly one", "some": "at least one"}
DECIDED = {
    "name": "name",
    "type": "value type",
    "declared": "declaration",
    "storage": "storage",
    "primary_key": "primary key",
    "references": "reference",
    "members": "texts",
}
"""What an erratum may decide about a column, in words."""
SESSION_START = {
    "hard": "no row starts before it",
    "soft": "rows before it occur",
}


def table_page(subject: Table, style: Style, details: bool = False) -> str:
    """One table. ``details`` adds a section for each column."""
    columns = list(subject.columns.values())
    names = dict.fromkeys(column.name for column in columns) if details else ()
    inner = style.below()
    indexes = [f"{code(name)} on ({', '.join(over)})" for name, over in subject.indexes.items()]
    return style.page(
        subject.name,
        subject.summary,
        *_table_facts(subject, style),
        style.prose(subject.note),
        inner.heading("Columns"),
        column_table(columns, style),
        *((inner.heading("Indexes"), bullets(indexes)) if indexes else ()),
        *_history(history_of(subject.name), inner),
        inner.heading("Each column") if details else "",
        *(column_page(subject, name, inner.below()) for name in names),
    )


def column_table(columns: Iterable[Column], style: Style) -> str:
    """Columns as rows: name, SQLite type, unit, reference, meaning with its exceptions."""
    return table(
        ("column", "SQLite type", "unit", "refers to", "meaning"),
        (
            (
                code(column.name),
                column.declared + (" PRIMARY KEY" if column.primary_key else ""),
                column.unit or "",
                " or ".join(place_link(style, target) for target in column.references),
                _meaning(column, style),
            )
            for column in columns
        ),
    )


def column_page(owner: Table, name: str, style: Style) -> str:
    """One column of a table, with every variant that its history knows."""
    variants = [column for column in owner.columns.values() if column.name == name]
    place, inner, alone = f"{owner.name}.{name}", style.below(), style.level == 1
    blocks: list[str | Fact] = []
    for column in variants:
        if len(variants) > 1:
            bounds = in_force(column.since, column.until) or "always"
            blocks.append(inner.heading(bounds[0].upper() + bounds[1:]))
        blocks += (style.prose(column.summary), *_column_facts(owner, column, style))
    if alone:
        events = [one for one in history_of(owner.name) if one.place == place]
        cited = dict.fromkeys(one for column in variants for one in column.errata)
        blocks += (resolutions(catalog().errata, cited, style), *_history(events, inner))
    return style.page(place if alone else name, owner.note if alone else None, *blocks)


def resolutions(errata: Mapping[str, Erratum], cited: Iterable[str], style: Style) -> str:
    """What the errata of a page decide, a line each."""
    lines = [
        f"{style.link('erratum', one)} {style.prose(errata[one].title)}: "
        f"{style.prose(errata[one].resolution)}"
        for one in cited
    ]
    return page("## Where sources disagree", bullets(lines)) if lines else ""


def variants_page(
    title: str,
    variants: Sequence[Variant],
    facts_of: Callable[[Variant, Style], tuple[Fact, ...]],
    style: Style,
) -> str:
    """Something of texts in every form that it has, each with its facts."""
    parts: list[str | Fact] = []
    cited: dict[str, None] = {}
    for one in variants:
        parts += (style.prose(one.summary), *facts_of(one, style))
        cited |= dict.fromkeys(one.errata)
    return page(style.heading(title), *parts, resolutions(text_catalog().errata, cited, style))


def enum_page(enum: Enum, style: Style) -> str:
    """One enum table: its members, and which revision and carrier writes which."""
    owner = catalog().tables.get(enum.name)
    used = dict.fromkeys(
        place_link(style, f"{subject.name}.{column.name}")
        for subject in catalog().tables.values()
        for column in subject.columns.values()
        if f"{enum.name}.id" in column.references
    )
    closed = "closed: a column holds no other id" if enum.closed else "open: further ids occur"
    members = sorted(enum.members, key=lambda member: (member.id, member.since or ""))
    rows = (
        (str(one.id), code(one.name), _written(one), _member_source(one, style)) for one in members
    )
    return style.page(
        enum.name,
        enum.summary,
        *(_table_facts(owner, style) if owner else ()),
        ("Members", closed),
        ("Referred to by", used),
        style.below().heading("Members"),
        table(("id", "name", "written", "source"), rows),
        *_history(history_of(enum.name), style.below()),
    )


def place_link(style: Style, place: str) -> str:
    """``TABLE``, ``TABLE.column``, ``ENUM/id`` or ``file/column``, linked to its page or that of
    the enum.
    """
    owner, _, column = place.partition("/" if "/" in place else ".")
    if owner.startswith("ENUM_"):
        return style.link("enum", owner, place)
    if "/" in place:
        return style.link("header", place)
    return style.link("column", place) if column else style.link("table", owner)


def schema_subjects() -> Iterator[Subject]:
    """Tables and enum tables."""
    yield from things(
        "table",
        {name: one for name, one in catalog().tables.items() if name not in catalog().enums},
        "tables/{name}.md",
        table_page,
        cells=lambda one: {
            "databases": ",".join(carrier for carrier in CARRIERS if carrier in one.carriers),
            "columns": str(len({column.name for column in one.columns.values()})),
        },
        levels=lambda one: one.levels,
        products=lambda one: one.products or None,
        at=lambda one: partial(_table_at, one.name),
    )
    yield from things(
        "enum",
        catalog().enums,
        "enums/{name}.md",
        enum_page,
        cells=lambda enum: {"members": str(len({member.id for member in enum.members}))},
        at=lambda enum: partial(_enum_at, enum.name),
    )


def _table_at(name: str, schema: Schema) -> Fields | None:
    held = schema.tables.get(name)
    if held is None:
        return None
    cells = {"databases": schema.carrier, "columns": str(len(held.columns))}
    return {"section": partial(table_page, held), "fact": held, "cells": cells}


def _enum_at(name: str, schema: Schema) -> Fields | None:
    members = schema.enums.get(name)
    return None if members is None else {"cells": {"members": str(len(members))}}


def part_subjects() -> Iterator[Subject]:
    """Columns of tables, members of enum tables."""
    for owner in catalog().tables.values():
        if owner.name not in catalog().enums:
            by_name = grouped(owner.columns.values(), lambda column: column.name)
            for name, columns in by_name.items():
                yield Subject(
                    "column",
                    f"{owner.name}.{name}",
                    columns[-1].summary,
                    page=f"tables/{owner.name}.md#{anchor(name)}",
                    section=partial(column_page, owner, name),
                    fact=columns,
                    cells={"type": columns[-1].declared, "unit": columns[-1].unit or ""},
                    levels=owner.levels,
                    products=owner.products or None,
                    at=partial(_column_at, owner.name, name),
                )
    for enum in catalog().enums.values():
        for identifier, members in grouped(enum.members, lambda member: member.id).items():
            names = dict.fromkeys(member.name for member in members)
            yield Subject(
                "member",
                f"{enum.name}/{identifier}",
                ", ".join(names),
                page=f"enums/{enum.name}.md#members",
                section=partial(_page_of_member, enum, members),
                fact=members,
                also=tuple(f"{enum.name}/{name}" for name in names),
                at=partial(_member_at, enum.name, identifier),
            )


def _column_at(owner: str, name: str, schema: Schema) -> Fields | None:
    held = schema.tables.get(owner)
    if held is None or name not in held.columns:
        return None
    return {"section": partial(column_page, held, name), "fact": [held.columns[name]]}


def _member_at(enum: str, identifier: int, schema: Schema) -> Fields | None:
    return {} if identifier in schema.enums.get(enum, {}) else None


def _page_of_member(enum: Enum, variants: Sequence[Member], style: Style) -> str:
    cited = dict.fromkeys(one for member in variants for one in member.errata)
    return page(
        style.heading(f"{enum.name}/{variants[0].id}"),
        f"In {style.link('enum', enum.name)}.",
        *(
            facts(("Name", code(one.name)), ("Written", _written(one)), *evidence(one, style))
            for one in variants
        ),
        resolutions(catalog().errata, cited, style),
    )


def citations(source: Iterable[str], style: Style) -> str:
    """Sources with their grades: ``seed-001 TASK (documented), …``."""
    cited = []
    for citation in source:
        identifier, _, where = citation.partition(" ")
        known = catalog().documents.sources.get(identifier)
        name = style.link("source", identifier) if known else identifier
        text = f"{name} {style.prose(where)}".rstrip()
        cited.append(f"{text} ({known.grade})" if known else text)
    return ", ".join(cited)


class Cited(Protocol):
    """A fact with its ground."""

    @property
    def grade(self) -> str:
        """How sure it is."""

    @property
    def source(self) -> Sequence[str]:
        """Who says so."""

    @property
    def errata(self) -> Sequence[str]:
        """The disagreements about it."""


def evidence(fact: Cited, style: Style) -> tuple[Fact, ...]:
    """The lines on how sure a fact is, who says so, and which sources disagree."""
    return (
        ("Grade", fact.grade),
        ("Source", citations(fact.source, style)),
        ("Errata", style.links("erratum", fact.errata)),
    )


def some_levels(levels: Sequence[int]) -> Iterable[str]:
    """Profiler levels that are not all of them."""
    return () if len(levels) == 3 else map(str, levels)


def levels_of(fact: Table | CsvFile | Layer) -> tuple[int, ...]:
    """The profiler levels at which something stands, by any writer."""
    if isinstance(fact.levels, tuple):
        return fact.levels
    return tuple(sorted({level for writer in fact.writers for level in fact.levels_by(writer)}))


def views(style: Style, holds: Callable[[Table | CsvFile | Layer], bool]) -> tuple[str, str, str]:
    """Links to the tables, the CSV files and the layers of timelines of which something is true."""
    files, layers = text_catalog().csv.values(), timeline_catalog().layers.values()
    return (
        commas(place_link(style, one.name) for one in catalog().tables.values() if holds(one)),
        style.links("csv", (one.name for one in files if holds(one))),
        style.links("layer", (one.name for one in layers if holds(one))),
    )


def hexed(block: int) -> str:
    """A code as documents write it: ``0x08``."""
    return f"0x{block:02X}"


def in_force(since: str | None, until: str | None) -> str:
    """``from 2025-12-25, until 2026-01-28``, or nothing for a fact that always held."""
    bounds = (f"from {since}" if since else "", f"until {until}" if until else "")
    return ", ".join(bound for bound in bounds if bound)


def _table_facts(subject: Table, style: Style) -> tuple[Fact, ...]:
    presence = (
        f"{one} ({PRESENCE[subject.carriers[one]]})" for one in CARRIERS if one in subject.carriers
    )
    return (
        ("Databases", presence),
        ("Written by", subject.writer),
        ("Switches", style.links("switch", subject.switches)),
        ("Made of raw files", style.links("raw", raw_sources(f"table/{subject.name}"))),
        ("Levels", some_levels(subject.levels)),
        ("Products", style.links("product", subject.products)),
        ("Rows", ROWS.get(subject.rows or "")),
        ("Interval", " to ".join(map(code, subject.interval or ()))),
        ("Sampled at", code(subject.sample) if subject.sample else None),
        ("Session start", SESSION_START.get(subject.session_start or "")),
        ("Read by", _readers(subject.name, style)),
        ("In force", in_force(subject.since, subject.until)),
        *evidence(subject, style),
    )


def _readers(table: str, style: Style) -> Iterator[str]:
    """The readers of a table, each with those of its parts that read it."""
    for name, parts in consumer_catalog().readers_of.get(table, {}).items():
        yield f"{style.link('reader', name)} ({', '.join(parts)})"


def _column_facts(owner: Table, column: Column, style: Style) -> tuple[Fact, ...]:
    also = f", or {' or '.join(column.also_declared)}" if column.also_declared else ""
    sure = ", where the row exists" if column.soft_reference else ""
    targets = " or ".join(place_link(style, target) for target in column.references)
    return (
        ("Value type", style.link("value-type", column.type)),
        ("Shows", shown_text(column.shows, style)),
        ("Declared", f"{column.declared}{' PRIMARY KEY' if column.primary_key else ''}{also}"),
        ("Stored as", " or ".join(column.storage)),
        ("Unit", column.unit),
        ("Range", value_range(column.minimum, column.maximum)),
        ("Refers to", f"{targets}{sure}" if targets else None),
        ("No value", " or ".join(map(code, column.none))),
        ("NULL", style.prose(column.nullable or "never")),
        ("Texts", map(code, column.members)),
        ("Index", (name for name, over in owner.indexes.items() if column.name in over)),
        ("Renamed from", code(column.renamed_from) if column.renamed_from else None),
        ("In force", in_force(column.since, column.until)),
        ("Grade", _grade(f"{owner.name}.{column.name}", column, style)),
        ("Source", citations(column.source, style)),
        ("Errata", style.links("erratum", column.errata)),
    )


def _grade(place: str, column: Column, style: Style) -> str:
    """The grade; where an erratum decides against documents, that of the winner comes first."""
    decision = catalog().decisions.get(place)
    if decision is None:
        return column.grade
    decided = " and ".join(DECIDED[fact] for fact in decision.facts)
    winners, losers = (citations(source, style) for source in (decision.source, decision.against))
    by = style.links("erratum", decision.errata)
    return f"{decision.grade} for {decided} ({by}: {winners} against {losers}), {column.grade} else"


def value_range(minimum: float | None, maximum: float | None) -> str:
    """``0 to 100``, ``at least 0``, ``at most 9`` or nothing."""
    if minimum is not None and maximum is not None:
        return f"{minimum} to {maximum}"
    if minimum is not None:
        return f"at least {minimum}"
    return "" if maximum is None else f"at most {maximum}"


def _meaning(column: Column, style: Style) -> str:
    return sentences(
        style.prose(column.summary),
        f"No value: {' or '.join(map(code, column.none))}" if column.none else "",
        f"NULL: {style.prose(column.nullable)}" if column.nullable else "",
        f"Renamed from {code(column.renamed_from)}" if column.renamed_from else "",
        in_force(column.since, column.until),
        style.see(column.errata),
    )


def _written(member: Member) -> str:
    if not member.emitted:
        return "by no exporter, only documented"
    where = f"{' and '.join(member.carriers)} only" if member.carriers else ""
    return commas(filter(None, (where, in_force(member.since, member.until))))


def _member_source(member: Member, style: Style) -> str:
    cited = [style.link("source", citation.partition(" ")[0]) for citation in member.source]
    return ", ".join((*cited, *(style.link("erratum", name) for name in member.errata)))


def _history(events: Sequence[Event], style: Style) -> tuple[str, ...]:
    if not events:
        return ()
    rows = (
        (one.date, style.link("revision", one.revision.id), code(one.place), style.prose(one.what))
        for one in events
    )
    return style.heading("History"), table(("date", "first seen in", "what", "change"), rows)
