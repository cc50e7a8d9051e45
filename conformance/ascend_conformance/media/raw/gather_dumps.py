"""The graph engine's texts about the host as facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ascend_ref.ge.dump import BadLine, DumpRecord, TextDump, read_dump_lines
from ascend_ref.ge.dump.made import END, START
from ascend_spec import ge_catalog

from ...engine.candidate import size_of
from ...engine.sqlite_facts import SqlValue
from .reading import Folder

FILE = "ge_dump"
LARGEST = (1 << 63) - 1

Row = list[SqlValue]
Key = tuple[int, str, str]


@dataclass
class _Text:
    """One text as it is read: its first line, what is open in it, and what came before."""

    head: TextDump
    line: int
    records: int = 0
    bad: int = 0
    open: dict[Key, list[Row]] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)


def within(number: int | None) -> int | None:
    """A number as SQLite can hold it: a greater one is the greatest."""
    return None if number is None else max(min(number, LARGEST), -LARGEST)


def gather_dump(folder: Folder, path: Path) -> None:
    """The texts of one file."""
    number = folder.number(path)
    texts: list[_Text] = []
    rows: list[Row] = []
    for line, part in read_dump_lines(path):
        if isinstance(part, BadLine):
            text = (
                number,
                line,
                None,
                "dump-line",
                FILE,
                f"{part.text!r} in place of {part.wanted}",
            )
            folder.facts.add("damage", [text])
            if texts:
                texts[-1].bad += 1
        elif isinstance(part, TextDump):
            _close(texts)
            texts.append(_Text(part, line))
        else:
            rows.append([number, line, None, *_record(texts[-1], part, len(texts))])
            _pair(texts[-1], part, rows[-1])
    _close(texts)
    folder.facts.add("dump_record", rows)
    folder.facts.add("dump", _heads(texts, number))
    counted = sum(one.records for one in texts)
    folder.facts.add(
        "file", [(number, None, None, FILE, path.name, None, 0, size_of(path), counted)]
    )


def _record(text: _Text, record: DumpRecord, place: int) -> Iterator[SqlValue]:
    text.records += 1
    spec = ge_catalog().dumps[text.head.dump]
    space = ge_catalog().events[spec.space]
    is_known = record.event in space.by_text
    before = text.ends.get(record.thread)
    if record.state == END:
        text.ends[record.thread] = record.time
    yield from (
        *(place, text.head.dump, within(record.time), within(record.thread), record.element),
        *(record.event, within(record.state), int(is_known), None, 0),
        None if before is None or record.state != END else within(before),
    )


def _pair(text: _Text, record: DumpRecord, row: Row) -> None:
    """Bind an end to the last start that is open of the same thread, element and event."""
    models = {2: START, 3: END}
    state = models.get(record.state, record.state) if record.event == "Execute" else record.state
    key = record.thread, record.element, record.event
    if state == START:
        text.open.setdefault(key, []).append(row)
        row[_OPEN] = 1
    elif state == END:
        started = text.open.get(key)
        if started:
            begun = started.pop()
            begun[_OPEN] = 0
            row[_START] = begun[_TIME]
        else:
            row[_OPEN] = 1


_TIME, _START, _OPEN = 5, 11, 12
"""Places in a row of dump_record, with those of the file."""


def _close(texts: list[_Text]) -> None:
    """Of what is open at the end of a text nothing more is known, where records were dropped."""
    if texts and texts[-1].head.dropped_after is not None:
        for rows in texts[-1].open.values():
            for row in rows:
                row[_OPEN] = 0


def _heads(texts: list[_Text], number: int) -> Iterator[tuple[SqlValue, ...]]:
    for one in texts:
        spec = ge_catalog().dumps[one.head.dump]
        yield (
            *(number, one.line, None, one.head.dump, one.head.version, spec.version),
            *(within(one.head.count), spec.capacity, one.records, one.bad),
            *(within(one.head.dropped_after), within(one.head.dropped_of), int(one.head.is_ended)),
        )
