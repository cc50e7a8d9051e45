"""The events of a timeline file: streamed, strictly checked, each with its byte.

A file is a JSON array of events, or an object that holds it under ``traceEvents``. It is read in
parts, so that memory does not grow with it; every byte is checked by RFC 8259.

A part is cut where an event seems to end. That guess needs no trust: a text that begins with an
element and is a complete list is followed by the same elements in any longer text, so the reader's
verdict on the part proves the cut. Where it fails, events are read one by one.

Parts are handed on as lists in JSON, whose columns DuckDB makes (:mod:`.read`) in threads of its
own while the next part is checked. Measured on 1,000,000 events in 220 MB, in CPU seconds against
3.6 of ``json.load``: strict decoding of all parts with the types of all keys 0.45, columns 1.0.
DuckDB's reader of JSON files makes the columns in one thread, in 1.0 as well, but takes NaN and
trailing commas, and reports no places. Decoding to objects and making columns in Python takes 1.7.
"""

from __future__ import annotations

import json
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.json_damage import Damage, find_damage, scan_value, skip_space, wide_text
from ascend_ref.json_keys import ObjectReader

from .event_keys import KeyFaults
from .parts import MAX_EVENT, Part, Source, event_decoder, read_part, whole_elements

EVENTS_KEY = "traceEvents"
"""Under which the object form of the Chrome trace format holds the events."""

SCHEMA = pa.schema([("row", pa.int64()), ("text", pa.string())])
"""Of the batches: index of the first event, a list of events as JSON text.

A ``null`` in the list stands for an element that is no object.
"""

MOST_AT_ONCE = 20_000
"""Events in a list; real ones have some 200 bytes, so that a part has a quarter of that."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass
class Elements:
    """The events of one file. Everything but ``path`` is complete when all batches were taken.

    ``count``: elements read. ``damage``: what ended the reading before the end of the file.
    ``faults``: keys of a wrong type. ``in_object``: the array stands in an object. ``marked``: the
    text begins with a byte order mark, which JSON does not have. ``starts``: for each part its
    first element, the byte from which to look for it, and how many lines end before. ``keys``:
    about how many keys all objects of the elements have, exactly so in files of known writers.
    ``text_lengths``: lengths can be texts, as MindSpore writes them.
    """

    path: Path
    text_lengths: bool = False
    count: int = 0
    keys: int = 0
    damage: Damage | None = None
    in_object: bool = False
    marked: bool = False
    faults: KeyFaults = field(default_factory=KeyFaults)
    starts: list[tuple[int, int, int]] = field(default_factory=list)
    _walked: tuple[int, array[int]] | None = field(default=None, repr=False, compare=False)
    """The part in which an element was looked for last, and where its elements begin."""

    def offset_of(self, row: int) -> int | None:
        """The byte at which an element begins that has been read; ``None`` without it."""
        place = bisect_right(self.starts, row, key=lambda one: one[0]) - 1
        if place < 0 or row >= self.count:
            return None
        walked = self._walked
        if walked is None or walked[0] != place:
            try:
                walked = self._walked = place, self._offsets(place)
            except OSError:
                return None
        at = row - self.starts[place][0]
        return walked[1][at] if at < len(walked[1]) else None

    def _offsets(self, place: int) -> array[int]:
        """The bytes at which the elements of a part begin."""
        begin = self.starts[place][1]
        following = self.starts[place + 1][1] if place + 1 < len(self.starts) else None
        size = MAX_EVENT if following is None else following - begin
        with self.path.open("rb") as file:
            file.seek(begin)
            text = b"[" + file.read(size)
        return array("q", (begin + start - 1 for start, _ in whole_elements(text)))

    def line_of(self, offset: int) -> int:
        """The line, counted from 1, of a byte of the elements that have been read, or before."""
        place = bisect_right(self.starts, offset, key=lambda one: one[1]) - 1
        begin, lines = self.starts[place][1:] if place >= 0 else (0, 0)
        try:
            with self.path.open("rb") as file:
                file.seek(begin)
                return lines + file.read(offset - begin).count(b"\n") + 1
        except OSError:
            return lines + 1

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The events in batches of :data:`SCHEMA`, each of one row. Raises ``OSError``."""
        with self.path.open("rb", buffering=0) as file:
            source = Source(file)
            found = self._prologue(source)
            if isinstance(found, Damage):
                self.damage = found
                return
            lines = source.carry.count(b"\n", 0, found)
            source.skip(found)
            closed = False
            while not closed and self.damage is None:
                buffer, top = source.fill()
                part = read_part(buffer, top, source.ended, text_lengths=self.text_lengths)
                self.starts.append((self.count, source.at, lines))
                text = np.frombuffer(buffer, np.uint8, part.following)
                lines += int(np.count_nonzero(text == ord("\n")))
                self.keys += _keys(text)
                yield from self._batches(part, source.at - 1)
                if part.damage is not None:
                    self.damage = _moved(part.damage, source.at - 1)
                source.keep(buffer, part.following, top)
                closed = part.closed
                if len(source.carry) > MAX_EVENT and not closed:
                    reason = f"one value of more than {MAX_EVENT:,} bytes"
                    self.damage = self.damage or Damage(source.at, reason)
            if closed:
                self.damage = self._epilogue(source)

    def doubled_keys(self) -> Iterator[tuple[int, tuple[str | int, ...]]]:
        """Each key that an object has more than once: the element, and what leads to it there.

        Reads the file once more, and slowly; sound files need it not. Raises ``OSError``.
        """
        for batch in Elements(self.path, self.text_lengths).batches():
            reader = ObjectReader()
            first, text = (column[0].as_py() for column in batch.columns)
            try:
                events = json.loads(text, object_pairs_hook=reader)
            except (ValueError, RecursionError):  # a number of more digits than Python takes
                continue
            for place, *keys in reader.doubled_keys(events):
                yield first + place, tuple(keys)

    def _prologue(self, source: Source) -> int | Damage:
        """The byte behind the bracket that opens the array."""
        head = source.carry
        self.marked = head.startswith(BYTE_ORDER_MARK)
        wide = wide_text(head)
        if wide:
            return wide
        start = skip_space(head, len(BYTE_ORDER_MARK) if self.marked else 0)
        opened = head[start : start + 1]
        if opened == b"[":
            return start + 1
        if opened == b"{":
            self.in_object = True
            return _find_events(head, start)
        return Damage(start, "expected the bracket that opens a list of events")

    def _epilogue(self, source: Source) -> Damage | None:
        """What is wrong behind the array."""
        rest = source.rest()
        if self.in_object:
            opening = b'{"":0'
            found = find_damage(opening + rest)
            return found and _moved(found, source.at - len(opening))
        after = skip_space(rest, 0)
        if after == len(rest):
            return None
        return Damage(source.at + after, "something follows the JSON text")

    def _batches(self, part: Part, base: int) -> Iterator[pa.RecordBatch]:
        """The part as batches; what is wrong with the keys of its events is noted."""
        first = self.count
        self.count += part.count
        if part.typed and part.count <= MOST_AT_ONCE:
            if part.count:
                yield _batch(first, part.text)
            return
        text = bytes(part.text)
        spans = whole_elements(text)
        unsound = set() if part.typed else self._note_faults(text, spans, first, base)
        for begin in range(0, len(spans), MOST_AT_ONCE):
            rows = range(begin, min(begin + MOST_AT_ONCE, len(spans)))
            texts = (b"null" if row in unsound else text[slice(*spans[row])] for row in rows)
            yield _batch(first + begin, b"[" + b",".join(texts) + b"]")

    def _note_faults(
        self, text: bytes, spans: Sequence[tuple[int, int]], first: int, base: int
    ) -> set[int]:
        """The elements that are no objects, by their places in the part."""
        decode = event_decoder(text_lengths=self.text_lengths).decode
        view = memoryview(text)
        unsound = set()
        for place, (start, end) in enumerate(spans):
            try:
                decode(view[start:end])
            except msgspec.ValidationError:
                if not self.faults.note(
                    text[start:end],
                    first + place,
                    base + start,
                    text_lengths=self.text_lengths,
                ):
                    unsound.add(place)
        return unsound


