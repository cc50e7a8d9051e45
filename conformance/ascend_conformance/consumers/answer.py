"""What is said of a reader and a profile: remarks with their counts and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.consumers import State
from ascend_spec.consumers.catalog import Kind

from ..finding import Scalar

Outcome = Literal["shows", "partly", "nothing", "fails"]
OUTCOMES: Mapping[Outcome, str] = {
    "shows": "loads",
    "partly": "loads",
    "nothing": "gives nothing",
    "fails": "fails",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that a reader does with a file, or that it does not find there.

    ``words`` state it with its numbers; ``count`` of ``total`` are affected, ``None`` where nothing
    is counted. ``place`` is in the file: a table, a column, a kind of event; ``line``, counted from
    1, ``offset`` and ``row`` are those of the first that is affected. ``source`` is where the
    contract has it from.
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


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """What a part of a reader makes of one file, or of the files of one rank."""

    part: str
    file: str
    outcome: Outcome
    remarks: tuple[Remark, ...] = ()

    @property
    def words(self) -> str:
        """``loads; 41 of 6,400 slices dropped; 12 of 300 arrows lead elsewhere``."""
        return "; ".join([OUTCOMES[self.outcome], *(one.words for one in self.remarks)])


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
