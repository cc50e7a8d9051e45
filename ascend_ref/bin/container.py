"""Reading the framing of ``visualize_data.bin``: where the blocks lie, and what is damaged.

Only headers are touched; payloads are views into the mapped file. Layout and the consumers'
reading: bin-blocks.md 1.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from ascend_ref.db.display import show_path
from ascend_spec import bin_catalog
from ascend_spec.bin import ALIGNMENT, FILLER, HEADER, LEGACY_VERSION, PATH_SECTION_SIZE, PATH_TYPE
from ascend_spec.core.packed import struct_of

MAX_BLOCKS = 200_000
"""Blocks read of one file; real ones hold up to a few thousand (one 0x01 per source line)."""

MAX_GUESSES = 1_000_000
"""Places of one file that are tried for a next header where one was lost."""

_HEADER = struct_of(HEADER)
_MARK = bytes((LEGACY_VERSION, FILLER))


class Unreadable(Exception):
    """Not a block file at all, or one that cannot be opened; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One block as its header describes it. Offsets and sizes are bytes.

    ``payload_size``: how many of the ``content_size - padding`` bytes the file really holds;
    ``stop``: the byte after the part of the block that the file holds.
    """

    ordinal: int
    offset: int
    type: int
    version: int
    filler: int
    padding: int
    content_size: int
    payload_offset: int
    payload_size: int
    stop: int

    @property
    def end(self) -> int:
        """The byte after the block, as its header claims."""
        return self.payload_offset + self.content_size


@dataclass(frozen=True, slots=True)
class Damage:
    """Framing that cannot be followed at byte ``offset``; ``code`` names the kind."""

    code: str
    offset: int
    message: str
    context: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BinFile:
    """A mapped file: its blocks in order, and what is wrong with the framing."""

    label: str
    view: memoryview
    entries: tuple[Entry, ...]
    damage: tuple[Damage, ...]

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.view)

    def payload(self, entry: Entry) -> memoryview:
        """The bytes of a payload that are in the file, without padding."""
        return self.view[entry.payload_offset : entry.payload_offset + entry.payload_size]

    def pad(self, entry: Entry) -> bytes:
        """The padding bytes that are in the file."""
        start = entry.payload_offset + entry.payload_size
        return bytes(self.view[start : entry.stop])

    def path_section(self, entry: Entry) -> bytes:
        """The bytes between header and payload: 4096 for type 0x01, else none."""
        return bytes(self.view[entry.offset + _HEADER.size : entry.payload_offset])

    def path(self, entry: Entry) -> bytes:
        """The path of a source block, up to the first NUL."""
        return self.path_section(entry).split(b"\0", 1)[0]


@contextmanager
def open_file(path: Path | str) -> Iterator[BinFile]:
    """Map a file and walk its headers. Raises :class:`Unreadable`, never for mere damage."""
    place = Path(path)
    label = show_path(place)
    try:
        descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_BINARY", 0) | _NO_WAIT)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"{label}: {reason}; expected a readable file") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable(f"{label}: not a regular file; expected a visualize_data.bin")
        if os.fstat(descriptor).st_size < _HEADER.size:
            raise Unreadable(
                f"{label}: shorter than a block header of {_HEADER.size} bytes; "
                "expected a visualize_data.bin"
            )
        mapped = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        view = memoryview(mapped)
        file = _walk(view, label, _header_reader(view, descriptor))
    finally:
        os.close(descriptor)
    try:
        yield file
    finally:
        # Arrays of records may still look into the map; it then lives as long as they do.
        with suppress(BufferError):
            view.release()
            mapped.close()


_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""A pipe without a writer must not be waited for."""


def mapped(path: Path) -> memoryview:
    """The bytes of a file; the map lives as long as somebody looks into it. Raises ``OSError``."""
    if not path.stat().st_size:  # which cannot be mapped
        return memoryview(b"")
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def read_blocks(content: bytes | memoryview, label: str) -> BinFile:
    """Walk the headers of a file in memory. Raises :class:`Unreadable` if it cannot be one."""
    view = memoryview(content)
    return _walk(view, label, _header_reader(view))


HeaderReader: TypeAlias = Callable[[int], bytes | memoryview]
"""The 12 bytes at an offset."""


def _header_reader(view: memoryview, descriptor: int | None = None) -> HeaderReader:
    """Through the descriptor where one is: the map would load pages around each header."""
    size = _HEADER.size
    if descriptor is None or not hasattr(os, "pread"):
        return lambda offset: view[offset : offset + size]
    return lambda offset: os.pread(descriptor, size, offset)


