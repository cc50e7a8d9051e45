"""Cells of a table from the rows of its entity, as each column says what it shows.

Rows hold int64 arrays in the units of the entity, where NONE stands for no value; texts are numbers
of :attr:`Recording.texts`, names of enums are ids. An Arrow array is written as it is. A value
that shows nothing of an entity stands under the name of its column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.arrays import integers, is_text, picked, where
from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.db.columns import Values
from ascend_ref.forms import Cells as Shown
from ascend_ref.forms import shown
from ascend_spec import recording_catalog
from ascend_spec.core.units import factor
from ascend_spec.db.model import STRINGS, Column

from ..neutral import named, neutral, unknown_text
from .recording import Recording, Rows, none_as
from .strings import StringIds

ENUM = "ENUM_"
NOT_APPLICABLE = "INVALID_TYPE"
"""Name in the enums of what a row does not have."""


class Cells:
    """The cells of one table in one database."""

    def __init__(self, recording: Recording, strings: StringIds, entity: str, space: int) -> None:
        self._recording = recording
        self._strings = strings
        self._entity = entity
        self._space = space

    def of(self, column: Column, rows: Rows) -> Values:
        """The cells of a column; what the rows do not have is the nothing of the column."""
        values = self._shown(column, rows)
        if values is None:
            values = self._nothing(column, len(next(iter(rows.values()))))
        return self._stored(column, values) if isinstance(values, np.ndarray) else values

    def _shown(self, column: Column, rows: Rows) -> Values | None:
        """The values in the form that the column shows; ``None`` without them."""
        show = column.shows
        if show.form == "nothing":
            return rows.get(column.name)
        if show.form == "plain":
            given = self._given(show.of[0], rows)
            if given is not None:
                return given
        cells = shown(show, lambda name: self._cells(name, rows))
        if cells is None or not is_text(cells):
            return cells if cells is None or cells.type == pa.float64() else integers(cells, NONE)
        return picked(cells, self._recording.texts.numbers(cells.dictionary.to_pylist()), NONE)

    def _given(self, name: str, rows: Rows) -> Values | None:
        entity, _, column = name.partition(".")
        return rows.get(column) if entity == self._entity else None

    def _cells(self, name: str, rows: Rows) -> Shown | None:
        """A column of the rows as forms take it."""
        given = self._given(name, rows)
        if given is None:
            return None
        entity, _, own = name.partition(".")
        column = recording_catalog().entities[entity].columns[own]
        if not isinstance(given, np.ndarray):
            return Shown(given, column.unit)
        if not column.is_text or column.enum:
            known = given != NONE if given.dtype == np.int64 else np.full(len(given), True)
            return Shown(where(known, given), column.unit)
        numbers, place = np.unique(given, return_inverse=True)
        texts = self._recording.texts.all
        written = [None if one == NONE else texts[one] for one in numbers.tolist()]
        return Shown(pa.array(written, pa.string()).take(pa.array(place)), column.unit)

    def _nothing(self, column: Column, count: int) -> Values:
        """What the spec has for "no value"."""
        found = neutral(column, self._members(column))
        if found.kind == "null":
            return pa.nulls(count, pa.int64())
        if found.kind == "number":
            return np.full(count, found.number)
        if STRINGS in column.references:
            return self._recording.text(found.text, count)
        return pa.array([found.text] * count, pa.large_string())

    def _members(self, column: Column) -> Mapping[int, str]:
        enum = _enum(column)
        return self._recording.members(enum) if enum else {}

    def _stored(self, column: Column, values: npt.NDArray[Any]) -> Values:
        """Numbers as the column stores them: text ids, decimal text, other units, sentinels."""
        whole = values.dtype == np.int64
        if STRINGS in column.references:
            values = self._strings.ids(self._known(column, values), self._space)
        elif column.storage == ("text",):
            return pa.array(values).cast(pa.large_string())
        elif whole and (units := factor(column.unit, _unit(column)) or 1) > 1:
            return values / units
        return self._without_none(column, values) if whole else values

    def _without_none(self, column: Column, values: Integers) -> Values:
        """NULL or the sentinel of the column in place of NONE, where it has one."""
        enum = _enum(column)
        if NONE in column.none or not (column.none or column.nullable or enum):
            return values
        absent = values == NONE
        if not absent.any():
            return values
        if column.nullable is not None:
            return pa.array(values, pa.int64(), mask=absent)
        members = self._members(column)
        sentinel = column.none[0] if column.none else named(members, NOT_APPLICABLE)
        return np.where(absent, sentinel, values)

    def _known(self, column: Column, texts: Integers) -> Integers:
        """Texts without NONE where the column has neither a sentinel nor NULL for it."""
        if column.none or column.nullable is not None or not (texts == NONE).any():
            return texts
        return none_as(texts, self._recording.texts.number(unknown_text(column)))


def _enum(column: Column) -> str | None:
    enum = next((one for one in column.references if one.startswith(ENUM)), None)
    return enum and enum.partition(".")[0]


def _unit(column: Column) -> str | None:
    """The unit of what a column shows."""
    if not column.shows.of:
        return None
    entity, _, own = column.shows.of[0].partition(".")
    return recording_catalog().entities[entity].columns[own].unit
