"""The entities of the recording as Markdown pages: their values, and everything that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ascend_ref.markdown import PLAIN, Style, code, facts, page, table
from ascend_spec import Catalog, recording_catalog
from ascend_spec.core.shows import REASONS, Show
from ascend_spec.recording import Entity, EntityColumn, Shower

from .subject import Subject


def shown_text(show: Show, style: Style = PLAIN) -> str:
    """What a cell shows, in a few words: `task.start`, or why it shows nothing."""
    if show.reason is not None:
        return f"nothing ({show.reason}: {REASONS[show.reason].rstrip('.').lower()})"
    names = [style.link("entity", value.partition(".")[0], value) for value in show.of]
    if show.form == "first_of":
        return f"the first of {', '.join(names)}"
    if show.form == "words":
        words = ", ".join(f"{code(cell)} for {code(value)}" for cell, value in show.words)
        return f"{names[0]}: {words}"
    if show.form == "pattern":
        return f"{', '.join(names)} as {code(show.pattern)}"
    if show.form == "packed":
        return f"{names[0]} in the high 32 bits, {names[1]} in the low 32"
    return names[0]


def entity_page(entity: Entity, style: Style = PLAIN) -> str:
    """One entity: its values, and which cell of which medium shows each."""
    own = recording_catalog().showers_of(entity.name)
    return page(
        f"# {entity.name}",
        style.prose(entity.summary),
        facts(
            ("Identified by", ", ".join(map(code, entity.key))),
            ("Followed, never compared", ", ".join(map(code, entity.identity))),
            ("In memory", code(f"Capture.{entity.capture}") if entity.capture else ""),
            ("Derived by", code(entity.derived_by) if entity.derived_by else ""),
        ),
        "## Values",
        table(
            ("value", "type", "unit", "shown by", "meaning"),
            (_value_row(entity, column, own, style) for column in entity.columns.values()),
        ),
    )


def _value_row(
    entity: Entity, column: EntityColumn, own: tuple[Shower, ...], style: Style
) -> tuple[str, ...]:
    value = f"{entity.name}.{column.name}"
    places = [
        _place_link(one, cell, style)
        for one in own
        for cell, show in one.cells.items()
        if value in show.of
    ]
    return (
        code(column.name),
        style.link("value-type", column.type),
        column.unit or "",
        ", ".join(places),
        style.prose(column.summary),
    )


def _place_link(shower: Shower, cell: str, style: Style) -> str:
    if shower.medium == "database":
        name = cell.partition("@")[0]
        return style.link("column", f"{shower.name}.{name}")
    if shower.medium == "csv":
        return style.link("header", f"{shower.name}/{cell}")
    layer = shower.name.partition("/")[0]
    return style.link("layer", layer, f"{shower.name}: {cell}")


def recording_subjects(_: Catalog) -> Iterator[Subject]:
    """The entities."""
    for entity in recording_catalog().entities.values():
        yield Subject(
            kind="entity",
            name=entity.name,
            summary=entity.summary,
            page=f"recording/{entity.name}.md",
            section=partial(_section, entity),
            fact=entity,
            cells={"values": str(len(entity.columns))},
        )


def _section(entity: Entity, style: Style, _level: int) -> str:
    return entity_page(entity, style)


def recording_index(style: Style) -> str:
    """Every entity."""
    rows = (
        (style.link("entity", one.name), style.prose(one.summary))
        for one in recording_catalog().entities.values()
    )
    return page("# The recording", table(("entity", "what it is"), rows))