def _walk(view: memoryview, label: str, header_at: HeaderReader) -> BinFile:
    first = _entry(view, 0, 0, view[: _HEADER.size]) if len(view) >= _HEADER.size else None
    if first is None or not (first.filler == FILLER or _is_plausible(view, first)):
        raise Unreadable(f"{label}: byte 11 is not 0x5A; expected a visualize_data.bin")
    search = _Search(view)
    entries: list[Entry] = []
    damage: list[Damage] = []
    offset = 0
    while offset < len(view):
        left = len(view) - offset
        if len(entries) == MAX_BLOCKS:
            what = f"more than {MAX_BLOCKS:,} blocks; the rest is not read"
            damage.append(Damage("too-many-blocks", offset, what))
            break
        if left < _HEADER.size:
            what = f"{left} bytes follow the last block, less than a header"
            damage.append(Damage("trailing-bytes", offset, what, {"bytes": left}))
            break
        entry = _entry(view, offset, len(entries), header_at(offset))
        if entries and not _is_plausible(view, entry):
            entries[-1], offset = _resume(search, entries[-1], damage)
            continue
        if entry.padding > entry.content_size:
            what = f"padding {entry.padding} exceeds contentSize {entry.content_size}"
            damage.append(Damage("padding-exceeds-content", offset, what))
        if entry.end > len(view):
            entry = _cut(search, entry, damage)
        entries.append(entry)
        offset = entry.stop
    return BinFile(label, view, tuple(entries), tuple(damage))


def _entry(view: memoryview, offset: int, ordinal: int, header: bytes | memoryview) -> Entry:
    size, kind, padding, version, filler = _HEADER.unpack(header)
    start = min(_payload_offset(offset, kind), len(view))
    there = min(max(size - padding, 0), len(view) - start)
    stop = min(start + size, len(view))
    return Entry(ordinal, offset, kind, version, filler, padding, size, start, there, stop)


def _payload_offset(offset: int, kind: int) -> int:
    return offset + _HEADER.size + (PATH_SECTION_SIZE if kind == PATH_TYPE else 0)


def _is_plausible(view: memoryview, entry: Entry) -> bool:
    """Whether this can be a header: marked as one, or a known type whose block fits the file."""
    if entry.filler == FILLER and entry.version in (FILLER, 0):
        return True
    return entry.type in bin_catalog().blocks and entry.end <= len(view)


class _Search:
    """Looks for the next header where one was lost, at :data:`MAX_GUESSES` places in all."""

    def __init__(self, view: memoryview) -> None:
        self.view = view
        self._guesses = MAX_GUESSES

    def next_header(self, start: int) -> int:
        """Where the next sound header stands from ``start`` on, or the end of the file."""
        for place in islice(self._marks(start), self._guesses):
            self._guesses -= 1
            if self._is_sound(place):
                return place
        return len(self.view)

    def _marks(self, start: int) -> Iterator[int]:
        """Offsets of aligned headers that end in the mark 5A 5A, from ``start`` on."""
        ahead = _HEADER.size - len(_MARK)
        at = self._content.find(_MARK, start + ahead)
        while at >= 0:
            if (at - ahead) % ALIGNMENT == 0:
                yield at - ahead
            at = self._content.find(_MARK, at + 1)

    @cached_property
    def _content(self) -> bytes | mmap.mmap:
        base = self.view.obj
        if isinstance(base, (bytes, mmap.mmap)) and len(base) == len(self.view):
            return base
        return bytes(self.view)

    def _is_sound(self, place: int) -> bool:
        size, kind, padding, _, _ = _HEADER.unpack_from(self.view, place)
        return (
            kind in bin_catalog().blocks
            and padding < ALIGNMENT
            and size % ALIGNMENT == 0
            and 0 < size <= len(self.view) - _payload_offset(place, kind)
        )


def _cut(search: _Search, entry: Entry, damage: list[Damage]) -> Entry:
    """A block that claims more than there is, cut where the next one or the file's end is."""
    there = len(search.view) - entry.payload_offset
    if _payload_offset(entry.offset, entry.type) > len(search.view):
        what = f"the file ends within the path section of {PATH_SECTION_SIZE} bytes"
        damage.append(Damage("path-section-truncated", entry.offset, what))
        return entry
    what = f"contentSize {entry.content_size:,} exceeds the {there:,} bytes left in the file"
    context = {"contentSize": entry.content_size, "left": there}
    damage.append(Damage("content-exceeds-file", entry.offset, what, context))
    stop = search.next_header(entry.payload_offset)
    there = min(entry.payload_size, stop - entry.payload_offset)
    return replace(entry, payload_size=there, stop=stop)


def _resume(search: _Search, last: Entry, damage: list[Damage]) -> tuple[Entry, int]:
    """Report that no block follows the last one; where the next one stands, or the end of the file.

    It may stand inside the last one, whose contentSize is the liar then.
    """
    found = search.next_header(last.payload_offset)
    what = "no block header where one should be"
    if found < last.stop:
        what = f"{what}; one stands at byte {found:,}, within the block before"
        size = min(last.payload_size, found - last.payload_offset)
        cut = replace(last, payload_size=size, stop=found)
    else:
        what = f"{what}; {found - last.stop:,} bytes are skipped"
        cut = last
    damage.append(Damage("lost-header", last.stop, what, {"next": found}))
    return cut, found
