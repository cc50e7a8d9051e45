"""Tables, columns and enums as Markdown pages: the same text for the site and for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from ascend_ref.markdown import PLAIN, Style, anchor, bullets, code, facts, page, table
from ascend_spec import Catalog, Schema
from ascend_spec.core import Erratum
from ascend_spec.db.model import CARRIERS, Carrier, Column, Enum, Member, Presence, Table

from .history import Change, enum_changes, table_changes
from .recording_pages import shown_text
from .subject import Subject, families, with_section

PRESENCE: dict[Presence, str] = {
    "always": "always",
    "when-rows": "when it has rows",
    "by-switch": "when switched on",
}
ROWS = {None: "", "one": "exactly one", "some": "at least one"}
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
    None: "",
    "hard": "no row starts before it",
    "soft": "rows before it occur",
}


def table_page(
    catalog: Catalog, subject: Table, style: Style = PLAIN, details: bool = False
) -> str:
    """One table. ``details`` adds a section for each column."""
    columns = list(subject.columns.values())
    sections = [
        column_page(catalog, subject, name, style, level=3)
        for name in (dict.fromkeys(column.name for column in columns) if details else ())
    ]
    return page(
        f"# {subject.name}",
        style.prose(subject.summary),
        facts(*_table_facts(catalog, subject, style)),
        style.prose(subject.note or ""),
        "## Columns",
        column_table(columns, style),
        _indexes(subject),
        *_history(table_changes(catalog, subject), style, level=2),
        "## Each column" if details else "",
        *(section.rstrip("\n") for section in sections),
    )


def column_table(columns: Iterable[Column], style: Style = PLAIN) -> str:
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


def column_page(
    catalog: Catalog, owner: Table, name: str, style: Style = PLAIN, level: int = 1
) -> str:
    """One column of a table, with every variant that its history knows.

    Raises ``KeyError`` where the table has no such column.
    """
    variants = [column for column in owner.columns.values() if column.name == name]
    if not variants:
        raise KeyError(f"{owner.name} has no column {name}")
    place = f"{owner.name}.{name}"
    changes = [change for change in table_changes(catalog, owner) if change.place == place]
    blocks: list[str] = []
    for column in variants:
        if len(variants) > 1:
            bounds = in_force(column.since, column.until) or "always"
            blocks.append(f"{'#' * (level + 1)} {bounds[0].upper()}{bounds[1:]}")
        blocks.append(style.prose(column.summary))
        blocks.append(facts(*_column_facts(catalog, owner, column, style)))
    if level > 1:
        return page(f"{'#' * level} {name}", *blocks)
    cited = dict.fromkeys(one for column in variants for one in column.errata)
    return page(
        f"# {place}",
        style.prose(owner.note or ""),
        *blocks,
        resolutions(catalog.errata, cited, style),
        *_history(changes, style, level=2),
    )


def resolutions(errata: Mapping[str, Erratum], cited: Iterable[str], style: Style) -> str:
    """What the errata of a page decide, a line each."""
    lines = [
        f"{style.link('erratum', one)} {style.prose(errata[one].title)}: "
        f"{style.prose(errata[one].resolution)}"
        for one in cited
    ]
    return page("## Where sources disagree", bullets(lines)).rstrip("\n") if lines else ""


def enum_page(catalog: Catalog, enum: Enum, style: Style = PLAIN) -> str:
    """One enum table: its members, and which revision and carrier writes which."""
    owner = catalog.tables.get(enum.name)
    used = [
        place_link(style, f"{subject.name}.{column}")
        for subject in catalog.tables.values()
        for column in dict.fromkeys(
            column.name
            for column in subject.columns.values()
            if f"{enum.name}.id" in column.references
        )
    ]
    closed = "closed: a column holds no other id" if enum.closed else "open: further ids occur"
    return page(
        f"# {enum.name}",
        style.prose(enum.summary),
        facts(
            *(_table_facts(catalog, owner, style) if owner else ()),
            ("Members", closed),
            ("Referred to by", ", ".join(used)),
        ),
        "## Members",
        table(
            ("id", "name", "written", "source"),
            (
                (str(member.id), code(member.name), _written(member), _member_source(member, style))
                for member in sorted(
                    enum.members, key=lambda member: (member.id, member.since or "")
                )
            ),
        ),
        *_history(enum_changes(catalog, enum), style, level=2),
    )


def tables_index(catalog: Catalog, style: Style = PLAIN) -> str:
    """Every table with its carriers."""
    rows = (
        (
            style.link("table", subject.name),
            ", ".join(subject.carriers),
            style.prose(subject.summary),
        )
        for subject in catalog.tables.values()
        if subject.name not in catalog.enums
    )
    return page("# Tables", table(("table", "databases", "what it holds"), rows))


def enums_index(catalog: Catalog, style: Style = PLAIN) -> str:
    """Every enum table with its number of members."""
    rows = (
        (style.link("enum", enum.name), str(len(enum.members)), style.prose(enum.summary))
        for enum in catalog.enums.values()
    )
    return page("# Enums", table(("enum", "members", "what it names"), rows))


def place_link(style: Style, place: str) -> str:
    """``TABLE`` or ``TABLE.column``, linked to the page of the table or enum."""
    owner, _, column = place.partition(".")
    if owner.startswith("ENUM_"):
        return style.link("enum", owner, place)
    return style.link("column", place) if column else style.link("table", owner)


def schema_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Tables and enum tables."""
    for subject in catalog.tables.values():
        if subject.name not in catalog.enums:
            yield _table_subject(catalog, subject)
    for enum in catalog.enums.values():
        yield _enum_subject(catalog, enum)


