"""Tensors of operators: records of five, and the texts that exporters make of them.

Texts have a part for each tensor, joined by semicolons: formats with their second part behind a
colon, types, and shapes with their sizes joined by commas, all of them in quotes (raw-prof 7.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .vocabulary import named, numbered

NOT_AVAILABLE = "N/A"
DIMENSIONS = 8
_OLDER = "FORMAT_"
"""How exporters until 2024 began the name of a format (real databases and files of text)."""
_FORMATS, _TYPES = "tensor_formats", "tensor_data_types"
_BITS = 8
_MASK = (1 << _BITS) - 1


class Tensor(NamedTuple):
    """kind: 0 an input, 1 an output. layout: format and, from bit 8 on, its second part."""

    kind: int
    layout: int
    data_type: int
    shape: tuple[int, ...]


class TensorTexts(NamedTuple):
    """What exporters show of the inputs or the outputs of an operator."""

    layouts: str = NOT_AVAILABLE
    data_types: str = NOT_AVAILABLE
    shapes: str = NOT_AVAILABLE


def tensors(kind: int, texts: TensorTexts) -> list[Tensor] | None:
    """The tensors that texts show; ``None`` where records cannot hold them."""
    if texts == TensorTexts():
        return []
    layouts, types = texts.layouts.split(";"), texts.data_types.split(";")
    shapes = texts.shapes.strip('"').split(";")
    if not len(layouts) == len(types) == len(shapes):
        return None
    found = [_tensor(kind, *one) for one in zip(layouts, types, shapes, strict=True)]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else None


def _tensor(kind: int, layout: str, data_type: str, shape: str) -> Tensor | None:
    name, _, part = layout.partition(":")
    number = _number(_FORMATS, name.removeprefix(_OLDER))
    kind_of_data = _number(_TYPES, data_type)
    sizes = tuple(int(one) for one in shape.split(",") if one.isdecimal())
    plain = len(sizes) == len([one for one in shape.split(",") if one])
    fits = plain and len(sizes) <= DIMENSIONS and all(0 < one < 1 << 32 for one in sizes)
    second = int(part) if part.isdecimal() else 0
    if number is None or kind_of_data is None or not fits or second > _MASK:
        return None
    return Tensor(kind, number + (second << _BITS), kind_of_data, sizes)


def todays_layouts(layouts: str) -> str:
    """The same formats as exporters of today call them."""
    return ";".join(one.removeprefix(_OLDER) for one in layouts.split(";"))


def texts_of(found: list[Tensor]) -> TensorTexts:
    """What exporters show of tensors of one kind; not available without any."""
    if not found:
        return TensorTexts()
    return TensorTexts(
        ";".join(_layout(one.layout) for one in found),
        ";".join(_name(_TYPES, one.data_type) for one in found),
        '"' + ";".join(",".join(map(str, one.shape)) for one in found) + '"',
    )


def _layout(number: int) -> str:
    second = number >> _BITS & _MASK
    name = _name(_FORMATS, number & _MASK)
    return f"{name}:{second}" if second else name


def _name(values: str, number: int) -> str:
    return named(values).get(number, str(number))


def _number(values: str, name: str) -> int | None:
    known = numbered(values).get(name)
    return int(name) if known is None and name.isdecimal() else known


def shape_of(sizes: list[int]) -> tuple[int, ...]:
    """The sizes before the first 0."""
    end = sizes.index(0) if 0 in sizes else len(sizes)
    return tuple(sizes[:end])


def field_of(
    found: list[Tensor], dtype: np.dtype[np.void]
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Tensors as they stand in records."""
    made = np.zeros(len(found), dtype)
    for at, one in enumerate(found):
        made["tensorType"][at] = one.kind
        made["format"][at] = one.layout
        made["dataType"][at] = one.data_type
        made["shape"][at, : len(one.shape)] = one.shape
    return made
