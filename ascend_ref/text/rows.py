"""The rows of a CSV file: streamed, each with its line and byte, the broken ones set aside.

What a row is follows RFC 4180 with either line end: a cell is quoted as a whole or not at all, and
only a quoted one may hold a comma, a quote or a line break. A row that breaks this, or has another
number of cells than the header, is a fault of its own: reading goes on behind it.

Structure is found by vectors of the bytes ``,``, ``"`` and line feed; pyarrow then makes the cells
of rows that are known to be sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from .verbatim import protected, restored

PART = 4 << 20
"""Bytes read at a time."""

MAX_ROW = 16 << 20
"""Bytes of one row."""

MAX_COLUMNS = 20_000
"""Cells of a row that are read; documented files have 60."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16, in which spreadsheets save; without them half the bytes are zero."""

RowFault = Literal[
    "too-few-cells",
    "too-many-cells",
    "blank",
    "bad-quote",
    "lone-return",
    "not-utf8",
    "zero-byte",
    "too-long",
]
"""What is wrong with a row: its number of cells, nothing in it, a quote where none may be or one
that is not closed, a carriage return alone, bytes that are no UTF-8, a byte 0, more than
:data:`MAX_ROW`.
"""

TOO_FEW, TOO_MANY, BLANK, BAD_QUOTE, LONE_RETURN, NOT_UTF8, ZERO_BYTE, TOO_LONG = get_args(RowFault)

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_CELL = rb'(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+)'
_ROW = re.compile(_CELL + rb"(?:," + _CELL + rb")*+(?:\r?\n|\Z)")
_LINE = re.compile(rb"[^\n]*+(?:\n|\Z)")
_OPEN = re.compile(rb"(?:" + _CELL + rb',)*+"[^"]*+(?:""[^"]*+)*+\Z')
"""Cells, then one whose quote is not closed."""

LF, CR, COMMA, QUOTE = ord("\n"), ord("\r"), ord(","), ord('"')


class Place(NamedTuple):
    """Where a row stands: index among the data rows, line counted from 1, byte in the file."""

    row: int
    line: int
    offset: int


@dataclass(slots=True)
class RowFaults:
    """All rows with one kind of fault. ``first`` is the first of them, ``cells`` its cells."""

    fault: RowFault
    first: Place
    cells: int
    count: int = 0


