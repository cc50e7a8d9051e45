"""The analysers of MindSpore's viewer: what each reads, answers, and can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ascend_spec.core import DAYS, Bounds, Grade

AnswerKind = Literal["rows", "document", "undescribed"]
"""Rows under names of columns; a document of its own form; not described beyond its name."""

AnswerForm = Literal[
    "text", "integer", "number", "rounded", "rounded-first", "rounded-twice", "share", "json"
]
"""Of cells. ``rounded``: below 1 to 6 decimals, else to 3, after the factor; ``rounded-first``:
before it; ``rounded-twice``: before it, and to 6 decimals after it; ``share``: a percentage, which
files hold as a part of 100 or of 1, rounded.
"""

SwitchForm = Literal["flag", "thresholds", "step", "word", "texts"]


@dataclass(frozen=True, slots=True)
class AnswerColumn(Bounds):
    """A column of an answer, in the days on which it is there.

    ``takes``: columns of the files that it shows, the first that a file has; empty where it is
    computed. ``factor``: what numbers are multiplied by. ``empty``: what stands for no value, where
    ``may_be_empty`` says that there may be none.
    ``can_sort``: whether rows can be sorted by it. ``shown_by``: the switch that it hangs on.
    """

    name: str
    summary: str
    takes: tuple[str, ...] = ()
    form: AnswerForm = "text"
    unit: str | None = None
    factor: int = 1
    empty: str | int | None = None
    may_be_empty: bool = False
    can_sort: bool = True
    shown_by: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerSwitch:
    """A key of a filter condition that is no column. ``otherwise``: what holds without it.

    ``most``: how many texts hold without it, the first of all.
    """

    name: str
    form: SwitchForm
    summary: str
    otherwise: Any = None
    words: tuple[str, ...] = ()
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Analyser(Bounds):
    """One analyser of the viewer.

    ``upstream``: what its class is called there, ``None`` where it has none of its own. ``reads``:
    intermediate files, the one whose rows it shows first. ``columns``: those of all days, in order;
    of a document those of the rows in it, by which they are sorted. ``of_all_ranks``: whether it
    shows all ranks of a folder, not one. ``in_names``: what is in names of operators, by what it
    shows of them. ``reason``: why it is not described.
    """

    analyser: str
    answer: AnswerKind
    reads: tuple[str, ...]
    summary: str
    source: tuple[str, ...]
    grade: Grade
    upstream: str | None = None
    of_all_ranks: bool = False
    columns: tuple[AnswerColumn, ...] = ()
    switches: tuple[AnswerSwitch, ...] = ()
    in_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str | None = None
    reason: str | None = None
    errata: tuple[str, ...] = ()

    def shows_all_ranks(self, switches: Mapping[str, object]) -> bool:
        """Whether an answer is of all ranks of a folder, always or for these switches."""
        return self.of_all_ranks or switches.get("show") == "ranks"

    def columns_on(self, day: str) -> tuple[AnswerColumn, ...]:
        """The columns of a day."""
        return tuple(one for one in self.columns if DAYS.in_force(one, day))

    def column_on(self, name: str, day: str) -> AnswerColumn | None:
        """The column of a day that has a name, or had it on another day; ``None`` for no column."""
        columns = self.columns_on(day)
        same = [one for one in columns if one.name == name]
        if not same:
            takes = {one.takes for one in self.columns if one.name == name and one.takes}
            same = [one for one in columns if one.takes in takes]
        return same[0] if same else None
