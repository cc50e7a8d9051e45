"""One thing that a state of the spec holds: where it stands, what is so about it, what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """The least and the greatest value; ``None`` where there is no such limit."""

    least: int | float | None = None
    greatest: int | float | None = None

    def hold(self, other: Limits) -> bool:
        """Whether whatever lies within the other ones lies within these."""
        return (self.least is None or (other.least is not None and self.least <= other.least)) and (
            self.greatest is None
            or (other.greatest is not None and other.greatest <= self.greatest)
        )


@dataclass(frozen=True, slots=True)
class Degree:
    """One of a few words that have an order: the higher ``rank`` admits more."""

    word: str
    rank: int


Fact = str | int | float | bool | Limits | Degree | frozenset[str] | tuple[str, ...] | None
"""A text or number; limits; a degree; a set, of which only the members count; a sequence, of which
the order counts as well. ``None``: not stated; of a set: anything.
"""


@dataclass(frozen=True, slots=True)
class Element:
    """One thing of a state.

    ``kind`` and ``name`` are those of its address. Where it has none of its own, ``part`` is what
    part of the thing with that address it is, and ``place`` where. Among the children of its parent
    that are of its ``sort`` it is known by ``key``;
    ``former``: keys that it had before, newest first. ``label``: what is known by a number and has
    a name besides, which may move to another number; ``twin``: by what else it is known, where
    another key alone makes it no other thing. ``ordered``: whether its place among children of its
    sort is part of the format. ``returned``: its key was that of another thing
    before. ``shown``: what it is, in few words.
    """

    kind: str
    name: str
    key: str
    facts: Mapping[str, Fact] = field(default_factory=dict)
    children: tuple[Element, ...] = ()
    part: str = ""
    place: str = ""
    former: tuple[str, ...] = ()
    label: str | None = None
    twin: str | None = None
    ordered: bool = False
    returned: bool = False
    shown: str = ""

    @property
    def address(self) -> str:
        """``kind/name``."""
        return f"{self.kind}/{self.name}"

    @property
    def sort(self) -> str:
        """Kind and part: ``column``, ``table index``."""
        return f"{self.kind} {self.part}".rstrip()


def text_of(fact: Fact) -> str:
    """A fact in words; ``none`` where it is not stated."""
    if isinstance(fact, Limits):
        return _limits(fact)
    if isinstance(fact, Degree):
        return fact.word
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, frozenset):
        return ", ".join(sorted(fact)) or "none"
    if isinstance(fact, tuple):
        return ", ".join(fact) or "none"
    return "none" if fact is None or fact == "" else str(fact)


def _limits(limits: Limits) -> str:
    least, greatest = limits.least, limits.greatest
    if least is None and greatest is None:
        return "anything"
    if greatest is None:
        return f"at least {least}"
    return f"at most {greatest}" if least is None else f"{least} to {greatest}"
