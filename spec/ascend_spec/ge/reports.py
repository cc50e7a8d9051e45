"""What the graph engine calls what it reports: events of its texts, types of calls, and the texts.

Numbers of raw files that the graph engine shares with others stand in ``raw/vocabularies.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ascend_spec.core import Grade

Group = Literal[
    "acl-interface",
    "acl-internal",
    "hybrid-executor",
    "static-single-operator",
    "v2-executor",
    "static-graph-executor",
    "control-nodes",
    "compilation-at-run-time",
    "ffts-plus",
    "no-name",
]
"""What the header's comments put together."""

DumpName = Literal["GlobalProfiler", "Profiler"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a text. ``text``: what is written for it."""

    value: int
    name: str
    text: str
    group: Group
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventSpace:
    """The events of a namespace, in order of their numbers from 0; ``end``: how many there are."""

    space: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    end: int
    events: tuple[Event, ...]
    errata: tuple[str, ...] = ()

    @property
    def by_text(self) -> Mapping[str, tuple[Event, ...]]:
        """Events by what is written for them: one text may stand for several."""
        found: dict[str, tuple[Event, ...]] = {}
        for one in self.events:
            found[one.text] = (*found.get(one.text, ()), one)
        return found


@dataclass(frozen=True, slots=True)
class Reported:
    """One type of calls. ``name``: in source code, where that is known; ``text``: registered."""

    level: int
    value: int
    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ReportGroup:
    """Types of calls of one level that an enumeration puts together, ascending.

    ``start``: a number before the first that is never reported; ``end``: the one behind the last.
    """

    group: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    level: int
    members: tuple[Reported, ...]
    start: int | None = None
    end: int | None = None
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dump:
    """The text of one of the two writers: forms of its lines, and what it holds at most.

    ``states``: what stands at the end of a record, by the number of its kind; ``models``: the same
    of events of a whole model, whose names are those of ``model``. ``other``: what stands there for
    any other number. ``timestamp``: what stands there for a moment that is neither start nor end.
    ``unknown_name``: in place of the name of an index without a text. ``capacity``: records that
    are kept, from the first on; ``strings``, ``longest``: names, and bytes of one. ``empty``:
    whether something is written where there are no records. ``file``: its name where it is not
    written to the standard output.
    """

    dump: DumpName
    summary: str
    source: tuple[str, ...]
    grade: Grade
    space: str
    version: str
    capacity: int
    head: str
    overflow: str
    record: str
    end: str
    states: Mapping[int, str]
    empty: bool
    models: Mapping[int, str] = field(default_factory=dict)
    model: tuple[str, ...] = ()
    other: str | None = None
    timestamp: str | None = None
    unknown_name: str | None = None
    strings: int | None = None
    longest: int | None = None
    file: str | None = None
    errata: tuple[str, ...] = ()
