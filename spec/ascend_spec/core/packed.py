"""Packed records: construct declarations whose fields carry their facts, and fast bulk readers.

A declaration is written once, as a ``construct.Struct`` of fields from :func:`field`. From one of
fixed size :func:`dtype_of` derives a NumPy dtype for the same bytes:

=================================  ==================================================
integers and floats                the number in its byte order
``Enum``, ``Const``, ``Default``   the number that stands in the bytes
``Struct``                         a nested dtype
``Array``                          a sub-array
``Padding``, unnamed               a gap, which is written as zeros
``Padded``, ``Aligned``            the form inside with the bytes behind it as a gap
``Bytes``                          raw bytes (``V``)
``PaddedString``                   text without its trailing NULs (``S``), not decoded
``Union``, in ``Padded``           all its members at one offset
``BitStruct``                      one unsigned number, whose parts :func:`bit_fields` names;
                                   within ``ByteSwapped`` it is little-endian
=================================  ==================================================

Anything else, and whatever has no fixed size, is refused. The size is always that of construct.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import construct

from .bounds import Axis, Bounds
from .facts import Grade
from .shows import Show, show_of

if TYPE_CHECKING:
    import numpy as np

ClockName = Literal[
    "host-counter", "host-monotonic", "device-counter", "device-monotonic", "device-start", "unix"
]
"""Clocks of raw files (raw-prof 3.5)."""

_INTEGERS = frozenset("bBhHlLqQ")
_FLOATS = frozenset("efd")
_SAME_BYTES = (construct.Adapter, construct.Const, construct.Default, construct.Rebuild)
"""Forms around another that change the value, not the bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFacts(Bounds):
    """What is known of one field of a packed record, and from where.

    ``shows``: what of the recording the field shows; ``None`` where its own fields state it, and in
    media whose records are described by tables elsewhere. ``values``: what names the number, a set
    of values of its family or a dictionary of the profile. ``clock``: by which a time is taken,
    where the family does not say.
    """

    summary: str
    source: tuple[str, ...]
    grade: Grade
    shows: Show | None = None
    unit: str | None = None
    values: str | None = None
    clock: ClockName | None = None
    errata: tuple[str, ...] = ()


class Field(construct.Renamed):  # type: ignore[misc]  # construct has no types
    """A named field with its facts."""

    def __init__(self, form: construct.Construct, name: str, facts: FieldFacts) -> None:
        super().__init__(form, newname=name, newdocs=facts.summary)
        self.facts = facts


def field(
    name: str,
    form: construct.Construct,
    summary: str,
    *,
    source: tuple[str, ...],
    grade: Grade = "documented",
    shows: str | Mapping[str, Any] | None = None,
    **more: Any,
) -> Field:
    """A field in the spelling of the format; ``shows`` as the documents write it, ``more`` are
    further fields of :class:`FieldFacts`, of which the bounds are points of the axis of its family.
    """
    show = None if shows is None else show_of(shows)
    facts = FieldFacts(summary=summary, source=source, grade=grade, shows=show, **more)
    return Field(form, name, facts)


def record(size: int, *fields: construct.Construct) -> construct.Struct:
    """A record of the size that the documents state. Raises ``ValueError`` for another one."""
    made = construct.Struct(*fields)
    if made.sizeof() != size:
        raise ValueError(f"the fields have {made.sizeof()} bytes, not {size}")
    return made


def record_at(declaration: construct.Struct, axis: Axis, at: str) -> construct.Struct:
    """The record as it was at a state of its axis: the fields in force, later ones moved up."""
    return construct.Struct(
        *(
            one
            for one in declaration.subcons
            if not isinstance(one, Field) or axis.in_force(one.facts, at)
        )
    )


@cache
def struct_of(declaration: construct.Struct) -> struct.Struct:
    """A record of little-endian integers alone as a :class:`struct.Struct`, in order of its fields.

    Raises ``ValueError`` for any other.
    """
    formats = [_number(one).fmtstr for one in declaration.subcons]
    if any(order == ">" and letter not in "bB" for order, letter in formats):
        raise ValueError("fields of little-endian order are needed")
    made = struct.Struct("<" + "".join(letter for _, letter in formats))
    if made.size != declaration.sizeof():
        raise ValueError(f"{made.size} bytes derived for {declaration.sizeof()}")
    return made


@cache
def dtype_of(declaration: construct.Struct) -> np.dtype[np.void]:
    """The same bytes as a NumPy dtype with the declaration's names.

    Raises ``ValueError`` for a form that has no such counterpart.
    """
    return _dtype(declaration)


