"""The columns of a recording's tables, as the spec has them, and the texts of their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import integers
from ascend_ref.arrays import present as held
from ascend_ref.capture.batch import Integers
from ascend_ref.db.introspect import fold
from ascend_spec import catalog, per_spec
from ascend_spec.db.model import Carrier, Column, Table

TEXT: Final = pa.dictionary(pa.int32(), pa.string())
NUMBERS_AS_TEXT: Final = frozenset({"timestampText"})
"""Value types that the database stores as decimal text; a recording holds the number."""

CARRIERS: Final[Mapping[str, tuple[Carrier, ...]]] = {
    "pytorch": ("pytorch", "analysis"),
    "msprof": ("msprof",),
    # Its own database lacks what its text files show of the framework.
    "mindspore": ("pytorch", "analysis"),
}
"""The databases of an output. Tables that stand in both are alike in all columns."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shape:
    """A table at the newest revision. references: of each text column, STRINGS or an enum."""

    name: str
    columns: Mapping[str, Column]
    schema: pa.Schema
    references: Mapping[str, str]

    def empty(self) -> pa.Table:
        """The table without rows."""
        return self.schema.empty_table()


@per_spec
def shape_of(output: str, name: str) -> Shape:
    """The shape of a table. Raises ``KeyError`` naming a table that no database has."""
    newest = catalog().revisions[-1].id
    for carrier in CARRIERS[output]:
        tables = catalog().at(newest, carrier).tables
        if name in tables:
            return _shape(name, tables[name].columns)
    raise KeyError(f"unknown table {name!r} of the output {output}")


def sources(shape: Shape, own: Table | None, present: Iterable[str]) -> Mapping[str, str]:
    """The columns that are present, by the newest names of those that stand in them.

    own: the table at the revision of what is present. A column that once had the name of a newer
    one is known by its revision (blockDim).
    """
    spelling = {fold(name): name for name in present}
    found: dict[str, str] = {}
    for name, column in shape.columns.items():
        same = own is None or name not in own.columns or own.columns[name].type == column.type
        for spelled in (name if same else None, column.renamed_from):
            if spelled and fold(spelled) in spelling and name not in found:
                found[name] = spelling[fold(spelled)]
    return found


def _shape(name: str, columns: Mapping[str, Column]) -> Shape:
    references = {
        column.name: reference
        for column in columns.values()
        if (reference := column.text_reference) is not None
    }
    fields = [
        pa.field(column.name, TEXT if column.name in references else _arrow_type(column))
        for column in columns.values()
    ]
    return Shape(name, columns, pa.schema(fields), references)


def _arrow_type(column: Column) -> pa.DataType:
    if column.type in NUMBERS_AS_TEXT:
        return pa.int64()
    if "text" in column.storage:
        return TEXT
    return pa.float64() if "real" in column.storage else pa.int64()


class Dictionary:
    """The texts of ids. An id without text stands for itself, as decimal text: nothing is lost."""

    def __init__(self, ids: Integers, texts: Sequence[str]) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids = ids[order]
        self._texts = [texts[place] for place in order.tolist()]

    @classmethod
    def of(cls, members: Mapping[int, str]) -> Dictionary:
        """The members of an enum."""
        return cls(np.array(list(members), np.int64), list(members.values()))

    def column(self, ids: Integers, present: Mask | None = None) -> pa.DictionaryArray:
        """A text column; NULL where not ``present``. Its dictionary holds what occurs, by id."""
        found, number = _distinct(ids if present is None else ids[present])
        place = np.searchsorted(self._ids, found)
        known = place < len(self._ids)
        known[known] = self._ids[place[known]] == found[known]
        # Those without text come behind all others.
        order = np.lexsort((found, ~known))
        texts = [
            self._texts[place[one]] if known[one] else str(found[one]) for one in order.tolist()
        ]
        turn = np.empty(len(order), np.int32)
        turn[order] = np.arange(len(order), dtype=np.int32)
        indices = np.zeros(len(ids), np.int32)
        indices[slice(None) if present is None else present] = turn[number]
        return pa.DictionaryArray.from_arrays(
            pa.array(indices, pa.int32(), mask=None if present is None else ~present),
            pa.array(texts, pa.string()),
        )


def _distinct(ids: Integers) -> tuple[Integers, Integers]:
    """The ids that occur, and the place among them of that of each row."""
    low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
    if high - low < len(ids):
        # Close to each other they need no hashes.
        offsets = ids - low
        occurs = np.zeros(high - low + 1, np.bool_)
        occurs[offsets] = True
        return np.flatnonzero(occurs) + low, (np.cumsum(occurs) - 1)[offsets]
    encoded = pa.array(ids).dictionary_encode()
    return integers(encoded.dictionary), integers(encoded.indices)


def shaped(
    shape: Shape,
    schema: pa.Schema,
    rows: int,
    present: Mapping[str, pa.Array],
    dictionary: Callable[[str], Dictionary],
) -> Iterator[pa.Array]:
    """Columns of a table, from those that are present by their newest names; else NULL.

    schema: of the wanted columns. dictionary: the texts of STRINGS or of an enum. Columns with such
    a reference hold ids, or the texts themselves.
    """
    for field in schema:
        values = present.get(field.name)
        reference = shape.references.get(field.name)
        if values is None:
            yield pa.nulls(rows, field.type)
        elif reference is not None and pa.types.is_integer(values.type):
            known = held(values) if values.null_count else None
            yield dictionary(reference).column(integers(values, 0), known)
        elif field.type == TEXT:
            yield values.cast(pa.string()).dictionary_encode().cast(TEXT)
        else:
            yield values.cast(field.type)
