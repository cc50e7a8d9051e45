"""The fields of packed records as Markdown tables, with those inside of others."""

from __future__ import annotations

from typing import Any

from ascend_ref.markdown import Style, code, sentences, table
from ascend_spec import catalog, mindspore_catalog, raw_catalog
from ascend_spec.core.packed import FieldFacts
from ascend_spec.core.packed_fields import packed_fields
from ascend_spec.core.shows import Show

from .pages import in_force
from .recording_pages import shown_text


def record_table(declaration: Any, style: Style) -> str:
    """The fields of a record with their offsets, from its construct declaration."""
    rows = (
        (
            row.offset,
            code(row.name),
            row.kind,
            (row.facts and row.facts.unit) or "",
            _meaning(row.facts, style) if row.facts else "",
            shows(row.facts.shows if row.facts else None, style),
        )
        for row in packed_fields(declaration)
    )
    return table(("offset", "field", "type", "unit", "meaning", "shows"), rows)


def shows(show: Show | None, style: Style) -> str:
    """What a field or a part of a line shows, or in a word why it shows nothing."""
    if show is None:
        return ""
    return f"nothing ({show.reason})" if show.reason else shown_text(show, style)


def _meaning(facts: FieldFacts, style: Style) -> str:
    return sentences(
        style.prose(facts.summary),
        _named_by(facts.values, style) if facts.values else "",
        in_force(facts.since, facts.until),
        style.see(facts.errata),
    )


def _named_by(values: str, style: Style) -> str:
    """Where the number is named: a set of values, an enum table, or a dictionary of the profile."""
    if values in raw_catalog().vocabularies:
        return f"Values: {style.link('raw-values', values)}"
    if values in mindspore_catalog().vocabularies:
        return f"Values: {style.link('mindspore-values', values)}"
    if values in catalog().enums:
        return f"Values: {style.link('enum', values)}"
    return f"Named in {style.link('raw', values)}"
