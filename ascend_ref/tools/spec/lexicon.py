"""Everything of the spec that is no table: errata, revisions, value types, switches, sources
and what viewers add, as Markdown sections.
"""

from __future__ import annotations

from collections.abc import Callable

from ascend_spec import Catalog
from ascend_spec.core import Erratum, Source, Switch, ValueType
from ascend_spec.db.model import CARRIERS, Revision
from ascend_spec.text import text_catalog
from ascend_spec.timeline import timeline_catalog

from .history import revision_changes
from .pages import citations, place_link, value_range
from .style import PLAIN, Style, bullets, code, facts, page, table


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
            (
                ("SCHEMA_VERSION", revision.schema_version),
                ("Date", revision.date),
                ("Grade", revision.grade),
                ("Size", "; ".join(counts)),
            )
        ),
        "Changes since the revision before:" if changes else "",
        table(("date", "what", "change"), rows) if changes else "",
    )


def version_page(catalog: Catalog, version: str, style: Style = PLAIN) -> str:
    """Every revision that carries one SCHEMA_VERSION, which alone does not identify a state."""
    held = [revision for revision in catalog.revisions if revision.schema_version == version]
    return page(
        f"# SCHEMA_VERSION {version}",
        *(revision_section(catalog, one, style, level=2).rstrip("\n") for one in held),
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
        style.link("file", file.name, f"{file.name}/{column.name}")
        for file in text_catalog().csv.values()
        for column in file.own_columns
        if column.type == kind.id
    ]
    return page(
        f"{'#' * level} {kind.id}",
        style.prose(kind.summary),
        facts(
            (
                ("Declared", kind.declared),
                ("Stored as", " or ".join(kind.storage)),
                ("Unit", kind.unit or ""),
                ("Range", value_range(kind.minimum, kind.maximum)),
                ("Refers to", " or ".join(place_link(style, name) for name in kind.references)),
                ("Used by", ", ".join(dict.fromkeys((*used, *files)))),
            )
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
        style.link("file", file.name)
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
            (
                ("Spelled", ", ".join(map(code, switch.spelled))),
                ("Produces", ", ".join(used)),
                ("CSV files", ", ".join(files)),
                ("Layers of the timeline", ", ".join(layers)),
            )
        ),
    )


def source_section(_catalog: Catalog, source: Source, style: Style = PLAIN, level: int = 1) -> str:
    """One place that facts are taken from."""
    return page(
        f"{'#' * level} {source.id}",
        style.prose(source.title),
        facts((("Grade", source.grade), ("Where", code(source.where)))),
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
