"""Cells of a table from the rows of its entity, as each column says what it shows.

Rows hold int64 arrays in the units of the entity, where NONE stands for no value; texts are numbers
of :attr:`Recording.texts`, names of enums are ids. An Arrow array is written as it is. What shows
nothing of an entity stands under the name of its column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.db.columns import Values
from ascend_spec.core.shows import Show
from ascend_spec.db.model import Column

from .recording import NOT_COLLECTED, Recording, Rows, none_as
from .strings import StringIds

STRINGS = "STRING_IDS.id"
ENUM = "ENUM_"
NOT_APPLICABLE = "INVALID_TYPE"
"""Name in the enums of what a row does not have."""
NS_IN = {"us": 1e3, "ms": 1e6}


class Cells:
    """The cells of one table in one database."""

    def __init__(self, recording: Recording, strings: StringIds, entity: str, space: int) -> None:
        self._recording = recording
        self._strings = strings
        self._entity = entity
        self._space = space

    def of(self, column: Column, rows: Rows) -> Values:
        """The cells of a column; what the rows do not have is the nothing of the column."""
        count = len(next(iter(rows.values())))
        if column.shows.form == "nothing":
            values = rows.get(column.name)
        else:
            given = [self._value(rows, name) for name in column.shows.of]
            values = self._shown(column, given)
        if values is None:
            values = self._nothing(column, count)
        if not isinstance(values, np.ndarray):
            return values
        return self._stored(column, values)

    def _value(self, rows: Rows, name: str) -> Values | None:
        entity, _, column = name.partition(".")
        return rows.get(column) if entity == self._entity else None

    def _shown(self, column: Column, given: Sequence[Values | None]) -> Values | None:
        """The values in the form that the column shows; ``None`` without them."""
        show = column.shows
        if show.form == "first_of":
            return self._first([one for one in given if isinstance(one, np.ndarray)])
        if not given or any(one is None for one in given):
            return None
        if show.form == "plain":
            return given[0]
        numbers = [one for one in given if isinstance(one, np.ndarray)]
        if len(numbers) < len(given):
            return None
        if show.form == "packed":
            high, low = numbers
            return (high << 32) | low
        return self._texts(show, numbers)

    def _first(self, given: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any] | None:
        found: npt.NDArray[Any] | None = None
        for values in given:
            found = values if found is None else np.where(found == NONE, values, found)
        return found

    def _texts(self, show: Show, numbers: Sequence[Integers]) -> Integers:
        """Texts by words, or put together by a pattern."""
        recording = self._recording
        if show.form == "words":
            cells = {str(value): cell for cell, value in reversed(show.words)}
            return recording.rewritten(numbers[0], lambda text: cells.get(text, text))
        pairs, place = np.unique(np.stack(numbers, axis=1), axis=0, return_inverse=True)
        texts, names = recording.texts.all, [name.partition(".")[2] for name in show.of]
        pattern = show.pattern or ""
        written = recording.texts.numbers(
            pattern.format(**{name: texts[one] for name, one in zip(names, pair, strict=True)})
            for pair in pairs.tolist()
        )
        return written[place.reshape(-1)]

    def _nothing(self, column: Column, count: int) -> Values:
        """What the spec has for "no value": the first sentinel; NULL where a column may hold it;
        else the neutral value of the type: a text that says so, a member of the enum that does, 0.
        """
        if column.none:
            return np.full(count, column.none[0])
        if column.nullable is not None:
            return pa.nulls(count, pa.int64())
        enum = _enum(column)
        if enum is not None:
            return np.full(count, self._member(enum, NOT_COLLECTED))
        if column.storage == ("text",):
            return pa.array([_unknown(column)] * count, pa.large_string())
        if STRINGS in column.references:
            return self._recording.text(_unknown(column), count)
        return np.full(count, 0 if column.minimum is None else max(0, column.minimum))

    def _member(self, enum: str, name: str) -> int:
        members = self._recording.members(enum)
        named = (number for number, member in members.items() if member == name)
        return next(named, min(members, default=0))

    def _stored(self, column: Column, values: npt.NDArray[Any]) -> Values:
        """Numbers as the column stores them: text ids, decimal text, other units, sentinels."""
        whole = values.dtype == np.int64
        if STRINGS in column.references:
            values = self._strings.ids(self._known(column, values), self._space)
        elif column.storage == ("text",):
            return pa.array(values).cast(pa.large_string())
        elif column.unit in NS_IN:
            return values / NS_IN[column.unit] if whole else values
        if not whole or NONE in column.none or not (values == NONE).any():
            return values
        if column.nullable is not None:
            return pa.array(values, pa.int64(), mask=values == NONE)
        if column.none:
            return none_as(values, column.none[0])
        enum = _enum(column)
        return values if enum is None else none_as(values, self._member(enum, NOT_APPLICABLE))

    def _known(self, column: Column, texts: Integers) -> Integers:
        """Texts without NONE where the column has neither a sentinel nor NULL for it."""
        if column.none or column.nullable is not None or not (texts == NONE).any():
            return texts
        return self._recording.text_or(texts, _unknown(column))


def _enum(column: Column) -> str | None:
    enum = next((one for one in column.references if one.startswith(ENUM)), None)
    return enum and enum.partition(".")[0]


def _unknown(column: Column) -> str:
    """The text for what is not known."""
    if column.members and NOT_COLLECTED not in column.members:
        return column.members[0]
    return NOT_COLLECTED
