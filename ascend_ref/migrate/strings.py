"""Ids in STRING_IDS for the few texts that columns get which appear."""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from ascend_ref.db.carrier import FRAMEWORK_STRINGS

CANN, FRAMEWORK = 0, FRAMEWORK_STRINGS
"""First ids of the spaces, each as long as the first."""


class Strings:
    """The texts of the old file. ``table``: its STRING_IDS, quoted, if rows can be read of it."""

    def __init__(self, connection: apsw.Connection, table: str | None) -> None:
        self._connection = connection
        self._table = table
        self._given: dict[tuple[str, int], int | None] = {}
        self._new: dict[int, str] = {}

    def found(self, text: str, space: int) -> int | None:
        """The id of a text; ``None`` where it has none."""
        return self._look_up(text, space)[0]

    def number(self, text: str, space: int) -> int | None:
        """The id of a text, an unused one where it has none; ``None`` where no id can be given."""
        if (text, space) not in self._given:
            found, last = self._look_up(text, space)
            self._given[text, space] = self._new_id(text, space, last) if found is None else found
        return self._given[text, space]

    def new(self) -> Mapping[int, str]:
        """The rows that are to be added."""
        return dict(sorted(self._new.items()))

    def _look_up(self, text: str, space: int) -> tuple[int | None, int | None]:
        """The id of a text, and the last one of its space."""
        if self._table is None:
            return None, None
        inside = f"typeof(id) = 'integer' AND id >= {space} AND id < {space + FRAMEWORK_STRINGS}"
        select = f"SELECT min(id) FILTER (WHERE value = ?), max(id) FROM {self._table}"
        ((found, last),) = self._connection.execute(f"{select} WHERE {inside}", (text,))
        return (found if isinstance(found, int) else None, last if isinstance(last, int) else None)

    def _new_id(self, text: str, space: int, last: int | None) -> int | None:
        used = [one for one in self._new if space <= one < space + FRAMEWORK_STRINGS]
        number = max([space - 1 if last is None else last, *used]) + 1
        if self._table is None or number >= space + FRAMEWORK_STRINGS:
            return None
        self._new[number] = text
        return number
