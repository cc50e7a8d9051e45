"""Text files with some bytes replaced: rows of CSV files, events, values of documents."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ascend_ref.atomic import atomic_file
from ascend_ref.json_damage import scan_value
from ascend_ref.json_place import place_of
from ascend_ref.timeline.elements import Elements
from ascend_ref.timeline.parts import MAX_EVENT, whole_elements
from ascend_spec.core.pointer import keys_of, pointer_of

from ...engine.trials import NotBreakable

PART = 4 << 20


class Splice(NamedTuple):
    """Bytes of a file that others take the place of."""

    offset: int
    length: int
    text: bytes


def rewrite(path: Path, splices: Iterable[Splice]) -> None:
    """Replace bytes of a file. Raises ``OSError``, and ``ValueError`` for splices that overlap."""
    with path.open("rb") as source, atomic_file(path) as target:
        at = 0
        for one in sorted(splices):
            if one.offset < at:
                raise ValueError(f"{path}: two changes of byte {one.offset}")
            _copy(source, target, one.offset - at)
            target.write(one.text)
            source.seek(one.length, io.SEEK_CUR)
            at = one.offset + one.length
        _copy(source, target, None)


def _copy(source: BinaryIO, target: BinaryIO, size: int | None) -> None:
    while size is None or size > 0:
        part = source.read(PART if size is None else min(PART, size))
        if not part:
            return
        target.write(part)
        size = None if size is None else size - len(part)


class Record(NamedTuple):
    """A row of a CSV file: its cells, its bytes and its line end."""

    cells: list[str]
    length: int
    end: str


def record_at(path: Path, offset: int) -> Record:
    """The row of a CSV file that begins at a byte. Raises :class:`NotBreakable`, ``OSError``."""
    with path.open("rb") as file:
        file.seek(offset)
        lines: list[bytes] = []

        def text() -> Iterator[str]:
            for line in file:
                lines.append(line)
                yield line.decode("utf-8", "surrogateescape")

        try:
            cells = next(csv.reader(text(), strict=True), [])
        except csv.Error as problem:
            raise NotBreakable(f"{path.name}: {problem}") from problem
    content = b"".join(lines)
    end = "\r\n" if content.endswith(b"\r\n") else "\n" if content.endswith(b"\n") else ""
    return Record(cells, len(content), end)


def record_text(cells: Sequence[str], end: str) -> bytes:
    """The bytes of a row."""
    target = io.StringIO()
    csv.writer(target, lineterminator=end).writerow(cells)
    return target.getvalue().encode("utf-8", "surrogateescape")


class Events:
    """The events of a timeline file, each with its bytes."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Begin and end of each event."""
        found: list[tuple[int, int]] = []
        starts = self.elements.starts
        with self.elements.path.open("rb") as file:
            for place, (first, begin, _) in enumerate(starts):
                last = place + 1 == len(starts)
                size = MAX_EVENT if last else starts[place + 1][1] - begin
                file.seek(begin)
                count = (self.elements.count if last else starts[place + 1][0]) - first
                some = whole_elements(b"[" + file.read(size))[:count]
                found += [(begin + one[0] - 1, begin + one[1] - 1) for one in some]
        return found

    def text(self, row: int) -> bytes:
        """The JSON text of an event."""
        begin, end = self.spans[row]
        with self.elements.path.open("rb") as file:
            file.seek(begin)
            return file.read(end - begin)

    def replaced(self, row: int, text: bytes) -> Splice:
        """Another text for an event."""
        begin, end = self.spans[row]
        return Splice(begin, end - begin, text)

    def appended(self, texts: Sequence[bytes]) -> Splice:
        """Further events behind the last one."""
        end = self.spans[-1][1]
        return Splice(end, 0, b"".join(b", " + one for one in texts))

    def removed(self, rows: Iterable[int]) -> Iterator[Splice]:
        """No more of these events, and of the commas between them."""
        last = len(self.spans) - 1
        for first, behind in _runs(sorted(rows)):
            if behind < last:
                begin, end = self.spans[first][0], self.spans[behind + 1][0]
            else:
                begin = self.spans[first - 1][1] if first else self.spans[0][0]
                end = self.spans[behind][1]
            yield Splice(begin, end - begin, b"")


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of numbers that follow each other."""
    begin = 0
    for place in range(1, len(rows) + 1):
        if place == len(rows) or rows[place] != rows[place - 1] + 1:
            yield rows[begin], rows[place - 1]
            begin = place


def with_values(text: bytes, values: Mapping[str, Any]) -> bytes:
    """A JSON object with other values at these pointers; ``None``: without them.

    A value keeps the JSON type that it had, text or number. Raises :class:`NotBreakable` where a
    pointer leads into nothing.
    """
    for pointer, value in values.items():
        keys = keys_of(pointer)
        holder, key = _value(text, pointer_of(keys[:-1])), keys[-1]
        if not isinstance(holder, dict):
            raise NotBreakable(f"nothing at {pointer}")
        if key in holder and value is not None:
            splice = value_splice(text, pointer, value)
            text = text[: splice.offset] + splice.text + text[splice.offset + splice.length :]
        elif key in holder:
            text = _without(text, keys)
        elif value is not None:
            place = place_of(text, pointer_of(keys[:-1])) + 1
            comma = b", " if holder else b""
            added = f"{json.dumps(key)}: {json.dumps(value)}".encode() + comma
            text = text[:place] + added + text[place:]
    return text


def value_splice(text: bytes, pointer: str, value: Any) -> Splice:
    """Another value at a pointer that leads to one, of the JSON type that it had."""
    place = place_of(text, pointer)
    end = scan_value(text, place).end or len(text)
    old = json.loads(text[place:end])
    return Splice(place, end - place, json.dumps(_like(old, value), ensure_ascii=False).encode())


def key_splice(text: bytes, pointer: str, key: str) -> Splice:
    """Another key for the value at a pointer."""
    old = json.dumps(keys_of(pointer)[-1], ensure_ascii=False).encode()
    place = text.rfind(old, 0, place_of(text, pointer))
    if place < 0:
        raise NotBreakable(f"no key at {pointer}")
    return Splice(place, len(old), json.dumps(key, ensure_ascii=False).encode())


def _like(old: Any, value: Any) -> Any:
    if isinstance(old, str) and not isinstance(value, str):
        return str(value)
    if isinstance(old, (int, float)) and isinstance(value, str):
        number = float(value)
        return int(number) if number.is_integer() and isinstance(old, int) else number
    if isinstance(old, int) and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _value(text: bytes, pointer: str) -> Any:
    value = json.loads(text)
    for key in keys_of(pointer):
        if not isinstance(value, dict) or key not in value:
            raise NotBreakable(f"nothing at {pointer}")
        value = value[key]
    return value


def _without(text: bytes, keys: Sequence[str]) -> bytes:
    value = json.loads(text)
    holder = value
    for key in keys[:-1]:
        holder = holder[key]
    del holder[keys[-1]]
    spaced = b'": ' in text
    separators = (", ", ": ") if spaced else (",", ":")
    return json.dumps(value, ensure_ascii=False, separators=separators).encode()
