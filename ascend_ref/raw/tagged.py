"""The files of ``FRAMEWORK``: records of a fixed part and texts, each with tag and length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ascend_spec.raw.records import TLV_HEAD_SIZE, FrameworkRecord

from .damage import Damage

LONGEST = 1 << 24
"""Bytes of one record; real ones have some hundred."""


@dataclass(frozen=True, slots=True)
class TaggedRecord:
    """One record: the bytes of its fixed part, and its texts by their tag."""

    offset: int
    fixed: bytes
    texts: dict[int, bytes]


def read_tagged(
    path: Path, record: FrameworkRecord, damage: list[Damage]
) -> Iterator[TaggedRecord]:
    """The records of a file, read one by one.

    A record that cannot be read ends the file: where the next begins follows from its length alone.
    """
    try:
        with path.open("rb") as file:
            yield from _records(file, path, record, damage)
    except OSError as error:
        damage.append(Damage(path, error.strerror or str(error)))


def _records(
    file: BinaryIO, path: Path, record: FrameworkRecord, damage: list[Damage]
) -> Iterator[TaggedRecord]:
    size: int = record.fixed.sizeof()
    offset = 0
    while True:
        if record.tag is None:
            head, content = b"", file.read(size)
            length = size
        else:
            head = file.read(TLV_HEAD_SIZE)
            length = int.from_bytes(head[2:], "little")
            tag = int.from_bytes(head[:2], "little")
            if len(head) == TLV_HEAD_SIZE and tag != record.tag:
                damage.append(Damage(path, f"tag {tag}; expected {record.tag}", offset))
                return
            if length > LONGEST:
                damage.append(Damage(path, f"a record of {length:,} bytes", offset))
                return
            content = file.read(length) if len(head) == TLV_HEAD_SIZE else b""
        if not head and not content:
            return
        if len(content) < max(length, size) or len(head) < (TLV_HEAD_SIZE if record.tag else 0):
            have = len(head) + len(content)
            damage.append(Damage(path, f"the last {have:,} bytes are no whole record", offset))
            return
        texts = _texts(content[size:], path, offset + len(head) + size, damage)
        yield TaggedRecord(offset, content[:size], texts)
        offset += len(head) + length


def _texts(content: bytes, path: Path, offset: int, damage: list[Damage]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at < len(content):
        tag = int.from_bytes(content[at : at + 2], "little")
        length = int.from_bytes(content[at + 2 : at + TLV_HEAD_SIZE], "little")
        end = at + TLV_HEAD_SIZE + length
        if at + TLV_HEAD_SIZE > len(content) or end > len(content):
            text = f"a text of {length:,} bytes does not fit into its record"
            damage.append(Damage(path, text, offset + at))
            break
        found[tag] = content[at + TLV_HEAD_SIZE : end]
        at = end
    return found
