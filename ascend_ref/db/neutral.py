"""What stands in a cell where nothing is known, as the column's facts give it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ascend_spec.db.model import STRINGS, Column

NOT_COLLECTED = "N/A"
"""Text, or name of an enum member, for what was not collected."""


class Neutral(NamedTuple):
    """``kind``: "text" is one that the cell itself holds, or its row of STRING_IDS."""

    kind: Literal["null", "number", "text"]
    number: int = 0
    text: str = ""


def neutral(column: Column, members: Mapping[int, str]) -> Neutral:
    """The first sentinel; NULL where a column may hold it; else the neutral value of the type: a
    text that says so, a member of the enum that does, 0. ``members``: of the column's enum.
    """
    if column.none:
        return Neutral("number", column.none[0])
    if column.nullable is not None:
        return Neutral("null")
    reference = column.text_reference
    if reference is not None and reference != STRINGS:
        return Neutral("number", named(members, NOT_COLLECTED))
    if column.storage == ("text",) or reference == STRINGS:
        return Neutral("text", text=unknown_text(column))
    return Neutral("number", 0 if column.minimum is None else int(max(0, column.minimum)))


def named(members: Mapping[int, str], name: str) -> int:
    """The id of a name in an enum; without it the smallest."""
    found = (number for number, member in members.items() if member == name)
    return next(found, min(members, default=0))


def unknown_text(column: Column) -> str:
    """The text for what is not known."""
    if column.members and NOT_COLLECTED not in column.members:
        return column.members[0]
    return NOT_COLLECTED
