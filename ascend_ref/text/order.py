"""The order of the rows of a file, as its writer compares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.arrays import dictionary, integers, picked, reals, text_places
from ascend_ref.capture.batch import Integers
from ascend_ref.derive.decimals import decimal_texts
from ascend_spec import catalog, per_spec, recording_catalog
from ascend_spec.text.model import CsvColumn, SortKey

from .columns import Columns, Filling, row_count, taken
from .setting import Setting

LAST = 1 << 40
"""Rank of a text that is no member of its enum."""
LONGEST_NUMBER = 18
"""Digits of a number that certainly has 64 bits."""


def ordered(setting: Setting, columns: Columns) -> Columns:
    """The rows in the order of the writer."""
    keys = setting.order
    return taken(columns, row_order(setting, columns)) if keys and row_count(columns) else columns


def row_order(setting: Setting, columns: Columns) -> Integers:
    """The places of the rows in the order of the writer, equal ones as they stand.

    Columns that the order names are filled where they are not given.
    """
    there = {one.name for one in setting.columns()}
    filling = Filling(setting)
    ranks = []
    for key in setting.order:
        if key.column not in columns and key.column not in there:
            continue
        column = setting.column(key.column)
        given = columns.get(key.column)
        rank = _rank(key, column, filling.of(column, columns) if given is None else given)
        ranks.append(-rank if key.descending else rank)
    if not ranks:
        return np.arange(row_count(columns))
    return np.lexsort(ranks[::-1]).astype(np.int64)


def _rank(key: SortKey, column: CsvColumn, values: pa.Array) -> npt.NDArray[Any]:
    if key.compare == "text":
        return _text_rank(values, is_time=column.unit == "us")
    if pa.types.is_dictionary(values.type) or pa.types.is_string(values.type):
        texts = dictionary(values)
        known = texts.dictionary.to_pylist()
        if key.compare == "member":
            members = enum_numbers(recording_catalog().enum_of(column.shows))
            numbers = [members.get(text, LAST) for text in known]
        else:
            # A text that is no number, such as that of the host, stands where it comes first.
            numbers = [
                int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else first
                for text, first in zip(known, _first(texts), strict=True)
            ]
        return picked(texts, np.array(numbers, np.int64), -1)
    return reals(values) if pa.types.is_floating(values.type) else integers(values)


@per_spec
def enum_numbers(enum: str | None) -> Mapping[str, int]:
    """The ids of an enum's names, of every revision; the newest win. Empty without an enum."""
    if enum is None:
        return {}
    members = sorted(catalog().enums[enum].members, key=lambda one: one.since or "")
    return {member.name: member.id for member in members}


def _first(texts: pa.DictionaryArray) -> list[int]:
    """For each text of the dictionary the row in which it first stands."""
    first = np.full(len(texts.dictionary), len(texts), np.int64)
    np.minimum.at(first, np.maximum(text_places(texts), 0), np.arange(len(texts)))
    places: list[int] = first.tolist()
    return places


def _text_rank(values: pa.Array, *, is_time: bool) -> npt.NDArray[Any]:
    """Ranks of the texts in the file; the bytes of UTF-8 compare as code points do."""
    if pa.types.is_dictionary(values.type):
        return picked(values, _dense(values.dictionary), -1)
    if pa.types.is_string(values.type):
        return _dense(values)
    numbers = integers(values)
    if len(numbers) and numbers.min() > 0 and len(str(numbers.min())) == len(str(numbers.max())):
        return numbers
    if is_time:
        return _dense(decimal_texts(numbers))
    found, place = np.unique(numbers, return_inverse=True)
    return _dense(pa.array(found).cast(pa.string()))[place]


def _dense(texts: pa.Array) -> Integers:
    return integers(pc.rank(texts, tiebreaker="dense").cast(pa.int64()))
