"""Arrow columns as NumPy arrays, and columns of texts, each distinct text looked at once.

Nothing here uses ``to_numpy`` or ``pa.array``: where pandas is installed they import it. That takes
longer than many a check and 40 MB of memory, and loses a Ctrl-C that comes meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.capture.batch import Integers, Reals

Column: TypeAlias = "pa.Array | pa.ChunkedArray"
Mask: TypeAlias = npt.NDArray[np.bool_]
Piece: TypeAlias = "str | pa.Array | pa.Scalar"
"""A text that is the same in every row, or a column of texts."""


def arrow(
    values: npt.NDArray[Any] | Sequence[Any],
    kind: pa.DataType | None = None,
    mask: Mask | None = None,
) -> pa.Array:
    """As ``pa.array`` makes of NumPy's numbers and truth values, or of texts and ``None``.

    ``kind``: of texts ``pa.string()``, of a list of numbers their type. ``mask``: what is NULL.
    Raises ``TypeError`` for other values.
    """
    if kind == pa.string():
        return _texts([None if one is None else one.encode() for one in values])
    array = np.ascontiguousarray(values, kind and kind.to_pandas_dtype())
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{array.dtype}: expected numbers or truth values")
    bits = np.packbits(array, bitorder="little") if array.dtype == np.bool_ else array
    none = None if mask is None else pa.py_buffer(np.packbits(~mask, bitorder="little"))
    own = pa.from_numpy_dtype(array.dtype)
    return pa.Array.from_buffers(own, len(array), [none, pa.py_buffer(bits)])


def scalar(value: float | str, kind: pa.DataType) -> pa.Scalar:
    """One value, as :func:`arrow` makes it."""
    return arrow([value], kind)[0]


def _texts(texts: Sequence[bytes | None]) -> pa.StringArray:
    ends = np.cumsum([0, *(len(one or b"") for one in texts)], dtype=np.int64)
    none = np.array([one is None for one in texts], np.bool_)
    known = pa.py_buffer(np.packbits(~none, bitorder="little")) if none.any() else None
    buffers = [known, pa.py_buffer(ends), pa.py_buffer(b"".join(one or b"" for one in texts))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers).cast(pa.string())


def integers(column: Column, none: int = -1) -> Integers:
    """Whole numbers, with ``none`` for NULL; a view where the column holds 64-bit integers."""
    return _values(column, pa.int64(), np.int64, none)


def reals(column: Column, none: float = 0.0) -> Reals:
    """Floats, with ``none`` for NULL."""
    return _values(column, pa.float64(), np.float64, none)


def _values(column: Column, kind: pa.DataType, dtype: Any, none: float) -> npt.NDArray[Any]:
    array = one_piece(column)
    array = array if array.type == kind else array.cast(kind, safe=False)
    filled = array.fill_null(scalar(none, kind)) if array.null_count else array
    if not len(filled):
        return np.empty(0, dtype)
    size = np.dtype(dtype).itemsize
    return np.frombuffer(filled.buffers()[1], dtype, len(filled), size * filled.offset)


def one_piece(column: Column) -> pa.Array:
    """The column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)  # putting chunks together copies even a single one
    if not column.num_chunks:
        return pa.nulls(0, column.type)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def present(column: Column) -> Mask:
    """Where a column is not NULL."""
    array = one_piece(column)
    if not array.null_count:
        return np.ones(len(array), np.bool_)
    return flags(array.is_valid())


def flags(array: pa.BooleanArray) -> Mask:
    """Truth values; false for NULL."""
    return integers(array.cast(pa.int64()), 0).astype(np.bool_)


def where(condition: Mask, values: npt.NDArray[Any]) -> pa.Array:
    """The values, NULL where the condition does not hold."""
    return arrow(values, mask=None if condition.all() else ~condition)


def known_reals(values: Reals) -> pa.Array:
    """Floats as a column, NULL for NaN."""
    return where(~np.isnan(values), values)


def is_text(array: pa.Array) -> bool:
    """Whether a column holds texts by dictionary."""
    return bool(pa.types.is_dictionary(array.type))


def dictionary(texts: Column) -> pa.DictionaryArray:
    """A text column as one with a dictionary."""
    array = one_piece(texts)
    return array if is_text(array) else array.dictionary_encode()


