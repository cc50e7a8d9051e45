"""What the writers record of scopes that a program enters and leaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ascend_spec import ge_catalog
from ascend_spec.ge.reports import DumpName

from .forms import END, START
from .records import DumpRecord, TextDump


@dataclass(frozen=True, slots=True)
class Scope:
    """What a thread did from one time to another, in ns since 1970."""

    thread: int
    element: str
    event: str
    start: int
    end: int


def dump_of_scopes(
    dump: DumpName, scopes: Iterable[Scope], capacity: int | None = None
) -> TextDump:
    """The text of a writer that saw these scopes.

    Start and end of a scope are recorded together when it is left, so that the inner ones of
    several come first. Of records beyond the ``capacity`` (that of the spec) the number alone is
    kept: the first ones stay.
    """
    spec = ge_catalog().dumps[dump]
    most = spec.capacity if capacity is None else capacity
    left = sorted(enumerate(scopes), key=lambda one: (one[1].end, -one[1].start, one[0]))
    records = []
    for _, one in left:
        records.append(DumpRecord(one.start, one.thread, one.element, one.event, START))
        records.append(DumpRecord(one.end, one.thread, one.element, one.event, END))
    is_full = len(records) > most
    return TextDump(
        dump,
        spec.version,
        len(records),
        records[:most],
        most if is_full else None,
    )
