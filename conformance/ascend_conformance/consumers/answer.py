"""What is said of a reader and a profile: remarks with their counts and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.consumers import Effect, State
from ascend_spec.consumers.catalog import Kind

from ..finding import Scalar

Outcome = Literal["shows", "partly", "nothing", "fails"]
EFFECTS: Mapping[Effect, str] = {
    "fails": "the reader reports an error and gives no result",
    "complains": "the reader reports an error and gives a result without it",
    "nothing": "the reader gives no result, and no error",
    "without": "the reader gives a result without it",
}
OUTCOMES: Mapping[Outcome, str] = {
    "shows": "loads",
    "partly": "loads",
    "nothing": "gives nothing",
    "fails": "fails",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that a reader does with a file, or that it does not find there.

    ``effect``: what becomes of the part for it. ``words`` state it with its numbers; ``count`` of
    ``total`` are affected, ``None`` where nothing is counted. ``place`` is in the file: a table, a
    column, a kind of event; ``line``, counted from 1, ``offset`` and ``row`` are those of the first
    that is affected. ``source`` is where the contract has it from.
    """

    behaviour: str
    kind: Kind
    words: str
    why: str
    remedy: str
    source: tuple[str, ...]
    count: int = 1
    total: int | None = None
    place: str = ""
    row: int | None = None
    line: int | None = None
    offset: int | None = None
    example: Mapping[str, Scalar] = field(default_factory=dict)
    effect: Effect | None = None

    @property
    def is_optional(self) -> bool:
        """Whether it is that something is not there which need not be."""
        return self.effect == "without" and bool(self.place)


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """What a part of a reader makes of one file, or of the files of one rank."""

    part: str
    file: str
    outcome: Outcome
    remarks: tuple[Remark, ...] = ()

    @property
    def reports_an_error(self) -> bool:
        """Whether the reader says that something is wrong."""
        return any(one.effect in ("fails", "complains") for one in self.remarks)

    @property
    def words(self) -> str:
        """``loads; 41 of 6,400 slices dropped; 12 of 300 arrows lead elsewhere``."""
        absent = [one.place for one in self.remarks if one.is_optional]
        others = [one.words for one in self.remarks if not one.is_optional]
        without = [f"without {', '.join(dict.fromkeys(absent))}"] if absent else []
        return "; ".join([OUTCOMES[self.outcome], *dict.fromkeys(others), *without])


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """What a reader makes of a profile. ``missing``: why there is nothing for it to read."""

    state: State
    parts: tuple[PartAnswer, ...]
    missing: str | None = None

    @property
    def loses(self) -> bool:
        """Whether something is lost, wrong or refused."""
        kinds = {remark.kind for part in self.parts for remark in part.remarks}
        return bool(kinds - {"changes"})