def addresses(array: pa.Array) -> tuple[int, ...]:
    """Where the values of an array are: equal for views of the same memory."""
    places = (0 if one is None else one.address for one in array.buffers())
    return len(array), array.offset, *places


def chosen(texts: Sequence[str] | pa.Array, places: npt.NDArray[Any]) -> pa.DictionaryArray:
    """For each row one of few texts; NULL where the place is negative."""
    none = places < 0
    indices = arrow(places.astype(np.int32), mask=none if none.any() else None)
    known = texts if isinstance(texts, pa.Array) else arrow(texts, pa.string())
    return pa.DictionaryArray.from_arrays(indices, known)


def same(text: str, rows: int) -> pa.DictionaryArray:
    """One text in every row."""
    return chosen([text], np.zeros(rows, np.int32))


def text_places(texts: pa.DictionaryArray) -> npt.NDArray[np.int32]:
    """Where the texts of the rows stand in the dictionary, -1 for NULL."""
    places: npt.NDArray[np.int32] = _values(texts.indices, pa.int32(), np.int32, -1)
    return places


def picked(texts: pa.DictionaryArray, values: npt.NDArray[Any], none: Any) -> npt.NDArray[Any]:
    """For each row what its text stands for; ``values`` by place in the dictionary."""
    extended: npt.NDArray[Any] = np.append(values, np.array([none], values.dtype))
    return extended[text_places(texts)]


def text_numbers(texts: pa.DictionaryArray) -> Integers:
    """Numbers of the texts, equal for equal ones, -1 for NULL.

    A dictionary may hold a text twice, as STRING_IDS does in real files.
    """
    return picked(texts, integers(texts.dictionary.dictionary_encode().indices), -1)


def is_one_of(texts: Column, wanted: Iterable[str]) -> Mask:
    """Where a text column holds one of the wanted texts."""
    array = dictionary(texts)
    known = pc.is_in(array.dictionary, value_set=arrow(list(wanted), pa.string()))
    return picked(array, flags(known), False)


def begins_with(texts: pa.DictionaryArray, beginning: str) -> Mask:
    """Where a text has this beginning."""
    return picked(texts, flags(pc.starts_with(texts.dictionary, beginning)), False)


def ends_with(texts: pa.DictionaryArray, ending: str) -> Mask:
    """Where a text has this ending."""
    return picked(texts, flags(pc.ends_with(texts.dictionary, ending)), False)


def renamed(texts: Column, names: Mapping[str, str]) -> pa.DictionaryArray:
    """A text column with some texts replaced, in its dictionary alone."""
    array = dictionary(texts)
    replaced = [names.get(text, text) for text in array.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(array.indices, arrow(replaced, pa.string()))


def first_known(columns: Sequence[pa.Array], nothing: str | None = None) -> pa.Array:
    """In each row the first value that is not NULL; texts by dictionary, whose text ``nothing``
    counts as none.
    """
    if not all(map(is_text, columns)):
        plain = [one.dictionary_decode() if is_text(one) else one for one in columns]
        return pc.coalesce(*plain)
    places = np.full(len(columns[0]), -1, np.int32)
    before = 0
    for texts in columns:
        own = text_places(texts)
        says = own >= 0 if nothing is None else (own >= 0) & ~is_one_of(texts, [nothing])
        places = np.where((places < 0) & says, own + np.int32(before), places)
        before += len(texts.dictionary)
    return chosen(pa.concat_arrays([texts.dictionary for texts in columns]), places)


def joined(*pieces: Piece, null_is_nothing: bool = False) -> pa.Array:
    """The pieces of each row as one text; NULL where one of them is, unless it counts as no text.

    Arrow looks at every Python text for a date, and each time tries to import dateutil, which takes
    longer than many a join; here the type of a text is given.
    """
    columns = [scalar(one, pa.string()) if isinstance(one, str) else one for one in pieces]
    handling = "replace" if null_is_nothing else "emit_null"
    options = pc.JoinOptions(null_handling=handling, null_replacement="")
    return pc.binary_join_element_wise(*columns, scalar("", pa.string()), options=options)
