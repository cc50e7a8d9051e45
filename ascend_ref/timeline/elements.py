"""The events of a timeline file as texts: streamed, strictly checked, each with its byte.

A file is a JSON array of events, or an object that holds it under ``traceEvents``. It is read in
parts of some megabytes, so that memory does not grow with it; every byte is checked by RFC 8259.

A part is cut where an event seems to end. That guess needs no trust: a text that begins with an
element and is a complete list is followed by the same elements in any longer text, so the reader's
verdict on the part proves the cut. Where it fails, events are read one by one.

Measured on 1,000,000 events in 220 MB, CPU seconds, against 2.8 of ``json.load``: reading 0.06,
strict decoding with the types of all keys 0.35, finding the events' bytes 0.14, making columns of
them in DuckDB 0.65. Decoding to objects and columns in Python alone takes 1.4; DuckDB's own reader
0.75, without any of the checks (it takes NaN and trailing commas, and tells no places).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.json_damage import Damage, find_damage, scan_value, skip_space

from .event_keys import KeyFaults, event_type
from .walk import Integers, Part, walk

PART = 4 << 20
"""Bytes read at a time."""

MAX_EVENT = 16 << 20
"""Bytes of one event, or of the values beside the events."""

EVENTS_KEY = "traceEvents"
"""Under which the object form of the Chrome trace format holds the events."""

SCHEMA = pa.schema([("row", pa.int64()), ("offset", pa.int64()), ("text", pa.string())])
"""Of the batches: index in the array, byte in the file, the event's JSON text."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"[\0", b"{\0", b"\0[", b"\0{")

_CUT = re.compile(rb"\}[ \t\n\r]*,[ \t\n\r]*(?=\{)")
_CUTS_TRIED = 4
_REFUSALS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
_TAIL = 1 << 16
"""Bytes at the end of a part in which it is cut, if an event ends there."""
_LONGEST_GAP = 200

_TEXTS: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])


@cache
def _events() -> msgspec.json.Decoder[list[msgspec.Struct]]:
    return msgspec.json.Decoder(list[event_type()])  # type: ignore[misc]  # made at run time


@cache
def _event() -> msgspec.json.Decoder[msgspec.Struct]:
    return msgspec.json.Decoder(event_type())


