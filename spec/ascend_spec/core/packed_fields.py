"""The fields of packed records one by one, with those inside of others and the bits of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import construct

from .packed import FieldFacts, bit_fields

_WRAPPERS = (construct.Renamed, construct.Adapter, construct.Const, construct.Default)
_KINDS = {"e": "f16", "f": "f32", "d": "f64"}


@dataclass(frozen=True, slots=True)
class PackedField:
    """A field: the place of its first byte (``4``), or of its bits in the number there; empty where
    that varies. ``name`` is dotted within others, ``kind`` its type (``u16``, ``8 bytes``).
    """

    offset: str
    name: str
    kind: str
    facts: FieldFacts | None


def packed_fields(declaration: Any) -> Iterator[PackedField]:
    """The fields of a record with their offsets, from its construct declaration."""
    yield from _rows(declaration, 0, "")


def _rows(declaration: Any, start: int | None, prefix: str) -> Iterator[PackedField]:
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


def _field(one: Any, at: int | None, name: str) -> Iterator[PackedField]:
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
    yield PackedField(offset, name, _kind(form, bits), known)
    if bits:
        for part in bits.subcons:
            if part.name:
                shift, mask = bit_fields(one)[part.name]
                width = mask.bit_length()
                where = f"bits {shift} to {shift + width - 1}" if width > 1 else f"bit {shift}"
                yield PackedField(
                    where, f"{name}.{part.name}", f"u{width}", getattr(part, "facts", None)
                )
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
