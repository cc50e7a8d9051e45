"""A text about the host in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from ascend_spec.ge.reports import DumpName


@dataclass(frozen=True, slots=True)
class DumpRecord:
    """One moment. ``time``: since 1970, in ns. ``state``: the number of its kind.

    Of a model that starts or ends, ``element`` and ``event`` are the words of the spec.
    """

    time: int
    thread: int
    element: str
    event: str
    state: int


@dataclass(slots=True)
class TextDump:
    """What one writer wrote at one time, from its first line to its last.

    ``count``: the records that it had, those among them that it dropped; ``dropped_after``: how
    many it states to keep, where it states that it dropped some. ``is_ended``: whether the last
    line is there.
    """

    dump: DumpName
    version: str
    count: int
    records: list[DumpRecord] = field(default_factory=list)
    dropped_after: int | None = None
    dropped_of: int | None = None
    is_ended: bool = True
