"""The blocks of a file as the viewer indexes them (bin-blocks.md 1.5).

:mod:`ascend_ref.bin` reads on after damage. The viewer does not: it follows sizes blindly, stops
at the first impossible one, and then shows the details of what came before, but no hot spots and
no timeline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from ascend_ref.bin import MalformedPayload, parse
from ascend_ref.bin.container import MAX_BLOCKS
from ascend_spec.bin import (
    FILLER,
    HEADER,
    LEGACY_VERSION,
    PATH_SECTION_SIZE,
    PATH_TYPE,
    VERSIONED_TYPE,
)
from ascend_spec.core.packed import struct_of

from .values import parse_texts

TEXT_LIMIT = 100 << 20
"""Bytes of a payload that the viewer reads; a longer one reads as empty."""

RAW_INSTRUCTIONS_LIMIT = 200 << 20
"""The same for block 0x04 in ``source/api/instructions``."""

KEPT_BYTES = 16 << 20
"""Payloads whose parsed form is kept for the next request, together."""

TIMELINE_TYPE = 0x02

_HEADER = struct_of(HEADER)
_SIZE_BYTES = 8
_VERSION_AT = 10
"""Byte of a header from which on the viewer looks at it for one type alone."""


class Blocks:
    """The blocks of one file, by type, and their contents as the viewer reads them.

    A range is the bytes of the file that headers claim for a content.

    ``accepted``: whether the first header makes the viewer take the file at all. ``complete``:
    whether the headers led to the end of the file; if not, hot spots and timeline stay unread.
    """

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._spans: dict[int, list[range]] = {}
        self._versions: list[int] = []
        self.complete = self._walk()
        self._kept: dict[tuple[int, str], Any] = {}
        self._kept_bytes = 0

    @property
    def accepted(self) -> bool:
        """Whether the first header has a size and the mark 5A 5A."""
        size, _, _, version, filler = _HEADER.unpack_from(self._view, 0)
        return size != 0 and (version, filler) == (LEGACY_VERSION, FILLER)

    @property
    def instruction_version(self) -> int:
        """The version byte of the last 0x04, or what it would be as filler."""
        return self._versions[-1] if self._versions else LEGACY_VERSION

    def __contains__(self, code: int) -> bool:
        return code in self._spans

    def _walk(self) -> bool:
        at, seen, size = 0, 0, len(self._view)
        while at < size and seen < MAX_BLOCKS:
            header = bytes(self._view[at : at + _HEADER.size])
            if len(header) < _VERSION_AT:
                claimed = int.from_bytes(header[:_SIZE_BYTES], "little")
                return len(header) < _SIZE_BYTES or claimed <= size
            content, code, padding, version, _ = _HEADER.unpack(header.ljust(_HEADER.size, b"\0"))
            if content > size or (code == VERSIONED_TYPE and len(header) == _VERSION_AT):
                return False
            start = at + _HEADER.size
            stop = start + content + (PATH_SECTION_SIZE if code == PATH_TYPE else 0)
            if code == VERSIONED_TYPE:
                self._versions.append(version)
            if stop - padding <= start:
                return False
            self._spans.setdefault(code, []).append(range(start, stop - padding))
            at, seen = stop, seen + 1
        return True

    @cached_property
    def sources(self) -> Mapping[str, range]:
        """Path to text of the source blocks; of several with one path the last.

        What is no UTF-8 in a path is replaced, so that a client can ask for it.
        """
        found: dict[bytes, range] = {}
        for span in self._hot_spots(PATH_TYPE):
            text = span.start + PATH_SECTION_SIZE
            if text > len(self._view):
                break
            path = bytes(self._view[span.start : text]).split(b"\0", 1)[0]
            found[path] = range(text, span.stop)
        return {path.decode("utf-8", "replace"): found[path] for path in sorted(found)}

    def source_text(self, path: str) -> str:
        """The text of a source block; empty without one of that path."""
        span = self.sources.get(path)
        return bytes(self._content(span)).decode("utf-8", "replace") if span else ""

    def raw_instructions(self) -> str:
        """Block 0x04 as text; empty without one."""
        spans = self._hot_spots(VERSIONED_TYPE)
        content = self._content(spans[0], RAW_INSTRUCTIONS_LIMIT) if spans else b""
        return bytes(content).decode("utf-8", "replace")

    def hot_spots(self, code: int) -> Any:
        """The first block of a type, numbers as numbers; ``None`` where there is none to read.

        Also ``None`` for all of them where the headers of the file do not lead to its end.
        """
        return self._document(code, self._hot_spots(code), parse)

    def native(self, code: int) -> Any:
        """The first block of a type, numbers as numbers; ``None`` where there is none to read."""
        return self._document(code, self._spans.get(code, []), parse)

    def details(self, code: int) -> Any:
        """The first block of a type, numbers as text; ``None`` where there is none to read."""
        return self._document(code, self._spans.get(code, []), parse_texts)

    def is_empty(self, code: int) -> bool:
        """Whether the first block of a type has no content to the viewer, or there is none."""
        spans = self._spans.get(code)
        return not spans or not self._content(spans[0])

    def timelines(self) -> list[memoryview]:
        """The payloads of all blocks 0x02; none where the headers do not lead to the end."""
        return [self._view[span.start : span.stop] for span in self._hot_spots(TIMELINE_TYPE)]

    def _hot_spots(self, code: int) -> list[range]:
        return self._spans.get(code, []) if self.complete else []

    def _content(self, span: range, limit: int | None = None) -> memoryview | bytes:
        if span.stop > len(self._view) or not 0 < len(span) <= (limit or TEXT_LIMIT):
            return b""
        return self._view[span.start : span.stop]

    def _document(
        self, code: int, spans: list[range], read: Callable[[bytes | memoryview], Any]
    ) -> Any:
        content = self._content(spans[0]) if spans else b""
        if not content:
            return None
        key = code, read.__name__
        if key in self._kept:
            return self._kept[key]
        try:
            document = read(content)
        except MalformedPayload:
            return None
        if self._kept_bytes + len(content) > KEPT_BYTES:
            self._kept.clear()
            self._kept_bytes = 0
        if len(content) <= KEPT_BYTES:
            self._kept[key] = document
            self._kept_bytes += len(content)
        return document
