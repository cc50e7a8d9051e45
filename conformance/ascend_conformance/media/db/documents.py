"""The JSON documents about a capture that lie next to a database."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ascend_ref.bin import MalformedPayload, parse
from ascend_ref.db.display import show_path
from ascend_ref.db.header import READ_FLAGS
from ascend_ref.json_damage import find_damage, wide_text
from ascend_ref.json_keys import ObjectReader
from ascend_ref.json_place import place_of
from ascend_spec.core.pointer import pointer_of

MOST_BYTES = 8 << 20
"""Of a document that is read; real ones have some 1,200 bytes."""


@dataclass(frozen=True, slots=True)
class SideDocument:
    """A document: its object, if it is one, and in words what is wrong with its text."""

    label: str
    value: dict[str, Any] | None
    fault: str | None = None


def read_document(path: Path) -> SideDocument:
    """Read a document; whatever is in its place, this neither waits nor fails."""
    label = show_path(path)
    try:
        text = _read(path)
    except OSError as problem:
        return SideDocument(label, None, problem.strerror or str(problem))
    if len(text) > MOST_BYTES:
        return SideDocument(label, None, f"more than {MOST_BYTES:,} bytes")
    reader = ObjectReader()
    try:
        value = parse(text, reader)
    except MalformedPayload as problem:
        damage = wide_text(text) or find_damage(text)
        offset = damage.offset if damage else problem.offset
        reason = damage.reason if damage else problem.reason
        return SideDocument(label, None, f"no JSON: {reason} ({_place(text, offset)})")
    if not isinstance(value, dict):
        return SideDocument(label, None, "no JSON object")
    twice = next(reader.doubled_keys(value), None)
    if twice is None:
        return SideDocument(label, value)
    place = _place(text, place_of(text, pointer_of(twice)))
    return SideDocument(label, value, f"the key {twice[-1]!r} stands more than once ({place})")


def _place(text: bytes, offset: int) -> str:
    line = text.count(b"\n", 0, offset) + 1
    return f"line {line:,}, byte {offset:,}"


def _read(path: Path) -> bytes:
    """The start of a regular file; opening a FIFO would wait for ever, a device never ends."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("no regular file")
    with open(os.open(path, READ_FLAGS), "rb") as file:
        return file.read(MOST_BYTES + 1)
