"""From columns as callers have them to Arrow arrays that SQLite can bind; nothing is rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ascend_ref.spill import Spill

Values: TypeAlias = "np.ndarray[Any, Any] | Sequence[Any] | pa.Array | pa.ChunkedArray"
"""A column: a NumPy array, a list of int, float, str, bytes and ``None``, or an Arrow array."""

ColumnTables: TypeAlias = Mapping[str, Mapping[str, Values]]
"""A database in memory: table to column to values, all columns of a table equally long."""

_ARROW_TYPES: Mapping[type, Any] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.large_string(),
    bytes: pa.large_binary(),
}
_INT64 = (-(1 << 63), (1 << 63) - 1)


@dataclass(frozen=True, slots=True)
class BoundColumn:
    """A column split by storage class: one Arrow array, or several that never overlap.

    Integers and floats cannot share an Arrow array without rounding, so each class has its own
    array, NULL wherever another class holds the value; ``coalesce`` of them is the column.
    """

    parts: tuple[Any, ...]

    @property
    def integers(self) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        """The values, without a copy, if all of them are integers and none is NULL."""
        (first, *others) = self.parts
        if others or first.null_count or not pa.types.is_int64(first.type):
            return None
        return np.asarray(first)

    def take(self, order: np.ndarray[Any, Any]) -> BoundColumn:
        """The same column with its rows in another order."""
        return BoundColumn(tuple(part.take(pa.array(order)) for part in self.parts))


def bind(values: Values, place: str, spill: Spill | None = None) -> BoundColumn:
    """Arrow arrays of a column; ``place`` names it in errors, ``spill`` may hold it.

    Unsigned 64-bit arrays are reinterpreted as signed, as the exporters bind them. Raises
    ``ValueError`` for NaN (SQLite would store NULL), for integers beyond 64 bits and for values
    that SQLite has no storage class for.
    """
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(f"{place}: {values.ndim} dimensions; expected one")
        if values.dtype.kind == "O":
            return _bind_objects(values.tolist(), place)
        return BoundColumn((_bind_array(_arrow(values, place), place, spill),))
    if isinstance(values, pa.ChunkedArray):
        return BoundColumn((_bind_array(values.combine_chunks(), place),))
    if isinstance(values, pa.Array):
        return BoundColumn((_bind_array(values, place, spill),))
    return _bind_objects(values, place)


def _arrow(values: np.ndarray[Any, Any], place: str) -> Any:
    if values.dtype.kind not in "biufUS":
        raise ValueError(f"{place}: dtype {values.dtype}; expected integers, floats, str or object")
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return pa.array(native.astype(str) if values.dtype.kind == "U" else native)


def _bind_array(array: Any, place: str, spill: Spill | None = None) -> Any:
    """An Arrow array as int64, double, string or binary."""
    kind = array.type
    types = pa.types
    if types.is_dictionary(kind):
        return _bind_array(array.dictionary_decode(), place)
    if types.is_uint64(kind):
        return array.view(pa.int64())
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind):
        return array.cast(pa.int64())
    if types.is_floating(kind):
        doubles = array.cast(pa.float64())
        for batch in (spill or Spill()).batches(len(doubles)):
            if np.isnan(np.asarray(doubles[batch].drop_null())).any():
                raise ValueError(f"{place}: holds NaN; expected None for a missing value")
        return doubles
    if types.is_string(kind) or types.is_large_string(kind):
        return array
    if types.is_binary(kind) or types.is_large_binary(kind):
        return array
    raise ValueError(f"{place}: Arrow type {kind}; expected integers, floats, strings or binary")


def _bind_objects(values: Sequence[Any], place: str) -> BoundColumn:
    classes = set(map(type, values)) - {type(None)}
    if not classes <= _ARROW_TYPES.keys():
        values = [_plain(value, place) for value in values]
        classes = set(map(type, values)) - {type(None)}
    if int in classes:
        _require_int64(values, place)
    parts = [
        _bind_array(pa.array(_only(values, kind, classes), _ARROW_TYPES[kind]), place)
        for kind in _ARROW_TYPES
        if kind in classes
    ]
    return BoundColumn(tuple(parts) or (pa.nulls(len(values), pa.int64()),))


def _only(values: Sequence[Any], kind: type, classes: set[type]) -> Sequence[Any]:
    if len(classes) == 1:
        return values
    return [value if type(value) is kind else None for value in values]


def _plain(value: object, place: str) -> object:
    """The built-in value behind a NumPy scalar or a subclass such as ``bool`` or an ``IntEnum``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return None
    for kind in _ARROW_TYPES:
        if isinstance(value, kind):
            return kind(value)
    raise ValueError(
        f"{place}: holds a {type(value).__name__}; expected int, float, str, bytes or None"
    )


def _require_int64(values: Sequence[Any], place: str) -> None:
    low, high = _INT64
    for value in values:
        if type(value) is int and not low <= value <= high:
            raise ValueError(f"{place}: holds {value}; expected a signed 64-bit integer")