def _keys(text: npt.NDArray[np.uint8]) -> int:
    """How many texts with a colon behind them a part has; a quote that is escaped ends none."""
    # Colons are few: what stands in front of them is looked at, not every byte twice.
    colons = np.flatnonzero(text == ord(":"))
    before = text[colons - 1]
    quoted = text[colons[before == ord('"')] - 2]
    spaced = text[colons[before == ord(" ")] - 2]
    ends = len(quoted) - np.count_nonzero(quoted == ord("\\"))
    return int(ends + np.count_nonzero(spaced == ord('"')))


def _batch(row: int, text: bytes | memoryview) -> pa.RecordBatch:
    """One row. Without ``pa.array``, which imports pandas for the first value that it meets."""
    ends = pa.py_buffer(struct.pack("=2i", 0, len(text)))
    texts = pa.StringArray.from_buffers(1, ends, pa.py_buffer(text))
    rows = pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(struct.pack("=q", row))])
    return pa.RecordBatch.from_arrays([rows, texts], schema=SCHEMA)


def _find_events(head: bytes, start: int) -> int | Damage:
    """The byte behind the bracket of the list that an object holds under :data:`EVENTS_KEY`."""
    at = skip_space(head, start + 1)
    while head[at : at + 1] not in (b"}", b""):
        key = scan_value(head, at)
        if key.damage is not None or key.end is None:
            break
        name, colon = head[at : key.end], skip_space(head, key.end)
        if head[colon : colon + 1] != b":":
            return Damage(colon, "expected a colon behind a key")
        value = skip_space(head, colon + 1)
        if name == f'"{EVENTS_KEY}"'.encode() and head[value : value + 1] == b"[":
            return value + 1
        found = scan_value(head, value)
        if found.damage is not None:
            return found.damage
        if found.end is None:
            break
        at = skip_space(head, found.end)
        if head[at : at + 1] == b",":
            at = skip_space(head, at + 1)
    damage = find_damage(head[:at]) if at >= len(head) else None
    return damage or Damage(at, f"expected a list of events under {EVENTS_KEY}")


def _moved(damage: Damage, base: int) -> Damage:
    return Damage(damage.offset + base, damage.reason)