@dataclass
class Elements:
    """The events of one file. Everything but ``path`` is complete when all batches were taken.

    ``count``: elements read. ``size``: bytes read. ``damage``: what ended the reading before the
    end of the file. ``faults``: keys of a wrong type. ``in_object`` tells the form. ``marked``: the
    text begins with a byte order mark, which JSON does not have.
    """

    path: Path
    count: int = 0
    damage: Damage | None = None
    in_object: bool = False
    marked: bool = False
    faults: KeyFaults = field(default_factory=KeyFaults)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The events in batches of :data:`SCHEMA`. Raises ``OSError``."""
        with self.path.open("rb", buffering=0) as file:
            source = _Source(file)
            found = self._prologue(source)
            if isinstance(found, Damage):
                self.damage = found
                return
            source.skip(found)
            closed = False
            while not closed and self.damage is None:
                buffer, top = source.fill()
                part = _part(buffer, top, source.ended)
                yield from self._batches(buffer, part, source.at - 1)
                if part.damage is not None:
                    self.damage = _moved(part.damage, source.at - 1)
                source.keep(buffer, part.following, top)
                closed = part.closed
                if len(source.carry) > MAX_EVENT and not closed:
                    reason = f"one value of more than {MAX_EVENT:,} bytes"
                    self.damage = self.damage or Damage(source.at, reason)
            if closed:
                self.damage = self._epilogue(source)

    def _prologue(self, source: _Source) -> int | Damage:
        """The byte behind the bracket that opens the array."""
        head = source.carry
        self.marked = head.startswith(BYTE_ORDER_MARK)
        start = skip_space(head, len(BYTE_ORDER_MARK) if self.marked else 0)
        opened = head[start : start + 1]
        if opened == b"[" and not head.startswith(_WIDE_MARKS):
            return start + 1
        if opened == b"{" and not head.startswith(_WIDE_MARKS):
            self.in_object = True
            return _find_events(head, start)
        if head.startswith(_WIDE_MARKS):
            return Damage(0, "UTF-16 or UTF-32; expected UTF-8")
        return Damage(start, "expected the bracket that opens a list of events")

    def _epilogue(self, source: _Source) -> Damage | None:
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

    def _batches(self, buffer: bytearray, part: Part, base: int) -> Iterator[pa.RecordBatch]:
        """The part as a batch, without elements that are no objects; their faults are noted."""
        rows = np.arange(self.count, self.count + len(part.starts), dtype=np.int64)
        self.count += len(rows)
        sound = None if part.typed else self._note_faults(buffer, part, rows, base)
        if len(rows) and (sound is None or sound.all()):
            yield _batch(buffer, part, rows, base)
        elif sound is not None and sound.any():
            yield _batch_without(buffer, part, rows, base, sound)

    def _note_faults(
        self, buffer: bytearray, part: Part, rows: Integers, base: int
    ) -> npt.NDArray[np.bool_]:
        decode = _event().decode
        view = memoryview(buffer)
        sound = np.ones(len(rows), np.bool_)
        spans = zip(part.starts.tolist(), part.ends.tolist(), strict=True)
        for place, (start, end) in enumerate(spans):
            try:
                decode(view[start:end])
            except msgspec.ValidationError:
                raw = bytes(view[start:end])
                sound[place] = self.faults.note(raw, int(rows[place]), base + start)
        return sound


def _part(buffer: bytearray, top: int, ended: bool) -> Part:
    """The elements that end in a buffer, whose first byte is a bracket."""
    for end, following, closed in _likely_ends(buffer, top, ended):
        saved = buffer[end]
        buffer[end] = ord("]")
        part = _decoded(buffer, end, following, closed)
        buffer[end] = saved
        if part is not None:
            return part
    return walk(bytes(memoryview(buffer)[:top]), ended)


def _likely_ends(buffer: bytearray, top: int, ended: bool) -> Iterator[tuple[int, int, bool]]:
    """Where the list could end: the byte for its bracket, what follows, whether it is closed."""
    if ended:
        end = buffer.rfind(b"]", 1, top)
        if end > 0:
            yield end, end + 1, True
        return
    for begin in (max(1, top - _TAIL), 1):
        places = [found.span() for found in _CUT.finditer(buffer, begin, top)][-_CUTS_TRIED:]
        for at, following in reversed(places):
            yield at + 1, following, False
        if places:
            return


def _decoded(buffer: bytearray, end: int, following: int, closed: bool) -> Part | None:
    """The elements of a buffer up to a closing bracket; ``None`` if that is no sound list."""
    text = memoryview(buffer)[: end + 1]
    typed = True
    try:
        count = len(_events().decode(text))
    except msgspec.ValidationError:
        typed = False
        try:
            count = len(_TEXTS.decode(text))
        except _REFUSALS:
            return None
    except _REFUSALS:
        return None
    spans = _spans(buffer, end, count) if _is_utf8(buffer, text) else None
    return None if spans is None else Part(*spans, following, closed, typed=typed)


def _is_utf8(buffer: bytearray, text: memoryview) -> bool:
    try:
        return buffer.isascii() or str(text, "utf-8") != ""
    except UnicodeDecodeError:
        return False


def _spans(buffer: bytearray, end: int, count: int) -> tuple[Integers, Integers, Integers] | None:
    """Where the elements of a sound list begin and end, and the commas, if all are objects.

    Brace, comma, brace is how objects follow each other, but it may stand inside one as well: the
    places are right if there are as many of them as there must be.
    """
    text = np.frombuffer(buffer, np.uint8, end)
    if not count:
        return _NOTHING, _NOTHING, _NOTHING
    first = skip_space(bytes(memoryview(buffer)[: min(end, _LONGEST_GAP)]), 1)
    last = buffer.rfind(b"}", 0, end)
    if first >= end or text[first] != ord("{") or last < 0:
        return None
    following = text[1 : last + 1]
    # No other bytes up to the space than white space can follow a brace here.
    separating = (following == ord(",")) | (following <= ord(" "))
    closing = np.flatnonzero((text[:last] == ord("}")) & separating)
    commas = _behind_space(text, closing + 1)
    starts = _behind_space(text, np.minimum(commas + 1, last))
    opened = (text[commas] == ord(",")) & (text[starts] == ord("{"))
    if int(opened.sum()) != count - 1:
        return None
    starts = np.concatenate((np.array([first]), starts[opened]))
    ends = np.append(closing[opened], last) + 1
    return starts, ends, commas[opened]


_NOTHING: Integers = np.empty(0, np.int64)


def _behind_space(text: npt.NDArray[np.uint8], places: Integers) -> Integers:
    """Each place moved behind the white space that stands there."""
    for _ in range(_LONGEST_GAP):
        marks = text[places]
        spaces = (marks == 0x20) | ((marks <= 0x0D) & (marks >= 0x09))
        if not spaces.any():
            break
        places = places + spaces
    return places


def _batch(buffer: bytearray, part: Part, rows: Integers, base: int) -> pa.RecordBatch:
    """The texts, which share the buffer: the commas between them are blanked, not cut out."""
    text = np.frombuffer(buffer, np.uint8)
    text[part.commas] = ord(" ")
    bounds = np.append(part.starts, part.ends[-1]).astype(np.int32)
    texts = pa.StringArray.from_buffers(len(rows), pa.py_buffer(bounds), pa.py_buffer(buffer))
    return pa.RecordBatch.from_arrays(
        [_integers(rows), _integers(part.starts + base), texts], schema=SCHEMA
    )


def _batch_without(
    buffer: bytearray, part: Part, rows: Integers, base: int, sound: npt.NDArray[np.bool_]
) -> pa.RecordBatch:
    """The same, without the elements that are not sound."""
    view = memoryview(buffer)
    spans = zip(part.starts[sound].tolist(), part.ends[sound].tolist(), strict=True)
    texts = pa.array([str(view[start:end], "utf-8") for start, end in spans], pa.string())
    places = part.starts[sound] + base
    return pa.RecordBatch.from_arrays(
        [_integers(rows[sound]), _integers(places), texts], schema=SCHEMA
    )


def _integers(values: Integers) -> pa.Array:
    """Without ``pa.array``, which imports pandas for the first NumPy array that it meets."""
    return pa.Array.from_buffers(
        pa.int64(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))]
    )


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


class _Source:
    """A file, part after part. ``carry``: bytes that were read and are still to come; ``at``:
    where they stand in the file; ``ended``: nothing stands behind them.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.at = 0
        self.ended = False
        head = bytearray(PART)
        top = self._read_into(memoryview(head))
        self.carry = bytes(memoryview(head)[:top])

    def skip(self, number: int) -> None:
        """Go on behind some bytes of :attr:`carry`."""
        self.carry = self.carry[number:]
        self.at += number

    def fill(self) -> tuple[bytearray, int]:
        """A buffer with a bracket, then the carried bytes, then further ones; where they end.

        Twice as much each time that the carried bytes held no end of an event.
        """
        kept = 1 + len(self.carry)
        buffer = bytearray(kept + (0 if self.ended else max(PART, kept)) + 1)
        buffer[0] = ord("[")
        buffer[1:kept] = self.carry
        top = kept
        if not self.ended:
            top += self._read_into(memoryview(buffer)[kept:-1])
        return buffer, top

    def keep(self, buffer: bytearray, start: int, top: int) -> None:
        """Carry the bytes of a buffer from some place on; its first byte is no part of the file."""
        self.at += start - 1
        self.carry = bytes(memoryview(buffer)[start:top])

    def rest(self) -> bytes:
        """What remains of the file, up to the longest value."""
        return self.carry + (b"" if self.ended else self._file.read(MAX_EVENT))

    def _read_into(self, target: memoryview) -> int:
        """Fill the target as far as the file goes; the bytes that came."""
        done = 0
        while done < len(target):
            number = self._file.readinto(target[done:])  # type: ignore[attr-defined]  # unbuffered
            if not number:
                self.ended = True
                break
            done += number
        return done
