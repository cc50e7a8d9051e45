"""The fields of packed records as Markdown tables, with those inside of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import construct

from ascend_ref.markdown import Style, code, sentences, table
from ascend_spec import catalog, mindspore_catalog, raw_catalog
from ascend_spec.core.packed import FieldFacts, bit_fields
from ascend_spec.core.shows import Show

from .pages import in_force
from .recording_pages import shown_text

_WRAPPERS = (construct.Renamed, construct.Adapter, construct.Const, construct.Default)
_KINDS = {"e": "f16", "f": "f32", "d": "f64"}


@dataclass(frozen=True, slots=True)
class _Row:
    """A field: the place of its first byte, or of its bits in the number there."""

    offset: str
    name: str
    kind: str
    facts: FieldFacts | None


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
        for row in _rows(declaration, 0, "")
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


def _rows(declaration: Any, start: int | None, prefix: str) -> Iterator[_Row]:
    """The fields of a struct, or of a union, whose members all begin at the same place."""
    inner = _plain(declaration)
    at = start
    for one in inner.subcons:
        if one.name:
            yield from _field(one, at, f"{prefix}{one.name}")
        if isinstance(inner, construct.Union):
            continue
        size = _size(one)
        at = None if size is None or at is None else at + size


def _field(one: Any, at: int | None, name: str) -> Iterator[_Row]:
    form = _plain(one)
    offset = "" if at is None else str(at)
    known: FieldFacts | None = getattr(one, "facts", None)
    if isinstance(form, construct.Array):
        count = form.count if isinstance(form.count, int) else ""
        name = f"{name}[{count}]"
        form = _plain(form.subcon)
    elif isinstance(form, construct.GreedyRange):
        name = f"{name}[]"
        form = _plain(form.subcon)
    bits = _bits(one)
    yield _Row(offset, name, _kind(form, bits), known)
    if bits:
        for part in bits.subcons:
            if part.name:
                shift, mask = bit_fields(one)[part.name]
                width = mask.bit_length()
                where = f"bits {shift} to {shift + width - 1}" if width > 1 else f"bit {shift}"
                yield _Row(where, f"{name}.{part.name}", f"u{width}", getattr(part, "facts", None))
    elif isinstance(form, construct.Struct | construct.Union):
        yield from _rows(form, at, f"{name}.")


def _kind(form: Any, bits: Any) -> str:
    if bits:
        return "bits"
    if isinstance(form, construct.FormatField):
        letter = form.fmtstr[1]
        return _KINDS.get(letter) or f"{'u' if letter.isupper() else 'i'}{8 * form.length}"
    if isinstance(form, construct.Struct | construct.Union):
        return "struct" if isinstance(form, construct.Struct) else "union"
    size = _size(form)
    return f"{size} bytes" if size is not None else "bytes"


def _bits(form: Any) -> Any:
    """The struct of the bits of a number; ``None`` for any other form."""
    inner = _plain(form)
    while isinstance(inner, construct.Transformed):
        inner = _plain(inner.subcon)
        if isinstance(inner, construct.Struct):
            return inner
    return None


def _plain(form: Any) -> Any:
    """The form without names, fillers and what changes values only."""
    while isinstance(form, (*_WRAPPERS, construct.Padded, construct.FixedSized)):
        form = form.subcon
    return form


def _size(form: Any) -> int | None:
    try:
        size: int = form.sizeof()
    except construct.SizeofError:
        return None
    return size