@dataclass
class CsvRows:
    """The rows of one file. Everything but ``path`` is complete when all batches were taken.

    ``header``: the cells of the first row; ``header_damage``: what is wrong with that row.
    ``count``: rows below it, faulty ones included. ``line_feeds`` and ``returns`` count the line
    ends that are LF alone, and CRLF. ``marked``: the file begins with a byte order mark. ``faults``
    are the rows left out, ``skipped_from`` the byte behind which nothing was read. ``verbatim``:
    cells come with the quotes around them.
    """

    path: Path
    verbatim: bool = False
    header: tuple[str, ...] = ()
    header_damage: RowFault | None = None
    count: int = 0
    line_feeds: int = 0
    returns: int = 0
    marked: bool = False
    faults: dict[RowFault, RowFaults] = field(default_factory=dict)
    skipped_from: int | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The sound rows: columns ``row``, ``line``, ``offset`` (int64), then the cells as text.

        The cells' columns are named ``0``, ``1`` … in the order of the header. Nothing comes where
        there is no header. Raises ``OSError``.
        """
        with self.path.open("rb", buffering=0) as file:
            source = _Source(file)
            self.marked = source.buffer.startswith(BYTE_ORDER_MARK)
            source.take(len(BYTE_ORDER_MARK) if self.marked else 0)
            if source.buffer.startswith(WIDE_MARKS) or b"\0" in source.buffer[:2]:
                self.header_damage = NOT_UTF8
                return
            if not self._read_header(source):
                return
            while source.more() or source.buffer:
                if not source.buffer:
                    return
                part = _rows_of(source.buffer, source.ended)
                yield from self._batch(source, part)
                source.take(part.following)
                if not part.following and len(source.buffer) > MAX_ROW:
                    self._note(TOO_LONG, Place(self.count, source.line, source.at), 0, 1)
                    self.skipped_from = source.at
                    return

    def _read_header(self, source: _Source) -> bool:
        """Take the first row; false where there is none."""
        while (found := _ROW.match(source.buffer)) is None or found.end() == len(source.buffer):
            if len(source.buffer) > MAX_ROW or not source.more():
                break
        if found is None:
            self.header_damage = BAD_QUOTE
            found = _LINE.match(source.buffer)
        line = found.group() if found else b""
        if len(line) > MAX_ROW or line.count(b",") >= MAX_COLUMNS:
            self.header_damage = TOO_LONG
            return False
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            self.header_damage = NOT_UTF8
            text = line.decode("utf-8", "replace")
        if b"\0" in line:
            self.header_damage = ZERO_BYTE
        self._count_line_end(line)
        source.take(len(line))
        if line.strip():
            self.header = tuple(_cells(text.rstrip("\r\n")))
        return bool(self.header)

    def _count_line_end(self, line: bytes) -> None:
        self.returns += line.endswith(b"\r\n")
        self.line_feeds += line.endswith(b"\n") and not line.endswith(b"\r\n")

    def _batch(self, source: _Source, part: _Rows) -> Iterator[pa.RecordBatch]:
        count = len(part.starts)
        rows = np.arange(self.count, self.count + count, dtype=np.int64)
        places = rows, part.lines + source.line, part.starts + source.at
        self.count += count
        self.returns += part.returns
        self.line_feeds += part.line_feeds
        sound = self._judge(part, places)
        if sound.any():
            cells = _parsed(part, sound, len(self.header), self.verbatim)
            where = [_integers(values[sound]) for values in places]
            names = ["row", "line", "offset", *map(str, range(len(self.header)))]
            yield pa.RecordBatch.from_arrays([*where, *cells], names=names)

    def _judge(self, part: _Rows, places: Sequence[Integers]) -> Flags:
        """The rows without a fault; the others are noted."""
        wanted = len(self.header)
        sound = np.ones(len(part.starts), np.bool_)
        for fault, bad in (
            (BAD_QUOTE, part.bad_quotes),
            (LONE_RETURN, part.lone_returns),
            (NOT_UTF8, part.bad_texts),
            (ZERO_BYTE, part.zero_bytes),
            (BLANK, part.blank & (wanted > 1)),
            (TOO_FEW, part.cells < wanted),
            (TOO_MANY, part.cells > wanted),
        ):
            found = np.flatnonzero(bad & sound)
            if len(found):
                first = Place(*(int(values[found[0]]) for values in places))
                self._note(fault, first, int(part.cells[found[0]]), len(found))
                sound[found] = False
        return sound

    def _note(self, fault: RowFault, first: Place, cells: int, count: int) -> None:
        self.faults.setdefault(fault, RowFaults(fault, first, cells)).count += count


class _Rows(NamedTuple):
    """Rows that end in a buffer: bytes where they begin and end (behind the line end), line feeds
    before each, number of cells, and what is wrong with them. ``quoted``: the buffer has quotes.
    """

    buffer: bytes
    starts: Integers
    ends: Integers
    lines: Integers
    cells: Integers
    blank: Flags
    bad_quotes: Flags
    lone_returns: Flags
    bad_texts: Flags
    zero_bytes: Flags
    line_feeds: int
    returns: int
    quoted: bool

    @property
    def following(self) -> int:
        """The byte behind the last row."""
        return int(self.ends[-1]) if len(self.ends) else 0


def _rows_of(buffer: bytes, ended: bool) -> _Rows:
    """The rows that end in a buffer; of a file that has ended, also the last one without an end."""
    text = np.frombuffer(buffer, np.uint8)
    feeds = np.flatnonzero(text == LF)
    quotes = np.flatnonzero(text == QUOTE)
    ends = feeds[np.searchsorted(quotes, feeds) % 2 == 0] + 1
    if ended and (not len(ends) or ends[-1] < len(buffer)):
        ends = np.append(ends, len(buffer))
    bad = np.zeros(len(ends), np.bool_)
    half_end = not ended and buffer.endswith(b"\r")
    lone = buffer.count(b"\r") - buffer.count(b"\r\n") - half_end
    if lone or not _is_regular(text, quotes, ended) or (not len(ends) and len(buffer) > MAX_ROW):
        ends, bad = _walked(buffer[:-1] if half_end else buffer, ended)
    starts = np.append(0, ends[:-1])[: len(ends)]
    commas = np.flatnonzero(text == COMMA)
    owners = np.searchsorted(ends, commas, "right")
    commas, owners = commas[owners < len(ends)], owners[owners < len(ends)]
    before = np.searchsorted(quotes, commas) - np.searchsorted(quotes, starts)[owners]
    cells = np.bincount(owners[before % 2 == 0], minlength=len(ends)) + 1
    fed = text[ends - 1] == LF
    returned = fed & (ends - starts > 1) & (text[ends - 2] == CR)
    returning = _with_lone_return(buffer, starts, ends, bad)
    return _Rows(
        buffer,
        starts,
        ends,
        lines=np.searchsorted(feeds, starts),
        cells=cells,
        blank=ends - starts == fed.astype(np.int64) + returned,
        bad_quotes=bad & ~returning,
        lone_returns=returning,
        bad_texts=_not_utf8(buffer, starts, ends),
        zero_bytes=_with_zero_byte(text, ends),
        line_feeds=int(np.sum(fed & ~returned)),
        returns=int(returned.sum()),
        quoted=len(quotes) > 0,
    )


def _is_regular(text: npt.NDArray[np.uint8], quotes: Integers, ended: bool) -> bool:
    """Whether each quote opens or closes a cell, or is one of two that stand for one."""
    opening, closing = quotes[0::2], quotes[1::2]
    if len(opening) > len(closing):
        if ended:
            return False
        opening = opening[: len(closing)]
    if not len(opening):
        return True
    before = text[opening - 1]
    fits_before = (before == COMMA) | (before == LF) | (opening == 0)
    fits_before[1:] |= opening[1:] == closing[:-1] + 1
    behind = text[np.minimum(closing + 1, len(text) - 1)]
    fits_behind = (behind == COMMA) | (behind == LF) | (behind == CR) | (closing == len(text) - 1)
    fits_behind[:-1] |= closing[:-1] + 1 == opening[1:]
    fits_behind[-1] |= not ended and quotes[-1] == closing[-1] + 1
    return bool(fits_before.all() and fits_behind.all())


def _walked(buffer: bytes, ended: bool) -> tuple[Integers, Flags]:
    """Where the rows end, row by row, and which of them are broken; those end with their line."""
    ends: list[int] = []
    bad: list[bool] = []
    at = 0
    while at < len(buffer):
        found = _ROW.match(buffer, at)
        sound = found is not None
        if found is None:
            if not ended and len(buffer) - at <= MAX_ROW and _OPEN.match(buffer, at):
                break
            found = _LINE.match(buffer, at)
        end = found.end() if found else len(buffer)
        if end == len(buffer) and buffer[-1] != LF and not ended:
            break
        ends.append(end)
        bad.append(not sound)
        at = end
    return np.array(ends, np.int64), np.array(bad, np.bool_)


def _with_lone_return(buffer: bytes, starts: Integers, ends: Integers, bad: Flags) -> Flags:
    """The broken rows that hold a carriage return which belongs to no line end."""
    found = np.zeros(len(ends), np.bool_)
    for place in np.flatnonzero(bad).tolist():
        line = buffer[int(starts[place]) : int(ends[place])]
        found[place] = line.count(b"\r") > line.endswith(b"\r\n")
    return found


def _not_utf8(buffer: bytes, starts: Integers, ends: Integers) -> Flags:
    """The rows with bytes that are no UTF-8."""
    found = np.zeros(len(ends), np.bool_)
    whole = buffer[: int(ends[-1])] if len(ends) else b""
    if whole.isascii() or _is_utf8(whole):
        return found
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        found[place] = not _is_utf8(buffer[start:end])
    return found


def _with_zero_byte(text: npt.NDArray[np.uint8], ends: Integers) -> Flags:
    found = np.zeros(len(ends) + 1, np.bool_)
    if not text.all():
        found[np.searchsorted(ends, np.flatnonzero(text == 0), "right")] = True
    return found[:-1]


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _parsed(part: _Rows, sound: Flags, columns: int, verbatim: bool) -> list[pa.Array]:
    """The cells of the sound rows, column by column."""
    names = [str(place) for place in range(columns)]
    stand_ins: dict[str, str] = {}
    text = pa.py_buffer(part.buffer).slice(0, part.following)
    if not sound.all():
        spans = zip(part.starts[sound].tolist(), part.ends[sound].tolist(), strict=True)
        text = pa.py_buffer(b"".join(part.buffer[start:end] for start, end in spans))
    if verbatim and part.quoted:
        content, stand_ins = protected(text.to_pybytes())
        text = pa.py_buffer(content)
    table = csv.read_csv(
        text,
        csv.ReadOptions(use_threads=False, block_size=text.size + 1, column_names=names),
        csv.ParseOptions(newlines_in_values=part.quoted, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
    return restored([column.combine_chunks() for column in table.columns], stand_ins)


def _cells(line: str) -> list[str]:
    """The cells of a line; quotes that do not fit stay where they are."""
    cells = _HEADER_CELL.findall(line)
    return [
        cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell
        for cell in cells
    ]


_HEADER_CELL = re.compile(r'(?:^|(?<=,))("[^"]*+(?:""[^"]*+)*+"(?=,|$)|[^,]*)')


def _integers(values: Integers) -> pa.Array:
    """Without ``pa.array``, which imports pandas for the first NumPy array that it meets."""
    return pa.Array.from_buffers(
        pa.int64(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values, np.int64))]
    )


class _Source:
    """A file, part after part. ``buffer``: bytes that are still to be taken; ``at`` and ``line``:
    where they begin in the file; ``ended``: nothing stands behind them.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.buffer = b""
        self.at = 0
        self.line = 1
        self.ended = False
        self.more()

    def take(self, number: int) -> None:
        """Go on behind some bytes of the buffer."""
        self.line += self.buffer.count(b"\n", 0, number)
        self.buffer = self.buffer[number:]
        self.at += number

    def more(self) -> bool:
        """Read further bytes, at least as many as there are; false at the end of the file."""
        if self.ended:
            return False
        wanted = max(PART, len(self.buffer))
        parts = [self.buffer]
        while wanted > 0 and not self.ended:
            part = self._file.read(wanted)
            self.ended = not part
            wanted -= len(part)
            parts.append(part)
        self.buffer = b"".join(parts)
        return True
