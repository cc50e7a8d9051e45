"""Findings about text deliverables: which file, which line and byte, how many rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ascend_ref.db.display import clip, printable, show_path
from ascend_ref.json_damage import scan_value
from ascend_ref.json_place import place_of
from ascend_ref.timeline.parts import MAX_EVENT
from ascend_spec.core.pointer import pointer_of

from ...finding import Finding, Scalar
from ...ruleset import Rule
from .deliverables import Deliverable
from .folder import Folder

Row: TypeAlias = tuple[Any, ...]

SHOWN = 300
"""Characters of a text of the file that are shown."""

HIDDEN = {"file", "row", "line", "offset", "shape", "ts_decimals"}
"""Columns that are no examples."""


@dataclass(frozen=True, slots=True)
class Position:
    """A line of a CSV file; of a timeline or document a byte and the pointer to what is there."""

    line: int | None = None
    offset: int | None = None
    pointer: str | None = None


NOWHERE = Position()
HEADER = Position(1, 0)


@dataclass(frozen=True, slots=True)
class Fault:
    """What a check found wrong at one place: all bad rows of it together.

    ``file`` is the number of the file of the first one, ``row`` its row in the facts. ``column`` is
    the place in the file. ``expected`` and ``remark`` say what the rule leaves open. ``errata`` are
    those of the place in the spec. ``of``: what has lost rows.
    """

    file: int
    column: str | None = None
    count: int = 1
    total: int = 1
    row: int | None = None
    at: Position = NOWHERE
    examples: Sequence[Mapping[str, Scalar]] = ()
    expected: str | None = None
    remark: str | None = None
    errata: tuple[str, ...] = ()
    query: str | None = None
    of: str | None = None


def finding_of(folder: Folder, rule: Rule[Any], fault: Fault) -> Finding:
    """A fault as a finding of a rule; the line of a byte is still to be counted."""
    label, table = _file(folder, fault.file)
    remark = f"; {fault.remark}" if fault.remark else ""
    return replace(
        rule.finding(
            label, rule.counted(fault.count, fault.total) + remark, fault.count, fault.total
        ),
        expected=rule.expected.replace("{expected}", fault.expected or "what the spec says"),
        table=table,
        column=clip(printable(fault.column), SHOWN) if fault.column else None,
        examples=tuple(fault.examples),
        context={
            **{"count": fault.count, "rows": fault.total, "row": fault.row},
            **({"of": fault.of} if fault.of else {}),
        },
        sql=fault.query,
        offset=fault.at.offset,
        pointer=fault.at.pointer and clip(printable(fault.at.pointer), SHOWN),
        line=fault.at.line,
    )


def _file(folder: Folder, number: int) -> tuple[str, str]:
    """How reports call a file, and its name in places."""
    if number in folder.files:
        return folder.files[number].label, folder.files[number].place
    database = folder.database
    return (show_path(database), database.name) if database else ("", "")


def with_places(folder: Folder, findings: Sequence[Finding]) -> list[Finding]:
    """The findings with the lines of their bytes, and both in the message."""
    wanted: dict[str, set[int]] = {}
    for one in findings:
        if one.line is None and one.offset is not None:
            wanted.setdefault(one.file, set()).add(one.offset)
    elements = {folder.files[number].label: one for number, one in folder.timelines.items()}
    documents = {folder.files[number].label: one for number, one in folder.documents.items()}
    lines = {
        file: {offset: elements[file].line_of(offset) for offset in found}
        if file in elements
        else lines_of(documents[file].content, found)
        for file, found in wanted.items()
    }
    placed = []
    for one in findings:
        line = one.line
        if line is None and one.offset is not None:
            line = lines[one.file].get(one.offset)
        context = {**one.context, "line": line, "offset": one.offset}
        placed.append(
            replace(one, line=line, message=one.message + _first_place(one, line), context=context)
        )
    return placed


def _first_place(finding: Finding, line: int | None) -> str:
    parts = []
    if line is not None:
        parts.append(f"line {line:,}")
    if finding.offset is not None:
        parts.append(f"byte {finding.offset:,}")
    if not parts:
        return ""
    return f" ({'first: ' if finding.count > 1 else ''}{', '.join(parts)})"


def lines_of(content: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """The lines, counted from 1, in which some bytes stand."""
    found: dict[int, int] = {}
    line, at = 1, 0
    for offset in sorted(offsets):
        line += content.count(b"\n", at, offset)
        at = offset
        found[offset] = line
    return found


def event_text(file: Deliverable, offset: int) -> bytes:
    """The JSON text of an event that begins at a byte of its file; empty if it cannot be read."""
    try:
        with file.path.open("rb") as source:
            source.seek(offset)
            text = source.read(4096)
            scanned = scan_value(text)
            while scanned.unfinished and len(text) < MAX_EVENT:
                more = source.read(len(text))
                if not more:
                    return b""
                text += more
                scanned = scan_value(text)
    except OSError:
        return b""
    return text[: scanned.end] if scanned.end is not None else b""


def place_in_event(file: Deliverable, offset: int, pointer: str) -> int:
    """The byte at which the value of a pointer into an event stands; the event's own for none."""
    text = event_text(file, offset)
    return offset + place_of(text, pointer) if text else offset


def place_of_event(folder: Folder, file: int, row: int, *keys: str) -> Position:
    """Where an event stands, or what is found in it by some keys."""
    elements = folder.timelines.get(file)
    offset = None if elements is None else elements.offset_of(row)
    if offset is not None and keys:
        offset = place_in_event(folder.files[file], offset, pointer_of(keys))
    return Position(offset=offset)


def faults_of(
    folder: Folder,
    table: str,
    query: str,
    examples: int,
    place: Callable[[Row], Position],
    shown: Callable[[Row], Mapping[str, Scalar]],
    **facts: Any,
) -> Iterator[Fault]:
    """A fault of each file with rows of a query, of all those that a table has of it.

    The query gives ``file`` and ``row`` first, and is computed once, with its windows and joins.
    ``place`` says of a row where it stands, and ``shown`` what it is as an example.
    """
    select = (
        f"SELECT bad.file, count(*), arg_min(bad, bad.row, {max(examples, 1)}) FROM ({query}) bad "
        "GROUP BY bad.file ORDER BY bad.file"
    )
    for file, count, found in folder.facts.rows(select):
        rows = [tuple(one.values()) for one in found]
        yield Fault(
            file,
            count=count,
            total=folder.facts.count(table, file),
            row=rows[0][1],
            at=place(rows[0]),
            examples=[shown(row) for row in rows[:examples]],
            query=query,
            **facts,
        )


def example_of(names: Sequence[str], values: Sequence[Any]) -> Mapping[str, Scalar]:
    """One bad row as reports show it."""
    pairs = zip(names, values, strict=True)
    return {name: _scalar(value) for name, value in pairs if name not in HIDDEN}


def _scalar(value: Any) -> Scalar:
    if value is None or isinstance(value, (int, float, str)):
        return clip(value, SHOWN) if isinstance(value, str) else value
    return clip(str(value), SHOWN)
