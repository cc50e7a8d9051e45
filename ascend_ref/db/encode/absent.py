"""Cells of a column that a recording knows nothing of: what the spec has for "no value"."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ascend_ref.db.columns import Values
from ascend_spec import Schema
from ascend_spec.db.model import Column

from .recording import NOT_COLLECTED, Recording

STRINGS = "STRING_IDS.id"
ENUM = "ENUM_"


def absent(recording: Recording, column: Column, rows: int) -> Values:
    """The first sentinel of the column; NULL where it has none and may hold NULL; else the neutral
    value of its type: a text that says so, a member of the enum that does, 0.
    """
    if column.none:
        return np.full(rows, column.none[0])
    if column.nullable is not None:
        return pa.nulls(rows, pa.int64())
    enum = next((one for one in column.references if one.startswith(ENUM)), None)
    if STRINGS in column.references:
        return recording.text(_text(column), rows)
    if enum is not None:
        return np.full(rows, _member(recording.schema, enum.partition(".")[0]))
    if column.storage == ("text",):
        return pa.array([_text(column)] * rows, pa.large_string())
    return np.full(rows, 0 if column.minimum is None else max(0, column.minimum))


def _text(column: Column) -> str:
    if column.members and NOT_COLLECTED not in column.members:
        return column.members[0]
    return NOT_COLLECTED


def _member(schema: Schema, enum: str) -> int:
    members = schema.enums.get(enum, {})
    named = (number for number, name in members.items() if name == NOT_COLLECTED)
    return next(named, min(members, default=0))
