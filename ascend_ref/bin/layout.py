"""From a construct declaration of fixed size to what reads many of them at once."""

from __future__ import annotations

import struct
from functools import cache

import construct
import numpy as np


@cache
def struct_of(declaration: construct.Struct) -> struct.Struct:
    """One record as a :class:`struct.Struct`, its values in the order of the fields."""
    formats = [_integer(field).fmtstr for field in declaration.subcons]
    orders = {text[0] for text in formats if text[1] not in "bB"}
    if orders != {"<"}:
        raise ValueError("fields of little-endian order are needed")
    return struct.Struct("<" + "".join(text[1:] for text in formats))


@cache
def dtype_of(declaration: construct.Struct) -> np.dtype[np.void]:
    """The same bytes as a packed NumPy dtype with the declaration's field names."""
    return np.dtype([(field.name, _numpy_name(_integer(field))) for field in declaration.subcons])


def _numpy_name(field: construct.FormatField) -> str:
    """Not the letter of :mod:`struct`: a NumPy ``L`` is as wide as the machine's."""
    order, letter = field.fmtstr
    return f"{order}{'u' if letter.isupper() else 'i'}{field.length}"


def _integer(field: construct.Construct) -> construct.FormatField:
    """The number inside a name or an enum. Raises ``ValueError`` for what is none."""
    while isinstance(field, construct.Subconstruct):
        field = field.subcon
    if not isinstance(field, construct.FormatField) or field.fmtstr[1] not in "bBhHlLqQ":
        raise ValueError(f"{field!r} is no integer")
    return field
