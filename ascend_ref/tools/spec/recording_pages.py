"""The entities of the recording as Markdown pages: their values, and everything that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ascend_ref.markdown import Style, code, commas, table
from ascend_spec import catalog, recording_catalog
from ascend_spec.core.shows import REASONS, Show
from ascend_spec.raw.shown import raw_showers
from ascend_spec.recording import Entity, Shower

from .subject import Subject, things


def shown_text(show: Show, style: Style) -> str:
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


def entity_page(entity: Entity, style: Style) -> str:
    """One entity: its values, and which cell of which medium shows each."""
    own = recording_catalog().showers_of(entity.name)
    rows = (
        (
            code(column.name),
            style.link("value-type", column.type),
            column.unit or "",
            commas(
                (
                    *_places(f"{entity.name}.{column.name}", own, style),
                    *_raw_places(f"{entity.name}.{column.name}", style),
                )
            ),
            style.prose(column.summary),
        )
        for column in entity.columns.values()
    )
    return style.page(
        entity.name,
        entity.summary,
        ("Identified by", map(code, entity.key)),
        ("Followed, never compared", map(code, entity.identity)),
        ("In memory", code(f"Capture.{entity.capture}") if entity.capture else None),
        ("Derived by", derivation(entity.derived_by, style)),
        "## Values",
        table(("value", "type", "unit", "shown by", "meaning"), rows),
    )


def derivation(name: str | None, style: Style) -> str:
    """A derivation and how it computes; nothing for none."""
    words = catalog().documents.vocabularies["derivations"].words
    ways = {str(known): str(way) for known, way in words}
    return f"{code(name)}: {style.prose(ways[name])}" if name else ""


def _places(value: str, showers: Iterable[Shower], style: Style) -> Iterator[str]:
    """The cells that show a value."""
    for shower in showers:
        for cell, show in shower.cells.items():
            if value in show.of:
                yield _place_link(shower, cell, style)


def _raw_places(value: str, style: Style) -> Iterator[str]:
    """The fields of raw files that show a value."""
    for file, field in raw_showers().get(value, ()):
        yield style.link("raw", file, f"{file}: {field}")


def _place_link(shower: Shower, cell: str, style: Style) -> str:
    if shower.medium == "database":
        return style.link("column", f"{shower.name}.{cell.partition('@')[0]}")
    if shower.medium == "csv":
        return style.link("header", f"{shower.name}/{cell}")
    if shower.medium == "mindspore":
        return style.link("intermediate", shower.name, f"{shower.name}: {cell}")
    return style.link("layer", shower.name.partition("/")[0], f"{shower.name}: {cell}")


def recording_subjects() -> Iterator[Subject]:
    """The entities."""
    yield from things(
        "entity",
        recording_catalog().entities,
        "recording/{name}.md",
        entity_page,
        cells=lambda entity: {"values": str(len(entity.columns))},
    )
