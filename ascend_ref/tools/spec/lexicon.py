"""Everything of the spec that is no table: errata, revisions, value types, switches, sources
and what viewers add, as Markdown sections.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ascend_ref.markdown import Style, code, page, table
from ascend_spec import catalog, ge_catalog, raw_catalog, text_catalog
from ascend_spec.core import Source, Switch, ValueType
from ascend_spec.core.facts import Vocabulary
from ascend_spec.db.model import CARRIERS, Carrier, ForeignObject, Revision

from .history import revision_history
from .pages import PRESENCE, citations, levels_of, place_link, value_range, views
from .product_pages import product_subjects
from .subject import Subject, grouped, things

LEVELS: Mapping[int, str] = {
    0: "The least: times of tasks and collectives, without what the operators are.",
    1: "In addition the operators' shapes and types, and the counters of the cores.",
    2: "In addition the calls of the runtime; msprof collects them by a switch of its own, "
    "runtime-api.",
}
CARRIER_FILES: Mapping[Carrier, str] = {
    "msprof": "The database of msprof, msprof_{timestamp}.db.",
    "pytorch": "The database of the PyTorch adapter, ascend_pytorch_profiler_{rank}.db.",
    "analysis": "What the PyTorch adapter computes of a rank, analysis.db.",
}


def revision_section(revision: Revision, style: Style) -> str:
    """One state of the schema and what distinguishes it from the one before."""
    counts = []
    for carrier in CARRIERS:
        tables = catalog().at(revision.id, carrier).tables
        columns = sum(len(subject.columns) for subject in tables.values())
        counts.append(f"{carrier} {len(tables)} tables, {columns} columns")
    events = revision_history(revision)
    rows = ((one.date, place_link(style, one.place), style.prose(one.what)) for one in events)
    return style.page(
        revision.id,
        revision.summary,
        ("SCHEMA_VERSION", revision.schema_version),
        ("Date", revision.date),
        ("Grade", revision.grade),
        ("Size", "; ".join(counts)),
        "Changes since the revision before:" if events else "",
        table(("date", "what", "change"), rows) if events else "",
    )


def _version_section(held: list[Revision], style: Style) -> str:
    """Every revision that carries one SCHEMA_VERSION, which alone does not identify a state."""
    return page(
        style.heading(f"SCHEMA_VERSION {held[0].schema_version}"),
        f"Revisions: {style.links('revision', (one.id for one in held))}.",
        *(revision_section(one, style.below()) for one in held if style.level == 1),
    )


def type_section(kind: ValueType, style: Style) -> str:
    """One kind of value and the columns that hold it."""
    columns = (
        place_link(style, f"{subject.name}.{column.name}")
        for subject in catalog().tables.values()
        for column in subject.columns.values()
        if column.type == kind.id
    )
    headers = (
        style.link("header", f"{file.name}/{column.name}")
        for file in text_catalog().csv.values()
        for column in file.own_columns
        if column.type == kind.id
    )
    return style.page(
        kind.id,
        kind.summary,
        ("Declared", kind.declared),
        ("Stored as", " or ".join(kind.storage)),
        ("Unit", kind.unit),
        ("Range", value_range(kind.minimum, kind.maximum)),
        ("Refers to", " or ".join(place_link(style, name) for name in kind.references)),
        ("Used by", dict.fromkeys((*columns, *headers))),
    )


def switch_section(switch: Switch, style: Style) -> str:
    """One collection switch, its spellings, and what depends on it."""
    tables, files, layers = views(style, lambda one: switch.id in one.switches)
    raw = raw_catalog().files.values()
    return style.page(
        switch.id,
        switch.summary,
        ("Spelled", map(code, switch.spelled)),
        ("On where", (_stated(*one) for one in switch.stated.items())),
        ("Produces", tables),
        ("CSV files", files),
        ("Layers of the timeline", layers),
        ("Raw files", style.links("raw", (one.file for one in raw if switch.id in one.switches))),
        ("Options of the graph engine", style.links("ge-option", _options(switch.id))),
    )


def _options(switch: str) -> list[str]:
    """The options of the graph engine's profiling that turn a switch on."""
    options = ge_catalog().options.values()
    return [one.option for one in options if any(switch in on for on in one.turns_on.values())]


def _stated(file: str, keys: Mapping[str, str | bool]) -> str:
    """How a file of a capture states that a switch is on."""
    listed = " and ".join(f"{code(key)} is {code(json.dumps(on))}" for key, on in keys.items())
    return f"in {code(file)} {listed}"


