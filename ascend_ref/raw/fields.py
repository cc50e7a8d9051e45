"""Fields of records by their names, and the parts of the bits of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import construct
import numpy as np
import numpy.typing as npt

from ascend_spec.core.packed import ClockName, Field, bit_fields


def numbers(
    declaration: construct.Struct, name: str, rows: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """A field of records, or a part of the bits of one; ``KeyError`` for an unknown name.

    What exceeds 63 bits is negative.
    """
    field, bits = _place(declaration, name)
    column: npt.NDArray[np.int64] = rows[field].astype(np.int64)
    return column if bits is None else column >> bits[0] & bits[1]


def put(
    declaration: construct.Struct,
    rows: npt.NDArray[Any],
    name: str,
    values: npt.NDArray[Any] | float,
) -> None:
    """Write a field of records, or a part of the bits of one, whose other parts stay.

    Of numbers that do not fit the lowest bits are written, as collectors do. Raises ``KeyError``
    for an unknown name.
    """
    field, bits = _place(declaration, name)
    target = rows[field]
    if bits is None:
        target[...] = np.asarray(values).astype(target.dtype, casting="unsafe")
        return
    shift, mask = bits
    kind = np.dtype(f"u{target.dtype.itemsize}").type
    own = (np.asarray(values, np.int64).astype(kind) & kind(mask)) << kind(shift)
    target[...] = target.astype(kind) & ~kind(mask << shift) | own


def split_numbers(
    declaration: construct.Struct, names: Sequence[str], rows: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """Numbers of which each part has some bits, the lowest ones first."""
    found, done = np.zeros(len(rows), np.int64), 0
    for name in names:
        found |= numbers(declaration, name, rows) << done
        done += _width(declaration, name)
    return found


def put_split(
    declaration: construct.Struct,
    rows: npt.NDArray[Any],
    names: Sequence[str],
    values: npt.NDArray[np.int64],
) -> None:
    """Write numbers as :func:`split_numbers` reads them."""
    for name in names:
        put(declaration, rows, name, values)
        values = values >> _width(declaration, name)


def _width(declaration: construct.Struct, name: str) -> int:
    _, bits = _place(declaration, name)
    return 64 if bits is None else bits[1].bit_length()


def time_field(declaration: construct.Struct) -> tuple[str, ClockName]:
    """The first field that is a time, and the clock that it names; ``KeyError`` without one."""
    for field in declaration.subcons:
        if isinstance(field, Field) and field.facts.clock is not None:
            return str(field.name), field.facts.clock
    raise KeyError("no time by a clock")


def field_showing(declaration: construct.Struct, cell: str) -> Field:
    """The field, or part of the bits of one, that shows a column of the recording; ``KeyError``
    where none does.
    """
    for one in _inner(declaration):
        if isinstance(one, Field) and one.facts.shows is not None and cell in one.facts.shows.of:
            return one
    raise KeyError(cell)


def _inner(form: construct.Construct) -> Iterator[construct.Construct]:
    """A form and all that it is made of."""
    yield form
    parts = (*getattr(form, "subcons", ()), *filter(None, [getattr(form, "subcon", None)]))
    for one in parts:
        yield from _inner(one)


def bits_of(field: construct.Construct) -> Mapping[str, tuple[int, int]]:
    """Shift and mask of the parts of a field of bits; empty for any other."""
    try:
        return bit_fields(field)
    except ValueError:
        return {}


@cache
def _place(declaration: construct.Struct, name: str) -> tuple[str, tuple[int, int] | None]:
    """The field that holds a name, which is its own before it is that of a part of one."""
    for field in declaration.subcons:
        if field.name == name and name not in bits_of(field):
            return name, None
    for field in declaration.subcons:
        parts = bits_of(field)
        if name in parts:
            return field.name, parts[name]
    raise KeyError(name)


def whole(column: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """A column of numbers as integers; what exceeds 63 bits is negative."""
    return column.astype(np.int64)


def in_order(column: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Unsigned numbers as signed ones in the same order."""
    return (column.astype(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)


def joined(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Records of one size, one part after the other, at least one part.

    NumPy's own function leaves padding out, in which records of another kind have their fields.
    """
    if len(parts) == 1:
        return parts[0]
    found: npt.NDArray[Any] = np.concatenate([opaque(one) for one in parts]).view(parts[0].dtype)
    return found


def taken(rows: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The records at these places, with their padding; see :func:`joined`."""
    found: npt.NDArray[Any] = opaque(rows)[places].view(rows.dtype)
    return found


def opaque(rows: npt.NDArray[Any]) -> npt.NDArray[np.void]:
    """Records without their fields, of which NumPy copies every byte; it shares their memory."""
    return rows.view(f"V{rows.dtype.itemsize}")
