"""Everything of the spec that is no table: errata, revisions, value types, switches, sources
and what viewers add, as Markdown sections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from ascend_ref.markdown import PLAIN, Style, anchor, bullets, code, facts, page, table
from ascend_spec import Catalog, Schema, packaged, text_catalog, timeline_catalog
from ascend_spec.core import Erratum, Source, Switch, ValueType
from ascend_spec.core.words import Vocabulary
from ascend_spec.db.model import CARRIERS, Carrier, ForeignObject, Revision

from .history import revision_changes
from .pages import citations, place_link, value_range
from .product_pages import product_subjects
from .subject import Subject, headed


def erratum_section(
    catalog: Catalog,
    erratum: Erratum,
    style: Style = PLAIN,
    level: int = 1,
    place: Callable[[Style, str], str] = place_link,
) -> str:
    """One disagreement between sources: who says what, and what the spec does about it.

    ``place`` writes one of the places that it is about.
    """
    claims = (
        f"{citations(catalog, (source,), style)}: {style.prose(claim)}"
        for source, claim in erratum.says
    )
    documented = (
        f"{place(style, where)}: "
        + ", ".join(f"{attribute} {code(value)}" for attribute, value in patch.items())
        for where, patch in erratum.documented.items()
    )
    return page(
        f"{'#' * level} {erratum.id}",
        f"**{style.prose(erratum.title)}**",
        f"At: {', '.join(place(style, where) for where in erratum.at)}" if erratum.at else "",
        bullets(claims),
        f"**Resolution:** {style.prose(erratum.resolution)}",
        *(("Under the documented reading:", bullets(documented)) if erratum.documented else ()),
    )


def revision_section(
    catalog: Catalog, revision: Revision, style: Style = PLAIN, level: int = 1
) -> str:
    """One state of the schema and what distinguishes it from the one before."""
    counts = []
    for carrier in CARRIERS:
        schema = catalog.at(revision.id, carrier)
        columns = sum(len(subject.columns) for subject in schema.tables.values())
        counts.append(f"{carrier} {len(schema.tables)} tables, {columns} columns")
    changes = revision_changes(catalog, revision)
    rows = (
        (change.date, place_link(style, change.place), style.prose(change.what))
        for change in changes
    )
    return page(
        f"{'#' * level} {revision.id}",
        style.prose(revision.summary),
        facts(
            ("SCHEMA_VERSION", revision.schema_version),
            ("Date", revision.date),
            ("Grade", revision.grade),
            ("Size", "; ".join(counts)),
        ),
        "Changes since the revision before:" if changes else "",
        table(("date", "what", "change"), rows) if changes else "",
    )


def version_section(catalog: Catalog, version: str, style: Style = PLAIN, level: int = 1) -> str:
    """Every revision that carries one SCHEMA_VERSION, which alone does not identify a state."""
    held = [revision for revision in catalog.revisions if revision.schema_version == version]
    sections = (revision_section(catalog, one, style, level=level + 1) for one in held)
    return page(
        f"{'#' * level} SCHEMA_VERSION {version}",
        f"Revisions: {', '.join(style.link('revision', one.id) for one in held)}.",
        *((one.rstrip("\n") for one in sections) if level == 1 else ()),
    )


def type_section(catalog: Catalog, kind: ValueType, style: Style = PLAIN, level: int = 1) -> str:
    """One kind of value and the columns that hold it."""
    used = [
        place_link(style, f"{subject.name}.{column.name}")
        for subject in catalog.tables.values()
        for column in subject.columns.values()
        if column.type == kind.id
    ]
    files = [
        style.link("header", f"{file.name}/{column.name}")
        for file in text_catalog().csv.values()
        for column in file.own_columns
        if column.type == kind.id
    ]
    return page(
        f"{'#' * level} {kind.id}",
        style.prose(kind.summary),
        facts(
            ("Declared", kind.declared),
            ("Stored as", " or ".join(kind.storage)),
            ("Unit", kind.unit or ""),
            ("Range", value_range(kind.minimum, kind.maximum)),
            ("Refers to", " or ".join(place_link(style, name) for name in kind.references)),
            ("Used by", ", ".join(dict.fromkeys((*used, *files)))),
        ),
    )


def switch_section(catalog: Catalog, switch: Switch, style: Style = PLAIN, level: int = 1) -> str:
    """One collection switch, its spellings, and the tables that depend on it."""
    used = (
        place_link(style, subject.name)
        for subject in catalog.tables.values()
        if switch.id in subject.switches
    )
    files = (
        style.link("csv", file.name)
        for file in text_catalog().csv.values()
        if switch.id in file.switches
    )
    layers = (
        style.link("layer", layer.name)
        for layer in timeline_catalog().layers.values()
        if switch.id in layer.switches
    )
    return page(
        f"{'#' * level} {switch.id}",
        style.prose(switch.summary),
        facts(
            ("Spelled", ", ".join(map(code, switch.spelled))),
            ("Produces", ", ".join(used)),
            ("CSV files", ", ".join(files)),
            ("Layers of the timeline", ", ".join(layers)),
        ),
    )


def level_section(catalog: Catalog, profiled: int, style: Style = PLAIN, level: int = 1) -> str:
    """What a profile of one profiler level can hold, and what only the other levels do."""
    texts, timelines = text_catalog(), timeline_catalog()
    tables = {one.name: profiled in one.levels for one in catalog.tables.values()}
    files = {
        one.name: any(profiled in one.levels_by(writer) for writer in one.writers)
        for one in texts.csv.values()
    }
    layers = {one.name: profiled in one.levels for one in timelines.layers.values()}
    rows = [
        ("Tables", ", ".join(place_link(style, one) for one, there in tables.items() if there)),
        ("CSV files", ", ".join(style.link("csv", one) for one, there in files.items() if there)),
        (
            "Layers of the timeline",
            ", ".join(style.link("layer", one) for one, there in layers.items() if there),
        ),
        (
            "Not at this level",
            ", ".join(
                (
                    *(place_link(style, one) for one, there in tables.items() if not there),
                    *(style.link("csv", one) for one, there in files.items() if not there),
                    *(style.link("layer", one) for one, there in layers.items() if not there),
                )
            ),
        ),
        ("Sentinels", style.link("vocabulary", "level-0-sentinels") if profiled == 0 else ""),
    ]
    return page(f"{'#' * level} Level {profiled}", LEVELS[profiled], facts(*rows))


LEVELS: Mapping[int, str] = {
    0: "The least: times of tasks and collectives, without what the operators are.",
    1: "In addition the operators' shapes and types, and the counters of the cores.",
    2: "In addition the calls of the runtime.",
}


def vocabulary_section(
    catalog: Catalog, words: Vocabulary, style: Style = PLAIN, level: int = 1
) -> str:
    """A set of words with what is known of each."""
    return page(
        f"{'#' * level} {words.id}",
        style.prose(words.summary),
        facts(
            ("Shown in", ", ".join(_shown_in(style, one) for one in words.shown_in)),
            ("Source", citations(catalog, words.source, style)),
        ),
        style.prose(words.note or ""),
        table(
            words.columns,
            ((code(one[0]), *(style.prose(str(text)) for text in one[1:])) for one in words.words),
        ),
    )


def _shown_in(style: Style, place: str) -> str:
    return style.link("header", place) if "/" in place else place_link(style, place)


def carrier_section(
    catalog: Catalog, carrier: Carrier, style: Style = PLAIN, level: int = 1
) -> str:
    """One kind of database and the tables that its newest revision holds."""
    schema = catalog.at(catalog.revisions[-1].id, carrier)
    return page(
        f"{'#' * level} {carrier}",
        f"{CARRIER_FILES[carrier]}.",
        facts(
            ("Tables", ", ".join(place_link(style, one) for one in schema.tables)),
        ),
    )


CARRIER_FILES: Mapping[Carrier, str] = {
    "msprof": "The database of msprof, msprof_{timestamp}.db",
    "pytorch": "The database of the PyTorch adapter, ascend_pytorch_profiler_{rank}.db",
    "analysis": "What the PyTorch adapter computes of a rank, analysis.db",
}


def addition_section(item: ForeignObject, style: Style = PLAIN, level: int = 1) -> str:
    """One table or column that another program adds."""
    return page(
        f"{'#' * level} {_added(item)}",
        style.prose(item.summary),
        facts(
            ("Added by", style.prose(item.added_by)),
        ),
    )


def _added(item: ForeignObject) -> str:
    return f"{item.table}.{item.column}" if item.column else item.table


def lexicon_subjects(catalog: Catalog) -> Iterator[Subject]:
    """Revisions, carriers, switches, products, levels, vocabularies, value types, sources and what
    other programs add.
    """
    for revision in catalog.revisions:
        yield _revision_subject(catalog, revision)
    for version in dict.fromkeys(revision.schema_version for revision in catalog.revisions):
        held = [one.id for one in catalog.revisions if one.schema_version == version]
        yield Subject(
            kind="schema-version",
            name=version,
            summary=", ".join(held),
            page=f"revisions.md#{anchor(f'SCHEMA_VERSION {version}')}",
            section=partial(version_section, catalog, version),
            fact={"schema_version": version, "revisions": held},
        )
    for carrier in CARRIERS:
        yield Subject(
            kind="carrier",
            name=carrier,
            summary=f"{CARRIER_FILES[carrier]}.",
            page=f"carriers.md#{carrier}",
            section=partial(carrier_section, catalog, carrier),
            fact={"carrier": carrier},
        )
    for item in catalog.foreign_objects:
        yield Subject(
            kind="addition",
            name=_added(item),
            summary=item.summary,
            page="additions.md",
            section=partial(addition_section, item),
            fact=item,
            cells={"added by": item.added_by},
        )
    yield from headed(
        "switch",
        catalog.switches,
        "switches.md",
        partial(switch_section, catalog),
        also=lambda switch: switch.spelled,
        cells=lambda switch: {"spelled": ", ".join(switch.spelled)},
    )
    yield from product_subjects(catalog)
    for level, summary in LEVELS.items():
        yield Subject(
            kind="level",
            name=str(level),
            summary=summary,
            page=f"levels.md#level-{level}",
            section=partial(level_section, catalog, level),
            fact={"level": level},
            also=(f"level{level}", f"level {level}"),
            levels=(level,),
        )
    yield from headed(
        "vocabulary",
        packaged().loader.vocabularies,
        "vocabularies.md",
        partial(vocabulary_section, catalog),
        cells=lambda words: {"words": str(len(words.words))},
    )
    yield from headed(
        "value-type",
        text_catalog().value_types,
        "value-types.md",
        partial(type_section, catalog),
        cells=lambda kind: {"declared": kind.declared, "unit": kind.unit or ""},
    )
    for source in catalog.sources.values():
        yield Subject(
            kind="source",
            name=source.id,
            summary=source.title,
            page=f"sources.md#{anchor(source.id)}",
            section=partial(source_section, catalog, source),
            fact=source,
            cells={"grade": source.grade},
        )


def _revision_subject(catalog: Catalog, revision: Revision) -> Subject:
    def at(schema: Schema) -> Subject | None:
        return found if schema.revision == revision else None

    found = Subject(
        kind="revision",
        name=revision.id,
        summary=revision.summary,
        page=f"revisions.md#{anchor(revision.id)}",
        section=partial(revision_section, catalog, revision),
        fact=revision,
        cells={"SCHEMA_VERSION": revision.schema_version, "grade": revision.grade},
        at=at,
    )
    return found


def source_section(_catalog: Catalog, source: Source, style: Style = PLAIN, level: int = 1) -> str:
    """One place that facts are taken from."""
    return page(
        f"{'#' * level} {source.id}",
        style.prose(source.title),
        facts(("Grade", source.grade), ("Where", code(source.where))),
    )


def additions_page(catalog: Catalog, style: Style = PLAIN) -> str:
    """Tables and columns that other programs add to a profile, or that only old files hold."""
    rows = (
        (
            code(f"{item.table}.{item.column}" if item.column else item.table),
            style.prose(item.added_by),
            style.prose(item.summary),
        )
        for item in catalog.foreign_objects
    )
    return page(
        "# Additions of other programs",
        "Opening a profile in a viewer changes the file. The checker names these objects in a note "
        "and does not condemn them.",
        table(("object", "added by", "what it is"), rows),
    )
