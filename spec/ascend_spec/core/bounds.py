"""When a fact is in force: bounds on an ordered axis, one axis for each family of formats."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """``since`` is the first state with the fact, ``until`` the first one without it; ``None``:
    no such bound. Every fact that comes or goes inherits them.
    """

    since: str | None = None
    until: str | None = None


def bounds_of(row: Mapping[str, Any]) -> Bounds:
    """The bounds that a row of a document or a node of a schema states."""
    return Bounds(since=row.get("since"), until=row.get("until"))


class Axis:
    """The ordered states of one family of formats.

    Schema revisions and generations of writers lie on days (ISO text, which compares as text), see
    :data:`DAYS`; block epochs and generations of the API are named, oldest first.
    """

    def __init__(self, state: str, names: Sequence[str] | None = None) -> None:
        """``state`` is what one state is called in messages; without names it is an ISO day."""
        self.state = state
        self.names = None if names is None else tuple(names)
        self._numbers = {name: number for number, name in enumerate(names or ())}

    def in_force(self, bounds: Bounds, at: str) -> bool:
        """Whether a fact with these bounds holds at a state.

        Raises ``KeyError`` naming the known states for an unknown one.
        """
        if self.names is None:
            return (bounds.since is None or bounds.since <= at) and (
                bounds.until is None or at < bounds.until
            )
        here = self.number(at)
        return (bounds.since is None or self.number(bounds.since) <= here) and (
            bounds.until is None or here < self.number(bounds.until)
        )

    def number(self, name: str) -> int:
        """The place of a named state, 0 for the oldest; ``KeyError`` for an unknown one."""
        if name not in self._numbers:
            raise KeyError(f"unknown {self.state} {name!r}; known: {', '.join(self._numbers)}")
        return self._numbers[name]


DAYS = Axis("day")
"""The axis of schema revisions and of generations of writers."""


def allows(asked: Collection[object], given: object) -> bool:
    """Whether what a fact is limited to, such as writers, has this; an empty limit is none."""
    return not asked or given in asked
