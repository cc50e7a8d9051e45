"""The graph engine's texts about the host as facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ascend_ref.ge.dump import BadLine, DumpRecord, TextDump, read_dump_lines, side_of
from ascend_spec import ge_catalog

from ...engine.candidate import size_of
from ...engine.sqlite_facts import STAGED, SqlValue
from .reading import Folder

FILE = "ge_dump"
LARGEST = (1 << 63) - 1


@dataclass
class _Text:
    """One text as it is read: its first line, and how many lines of which kind followed."""

    head: TextDump
    line: int
    records: int = 0
    bad: int = 0


def within(number: int | None) -> int | None:
    """A number as SQLite can hold it: a greater one is the greatest."""
    return None if number is None else max(min(number, LARGEST), -LARGEST)


def gather_dump(folder: Folder, path: Path) -> None:
    """The texts of one file. Raises ``OSError``."""
    facts, number = folder.facts, folder.number(path)
    facts.stage((*facts.tables["dump_record"], "side"))
    facts.add(STAGED, _records(folder, path, number))
    facts.add_staged_to("dump_record", _PAIRED)
    counted = facts.value("SELECT count(*) FROM dump_record")
    own = (number, None, None, FILE, path.name, None, 0, size_of(path), counted)
    facts.add("file", [own])


def _records(folder: Folder, path: Path, number: int) -> Iterator[tuple[SqlValue, ...]]:
    """The records; what else the file has is among the facts once they are taken."""
    facts, text, count = folder.facts, None, 0
    for line, part in read_dump_lines(path):
        if isinstance(part, BadLine):
            words = f"{part.text!r} in place of {part.wanted}"
            facts.add("damage", [(number, line, None, "dump-line", FILE, words)])
            if text is not None:
                text.bad += 1
        elif isinstance(part, TextDump):
            if text is not None:
                facts.add("dump", [_head(text, number)])
            text, count = _Text(part, line), count + 1
        elif text is not None:
            text.records += 1
            yield number, line, None, *_record(text.head, part, count)
    if text is not None:
        facts.add("dump", [_head(text, number)])


def _record(head: TextDump, record: DumpRecord, place: int) -> Iterator[SqlValue]:
    spec = ge_catalog().dumps[head.dump]
    is_known = record.event in ge_catalog().events[spec.space].by_text
    yield from (
        *(place, head.dump, within(record.time), within(record.thread), record.element),
        *(record.event, within(record.state), int(is_known), None, None, None),
        side_of(spec, record),
    )


def _head(text: _Text, number: int) -> tuple[SqlValue, ...]:
    spec, head = ge_catalog().dumps[text.head.dump], text.head
    return (
        *(number, text.line, None, head.dump, head.version, spec.version),
        *(within(head.count), spec.capacity, text.records, text.bad),
        *(within(head.dropped_after), within(head.dropped_of), int(head.is_ended)),
    )


# An end belongs to the last start that is open. depth: how many are open with it, where ends
# without a start do not count; of one depth starts and their ends take turns. Of what is open at
# the end of a text nothing more is known, where records were dropped. A text is a row of dump.
_PAIRED = f"""
    SELECT file, line, offset, text, dump, time, thread, element, event, state, is_known,
      CASE WHEN side = 1 AND lag(side) OVER near = 0 THEN lag(time) OVER near END,
      CASE WHEN side = 1 THEN lag(side) OVER near IS NOT 0 WHEN side = 0 THEN
        lead(side) OVER near IS NOT 1
        AND (SELECT dropped_after FROM dump WHERE rowid = text) IS NULL ELSE 0 END,
      CASE WHEN state = 1 THEN lag(time) OVER ends END
    FROM (SELECT *, level - min(min(level) OVER own, 0) + (side = 1) AS depth
      FROM (SELECT rowid AS place, *, total(CASE side WHEN 0 THEN 1 WHEN 1 THEN -1 END) OVER own
        AS level FROM {STAGED} WINDOW own AS
        (PARTITION BY text, thread, element, event ORDER BY rowid))
      WINDOW own AS (PARTITION BY text, thread, element, event ORDER BY place))
    WINDOW near AS (PARTITION BY text, thread, element, event, depth ORDER BY place),
      ends AS (PARTITION BY text, thread, state ORDER BY place)
    ORDER BY place
"""