def bit_fields(form: construct.Construct) -> Mapping[str, tuple[int, int]]:
    """Shift and mask of each named part of a ``BitStruct``, to be applied to the number that
    :func:`dtype_of` reads: ``number >> shift & mask``.
    """
    bits = _bits(_plain(form))
    if bits is None:
        raise ValueError(f"{form!r} holds no bits")
    left = 8 * form.sizeof()
    found: dict[str, tuple[int, int]] = {}
    for one in bits.subcons:
        part = _plain(one)
        width = one.sizeof()
        left -= width
        if isinstance(part, construct.BitsInteger) and one.name:
            if part.signed or part.swapped:
                raise ValueError(f"{one.name} is no unsigned number")
            found[one.name] = left, (1 << width) - 1
    return found


def _dtype(form: construct.Construct) -> np.dtype[Any]:
    """A dtype of exactly the form's size."""
    import numpy as np

    try:
        made: np.dtype[Any] = np.dtype(_derived(_plain(form)))
        wanted: int = form.sizeof()
    except construct.SizeofError as problem:
        raise ValueError(f"{form!r} has no fixed size") from problem
    if made.itemsize != wanted:
        raise ValueError(f"{form!r}: {made.itemsize} bytes derived for {wanted}")
    return made


def _derived(form: construct.Construct) -> Any:
    """What NumPy makes a dtype of."""
    if isinstance(form, construct.FormatField):
        return _numpy_name(form)
    if isinstance(form, construct.Bytes):
        return f"V{form.sizeof()}"
    if isinstance(form, construct.Struct):
        return _record(_members(form), form.sizeof())
    if isinstance(form, construct.Array):
        inner = _dtype(form.subcon)
        base, shape = inner.subdtype or (inner, ())
        return base, (form.count, *shape)
    if isinstance(form, (construct.Padded, construct.FixedSized, construct.Aligned)):
        return _within(form)
    if _bits(form) is not None:
        order = "<" if _is_swapped(form) else ">"
        return f"{order}u{form.sizeof()}"
    raise ValueError(f"{form!r} has no fixed place for its bytes")


def _within(form: construct.Construct) -> Any:
    """A form of a size that is set from outside."""
    inner = _plain(form.subcon)
    size = form.sizeof()
    is_text = isinstance(inner, construct.NullStripped) and inner.pad == b"\0"
    if is_text and inner.subcon is construct.GreedyBytes:
        return f"S{size}"
    if isinstance(inner, construct.Union):
        return _record(((one, 0) for one in inner.subcons), size)
    if isinstance(inner, construct.Struct):
        return _record(_members(inner), size)
    if inner.sizeof() == size:
        return _derived(inner)
    raise ValueError(f"{form!r}: only a struct or a union can be smaller than its place")


def _members(declaration: construct.Struct) -> Iterator[tuple[construct.Construct, int]]:
    """The members that have bytes of their own, with their offsets."""
    offset = 0
    for one in declaration.subcons:
        inner = _plain(one)
        if not isinstance(inner, construct.Padded) or inner.subcon is not construct.Pass:
            yield one, offset
        elif inner.pattern != b"\0":
            raise ValueError(f"{one!r} is not filled with zeros")
        offset += one.sizeof()


def _record(members: Iterator[tuple[construct.Construct, int]], size: int) -> Any:
    names, formats, offsets = [], [], []
    for one, offset in members:
        if not one.name:
            raise ValueError(f"{one!r} has bytes but no name")
        names.append(one.name)
        formats.append(_dtype(one))
        offsets.append(offset)
    return {"names": names, "formats": formats, "offsets": offsets, "itemsize": size}


def _plain(form: construct.Construct) -> construct.Construct:
    """The form without names and without what changes values only."""
    while isinstance(form, (construct.Renamed, *_SAME_BYTES)):
        form = form.subcon
    return form


def _bits(form: construct.Construct) -> construct.Struct | None:
    """The parts of a ``BitStruct`` of 1, 2, 4 or 8 bytes; ``None`` for any other form."""
    if not isinstance(form, construct.Transformed):
        return None
    if _is_swapped(form):
        return _bits(_plain(form.subcon))
    inner = form.subcon
    is_bits = form.decodefunc is construct.bytes2bits and isinstance(inner, construct.Struct)
    return inner if is_bits and form.sizeof() in (1, 2, 4, 8) else None


def _is_swapped(form: construct.Transformed) -> bool:
    return form.decodefunc is construct.swapbytes


def _number(form: construct.Construct) -> construct.FormatField:
    """The integer inside a name or an enum. Raises ``ValueError`` for what is none."""
    form = _plain(form)
    if not isinstance(form, construct.FormatField) or form.fmtstr[1] not in _INTEGERS:
        raise ValueError(f"{form!r} is no integer")
    return form


def _numpy_name(form: construct.FormatField) -> str:
    """Not the letter of :mod:`struct`: a NumPy ``L`` is as wide as the machine's."""
    order, letter = form.fmtstr
    if letter in _FLOATS:
        return f"{order}f{form.length}"
    if letter not in _INTEGERS:
        raise ValueError(f"{form!r} is no number")
    return f"{order}{'u' if letter.isupper() else 'i'}{form.length}"