def part_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Columns of tables, members of enum tables."""
    for subject in catalog.tables.values():
        if subject.name not in catalog.enums:
            for name in dict.fromkeys(column.name for column in subject.columns.values()):
                yield _column_subject(catalog, subject, name)
    for enum in catalog.enums.values():
        for identifier in dict.fromkeys(member.id for member in enum.members):
            yield _member_subject(catalog, enum, identifier)


def _table_subject(catalog: Catalog, whole: Table) -> Subject:
    def at(schema: Schema) -> Subject | None:
        held = schema.tables.get(whole.name)
        if held is None:
            return None
        cells = {"databases": schema.carrier, "columns": str(len(held.columns))}
        section = partial(_page_of_table, catalog, held)
        return replace(with_section(found, section, held), cells=cells)

    found = Subject(
        kind="table",
        name=whole.name,
        summary=whole.summary,
        page=f"tables/{whole.name}.md",
        section=partial(_page_of_table, catalog, whole),
        fact=whole,
        cells={
            "databases": ",".join(one for one in CARRIERS if one in whole.carriers),
            "columns": str(len({column.name for column in whole.columns.values()})),
        },
        levels=whole.levels,
        products=families(whole.products),
        at=at,
    )
    return found


def _column_subject(catalog: Catalog, owner: Table, name: str) -> Subject:
    variants = [column for column in owner.columns.values() if column.name == name]

    def at(schema: Schema) -> Subject | None:
        held = schema.tables.get(owner.name)
        if held is None or name not in held.columns:
            return None
        section = partial(_page_of_column, catalog, held, name)
        return with_section(found, section, [held.columns[name]])

    found = Subject(
        kind="column",
        name=f"{owner.name}.{name}",
        summary=variants[-1].summary,
        page=f"tables/{owner.name}.md#{anchor(name)}",
        section=partial(_page_of_column, catalog, owner, name),
        fact=variants,
        cells={"type": variants[-1].declared, "unit": variants[-1].unit or ""},
        levels=owner.levels,
        products=families(owner.products),
        at=at,
    )
    return found


def _enum_subject(catalog: Catalog, enum: Enum) -> Subject:
    def at(schema: Schema) -> Subject | None:
        if enum.name not in schema.enums:
            return None
        return replace(found, cells={"members": str(len(schema.enums[enum.name]))}, at=None)

    found = Subject(
        kind="enum",
        name=enum.name,
        summary=enum.summary,
        page=f"enums/{enum.name}.md",
        section=lambda style, _level: enum_page(catalog, enum, style),
        fact=enum,
        cells={"members": str(len({member.id for member in enum.members}))},
        at=at,
    )
    return found


def _member_subject(catalog: Catalog, enum: Enum, identifier: int) -> Subject:
    variants = [member for member in enum.members if member.id == identifier]
    names = tuple(dict.fromkeys(member.name for member in variants))

    def at(schema: Schema) -> Subject | None:
        held = schema.enums.get(enum.name, {})
        return replace(found, at=None) if identifier in held else None

    found = Subject(
        kind="member",
        name=f"{enum.name}/{identifier}",
        summary=", ".join(names),
        page=f"enums/{enum.name}.md#members",
        section=partial(_page_of_member, catalog, enum, variants),
        fact=variants,
        also=tuple(f"{enum.name}/{name}" for name in names),
        at=at,
    )
    return found


def _page_of_member(
    catalog: Catalog, enum: Enum, variants: Sequence[Member], style: Style, level: int
) -> str:
    cited = dict.fromkeys(one for member in variants for one in member.errata)
    return page(
        f"{'#' * level} {enum.name}/{variants[0].id}",
        f"In {style.link('enum', enum.name)}.",
        *(
            facts(
                ("Name", code(member.name)),
                ("Written", _written(member)),
                *evidence(catalog, member, style),
            )
            for member in variants
        ),
        resolutions(catalog.errata, cited, style),
    )


def _page_of_table(catalog: Catalog, state: Table, style: Style, _level: int) -> str:
    return table_page(catalog, state, style)


def _page_of_column(catalog: Catalog, owner: Table, name: str, style: Style, level: int) -> str:
    return column_page(catalog, owner, name, style, level)


def citations(catalog: Catalog, source: Iterable[str], style: Style = PLAIN) -> str:
    """Sources with their grades: ``seed-001 TASK (documented), …``."""
    cited = []
    for citation in source:
        identifier, _, where = citation.partition(" ")
        known = catalog.sources.get(identifier)
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


def evidence(catalog: Catalog, fact: Cited, style: Style) -> tuple[tuple[str, str], ...]:
    """The lines on how sure a fact is, who says so, and which sources disagree."""
    return (
        ("Grade", fact.grade),
        ("Source", citations(catalog, fact.source, style)),
        ("Errata", style.links("erratum", fact.errata)),
    )


def in_force(since: str | None, until: str | None) -> str:
    """``from 2025-12-25, until 2026-01-28``, or nothing for a fact that always held."""
    bounds = (f"from {since}" if since else "", f"until {until}" if until else "")
    return ", ".join(bound for bound in bounds if bound)


def _table_facts(catalog: Catalog, subject: Table, style: Style) -> list[tuple[str, str]]:
    return [
        ("Databases", _presence(subject.carriers)),
        ("Written by", subject.writer),
        ("Switches", style.links("switch", subject.switches)),
        ("Levels", "" if len(subject.levels) == 3 else ", ".join(map(str, subject.levels))),
        ("Products", style.links("product", subject.products)),
        ("Rows", ROWS[subject.rows]),
        ("Interval", " to ".join(map(code, subject.interval or ()))),
        ("Sampled at", code(subject.sample) if subject.sample else ""),
        ("Session start", SESSION_START[subject.session_start]),
        ("Read by", ", ".join(subject.readers)),
        ("In force", in_force(subject.since, subject.until)),
        *evidence(catalog, subject, style),
    ]


def _column_facts(
    catalog: Catalog, owner: Table, column: Column, style: Style
) -> list[tuple[str, str]]:
    also = f", or {' or '.join(column.also_declared)}" if column.also_declared else ""
    sure = ", where the row exists" if column.soft_reference else ""
    targets = " or ".join(place_link(style, target) for target in column.references)
    return [
        ("Value type", style.link("value-type", column.type)),
        ("Shows", shown_text(column.shows, style)),
        ("Declared", f"{column.declared}{' PRIMARY KEY' if column.primary_key else ''}{also}"),
        ("Stored as", " or ".join(column.storage)),
        ("Unit", column.unit or ""),
        ("Range", value_range(column.minimum, column.maximum)),
        ("Refers to", f"{targets}{sure}" if targets else ""),
        ("No value", " or ".join(map(code, column.none))),
        ("NULL", style.prose(column.nullable or "never")),
        ("Texts", ", ".join(map(code, column.members))),
        ("Index", ", ".join(name for name, over in owner.indexes.items() if column.name in over)),
        ("Renamed from", code(column.renamed_from) if column.renamed_from else ""),
        ("In force", in_force(column.since, column.until)),
        ("Grade", _grade(catalog, f"{owner.name}.{column.name}", column, style)),
        ("Source", citations(catalog, column.source, style)),
        ("Errata", style.links("erratum", column.errata)),
    ]


def _grade(catalog: Catalog, place: str, column: Column, style: Style) -> str:
    """The grade; where an erratum decides against documents, that of the winner comes first."""
    decision = catalog.decisions.get(place)
    if decision is None:
        return column.grade
    decided = " and ".join(DECIDED[fact] for fact in decision.facts)
    winners, losers = (
        citations(catalog, source, style) for source in (decision.source, decision.against)
    )
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
    remarks = [style.prose(column.summary).rstrip(".")]
    if column.none:
        remarks.append(f"No value: {' or '.join(map(code, column.none))}")
    if column.nullable:
        remarks.append(f"NULL: {style.prose(column.nullable).rstrip('.')}")
    if column.renamed_from:
        remarks.append(f"Renamed from {code(column.renamed_from)}")
    bounds = in_force(column.since, column.until)
    if bounds:
        remarks.append(bounds[0].upper() + bounds[1:])
    if column.errata:
        remarks.append(f"See {style.links('erratum', column.errata)}")
    return f"{'. '.join(remark for remark in remarks if remark)}."


def _presence(carriers: Mapping[Carrier, Presence]) -> str:
    return ", ".join(
        f"{carrier} ({PRESENCE[presence]})"
        for carrier, presence in sorted(carriers.items(), key=lambda item: CARRIERS.index(item[0]))
    )


def _indexes(subject: Table) -> str:
    lines = [f"- {code(name)} on ({', '.join(over)})" for name, over in subject.indexes.items()]
    return "\n".join(("## Indexes", "", *lines)) if lines else ""


def _written(member: Member) -> str:
    if not member.emitted:
        return "by no exporter, only documented"
    carriers: tuple[Carrier, ...] = member.carriers
    where = f"{' and '.join(carriers)} only" if carriers else ""
    return ", ".join(part for part in (where, in_force(member.since, member.until)) if part)


def _member_source(member: Member, style: Style) -> str:
    cited = [style.link("source", citation.partition(" ")[0]) for citation in member.source]
    return ", ".join((*cited, *(style.link("erratum", name) for name in member.errata)))


def _history(changes: Sequence[Change], style: Style, level: int) -> tuple[str, ...]:
    if not changes:
        return ()
    rows = (
        (
            change.date,
            style.link("revision", change.revision.id),
            code(change.place),
            style.prose(change.what),
        )
        for change in changes
    )
    return (f"{'#' * level} History", table(("date", "first seen in", "what", "change"), rows))