def _level_section(level: int, style: Style) -> str:
    """What a profile of one profiler level can hold, and what only the other levels do."""
    tables, files, layers = views(style, lambda one: level in levels_of(one))
    missing = filter(None, views(style, lambda one: level not in levels_of(one)))
    return style.page(
        f"Level {level}",
        LEVELS[level],
        ("Tables", tables),
        ("CSV files", files),
        ("Layers of the timeline", layers),
        ("Not at this level", missing),
        ("Sentinels", style.link("vocabulary", "level-0-sentinels") if level == 0 else None),
    )


def vocabulary_section(words: Vocabulary, style: Style) -> str:
    """A set of words with what is known of each."""
    rows = ((code(one[0]), *(style.prose(str(text)) for text in one[1:])) for one in words.words)
    return style.page(
        words.id,
        words.summary,
        ("Shown in", (place_link(style, one) for one in words.shown_in)),
        ("Source", citations(words.source, style)),
        style.prose(words.note),
        table(words.columns, rows),
    )


def _carrier_section(carrier: Carrier, style: Style) -> str:
    """One kind of database and the tables that its newest revision holds, by when it does."""
    schema = catalog().at(catalog().revisions[-1].id, carrier)
    held = grouped(schema.tables.values(), lambda table: table.carriers[carrier])
    named = (
        (f"Tables {words}", (place_link(style, one.name) for one in tuple(held.get(when, ()))))
        for when, words in PRESENCE.items()
    )
    rule = "None of them stands there without rows."
    return page(style.heading(carrier), CARRIER_FILES[carrier], *named, rule)


def _addition_section(item: ForeignObject, style: Style) -> str:
    """One table or column that another program adds."""
    return style.page(_added(item), item.summary, ("Added by", style.prose(item.added_by)))


def _added(item: ForeignObject) -> str:
    return f"{item.table}.{item.column}" if item.column else item.table


def source_section(source: Source, style: Style) -> str:
    """One place that facts are taken from."""
    return style.page(
        source.id, source.title, ("Grade", source.grade), ("Where", code(source.where))
    )


def lexicon_subjects() -> Iterator[Subject]:
    """Revisions, carriers, switches, products, levels, vocabularies, value types, sources and what
    other programs add.
    """
    yield from things(
        "revision",
        {one.id: one for one in catalog().revisions},
        "revisions.md#{anchor}",
        revision_section,
        cells=lambda one: {"SCHEMA_VERSION": one.schema_version, "grade": one.grade},
        at=lambda one: lambda schema: {} if schema.revision == one else None,
    )
    yield from things(
        "schema-version",
        grouped(catalog().revisions, lambda one: one.schema_version),
        "revisions.md#schema_version-{anchor}",
        _version_section,
        summary=lambda held: ", ".join(one.id for one in held),
        fact=lambda held: {
            "schema_version": held[0].schema_version,
            "revisions": [one.id for one in held],
        },
    )
    yield from things(
        "carrier",
        {carrier: carrier for carrier in CARRIERS},
        "carriers.md#{name}",
        _carrier_section,
        summary=lambda carrier: CARRIER_FILES[carrier],
        fact=lambda carrier: {"carrier": carrier},
    )
    yield from things(
        "addition",
        {_added(item): item for item in catalog().foreign_objects},
        "additions.md#{anchor}",
        _addition_section,
        cells=lambda item: {"added by": item.added_by},
    )
    yield from things(
        "switch",
        catalog().documents.switches,
        "switches.md#{anchor}",
        switch_section,
        also=lambda switch: switch.spelled,
        cells=lambda switch: {"spelled": ", ".join(switch.spelled)},
    )
    yield from product_subjects()
    yield from things(
        "level",
        {level: level for level in LEVELS},
        "levels.md#level-{name}",
        _level_section,
        summary=lambda level: LEVELS[level],
        fact=lambda level: {"level": level},
        also=lambda level: (f"level{level}", f"level {level}"),
        levels=lambda level: (level,),
    )
    yield from things(
        "vocabulary",
        catalog().documents.vocabularies,
        "vocabularies.md#{anchor}",
        vocabulary_section,
        cells=lambda words: {"words": str(len(words.words))},
    )
    yield from things(
        "value-type",
        text_catalog().value_types,
        "value-types.md#{anchor}",
        type_section,
        cells=lambda kind: {"declared": kind.declared, "unit": kind.unit or ""},
    )
    yield from things(
        "source",
        catalog().documents.sources,
        "sources.md#{anchor}",
        source_section,
        summary=lambda source: source.title,
        cells=lambda source: {"grade": source.grade},
    )
