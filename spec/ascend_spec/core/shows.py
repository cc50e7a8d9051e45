"""What a cell of a medium shows of the recording, and how: the closed list of forms.

A value is named ``entity.column`` (``recording/``). What types already say is not repeated here:
units follow from the value types of both sides, texts and enum names from keys such as
``stringId``, absent values from the sentinels of the cell, digits from its format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from .folder import SpecError

Form = Literal["plain", "first_of", "words", "pattern", "packed", "nothing"]
Packing = Literal["high32-low32"]
Reason = Literal["dictionary", "derived", "constant", "repeated", "melted", "unrecorded", "unknown"]

REASONS: Mapping[Reason, str] = {
    "dictionary": "A text or name that other tables refer to by its id.",
    "derived": "Follows from other values.",
    "constant": "The same in every row.",
    "repeated": "Another cell of the row shows the same.",
    "melted": "Which value it shows depends on another cell of the row.",
    "unrecorded": "The recording has no entity for it.",
    "unknown": "Exporters have a value that no recording holds.",
}
"""Why a cell shows nothing of the recording."""


@dataclass(frozen=True, slots=True)
class Show:
    """What one cell shows; ``of`` names its values as ``entity.column``.

    ``first_of``: the first of the values that the row has. ``words``: cell to value, a closed
    vocabulary; of several cells for one value the first is written. ``pattern``: the cell is a text
    around values in braces, named by their columns. ``packed``: two numbers in one.
    """

    form: Form
    of: tuple[str, ...] = ()
    words: tuple[tuple[str, str | int], ...] = ()
    pattern: str | None = None
    packing: Packing | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class RowTest:
    """Which rows of a shower show an entity: those whose cell holds one of ``texts``.

    ``negated``: those whose cell holds none of them.
    """

    cell: str
    texts: tuple[str, ...]
    negated: bool = False


def shown(row: Mapping[str, Any], place: str) -> Show:
    """What ``shows:`` of a column, header or arg says; :class:`SpecError` where it says nothing."""
    try:
        return show_of(row["shows"])
    except (KeyError, TypeError, AttributeError) as error:
        raise SpecError(
            f"{place}: shows: expected entity.column, one of the forms, or {{nothing: reason}}"
        ) from error


def show_of(row: str | Mapping[str, Any]) -> Show:
    """What ``shows:`` of one cell says."""
    if isinstance(row, str):
        return Show("plain", (row,))
    if "nothing" in row:
        return Show("nothing", reason=cast(Reason, row["nothing"]))
    if "first_of" in row:
        return Show("first_of", tuple(row["first_of"]))
    of = (row["of"],) if isinstance(row["of"], str) else tuple(row["of"])
    if "words" in row:
        return Show("words", of, tuple(row["words"].items()))
    if "pattern" in row:
        return Show("pattern", of, pattern=row["pattern"])
    return Show("packed", of, packing=row["packed"])


EVENT_KEYS = ("ts", "dur", "name", "tid", "device")
"""What of an event itself shows a value; ``device`` is that of the label of its process."""


def event_shows(row: Mapping[str, Any]) -> dict[str, Show]:
    """What the keys of an event show, and the changing parts of its name and of its thread's name.

    Parts are called ``name.level`` and ``thread.planeId``. Empty where the event shows nothing.
    """
    found = {key: show_of(row[key]) for key in EVENT_KEYS if key in row}
    for group, prefix in (("fields", "name"), ("thread", "thread")):
        parts = row.get(group, {})
        found |= {f"{prefix}.{part}": show_of(show) for part, show in parts.items()}
    return found


def row_tests(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, RowTest]:
    """The condition of each entity that only some rows show, by its name."""
    return {
        entity: RowTest(
            test.get("column") or test["arg"],
            tuple(test.get("is") or test["not"]),
            negated="not" in test,
        )
        for entity, test in rows.items()
    }
