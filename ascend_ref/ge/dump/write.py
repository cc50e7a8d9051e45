"""Writing the texts."""

from __future__ import annotations

from collections.abc import Iterator

from ascend_spec import ge_catalog

from .forms import word_of
from .records import TextDump


def dump_lines(dump: TextDump) -> Iterator[str]:
    """The lines of a text, each with its end; none of one that its writer leaves out.

    Raises ``ValueError`` for a record of a kind that the writer has no word for, and for a name
    with an end of a line.
    """
    spec = ge_catalog().dumps[dump.dump]
    if not dump.count and not spec.empty:
        return
    yield spec.head.format(version=dump.version, count=dump.count) + "\n"
    if dump.dropped_after is not None:
        own = dump.count if dump.dropped_of is None else dump.dropped_of
        yield spec.overflow.format(count=own, capacity=dump.dropped_after) + "\n"
    for one in dump.records:
        text = spec.record.format(
            time=one.time,
            thread=one.thread,
            element=one.element,
            event=one.event,
            state=word_of(spec, one),
        )
        if "\n" in text or "\r" in text:
            raise ValueError(f"a name with an end of a line: {text[:80]!r}")
        yield text + "\n"
    if dump.is_ended:
        yield spec.end + "\n"
