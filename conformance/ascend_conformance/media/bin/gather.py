"""From a file to facts: its framing, its source texts, its payloads, each read once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Protocol

import numpy as np

from ascend_ref.bin import BinFile, Entry, MalformedPayload, canonical, parse
from ascend_ref.bin.canonical import decode
from ascend_ref.bin.records import read_cache_records, read_memory_trace
from ascend_ref.json_keys import ObjectReader
from ascend_ref.tools.serve.blocks import TEXT_LIMIT
from ascend_ref.tools.serve.params import refusal
from ascend_spec import bin_catalog

from ...engine.progress import Progress
from .facts import Facts
from .flatten import SqlValue, as_kind, as_number, bounded
from .timeline import add_timeline

COMPARED = 16 << 20
"""Bytes up to which a payload is compared with the producer's own spelling."""

TIMELINE = 0x02


class Observer(Protocol):
    """Receives every value that a schema describes."""

    def see_payload(self, entry: Entry, value: Any) -> None:
        """A whole payload; of a timeline, without its events."""

    def see_event(self, entry: Entry, value: Any) -> None:
        """One event of a timeline."""


def gather(
    file: BinFile, facts: Facts, observer: Observer, progress: Progress | None = None
) -> None:
    """Fill the facts from a file, and show its payloads to the observer.

    ``progress`` is called before each block with the number of bytes done, that of all bytes, and
    the name of the block.
    """
    facts.add("block", _blocks(file))
    facts.add("damage", _damage(file))
    taken: set[int] = set()
    for entry in file.entries:
        known = bin_catalog().blocks.get(entry.type)
        if known is None or not (known.many or entry.type not in taken):
            continue
        taken.add(entry.type)
        if progress:
            progress(entry.offset, file.size, known.name)
        if known.payload == "source":
            facts.add("source_block", [_source_block(file, entry)])
        if known.payload != "none":
            facts.add("payload", [_payload(file, entry, facts, observer)])


def _blocks(file: BinFile) -> Iterator[Sequence[SqlValue]]:
    seen: set[int] = set()
    for entry in file.entries:
        known = bin_catalog().blocks.get(entry.type)
        yield (
            *(entry.ordinal, entry.type, None, entry.offset),
            *(as_number(entry.content_size), entry.padding, entry.version, entry.filler),
            file.size - entry.payload_offset,
            entry.payload_size,
            sum(byte != 0 for byte in file.pad(entry)),
            int(known is not None),
            int(known is not None and known.many),
            int(entry.type not in seen),
        )
        seen.add(entry.type)


def _damage(file: BinFile) -> Iterator[Sequence[SqlValue]]:
    at = {entry.offset: entry for entry in file.entries}
    for damage in file.damage:
        entry = at.get(damage.offset)
        where = (entry.ordinal, entry.type) if entry else (None, None)
        yield *where, None, damage.offset, damage.code, damage.message


def _source_block(file: BinFile, entry: Entry) -> Sequence[SqlValue]:
    section = file.path_section(entry)
    path, end, after = section.partition(b"\0")
    text = file.payload(entry)
    asked = path.decode("utf-8", "surrogateescape")
    askable = refusal("source/code/file", {"sourceName": asked}) is None
    return (
        *(entry.ordinal, entry.type, None, entry.offset),
        bounded(path.decode("utf-8", "backslashreplace")),
        len(path),
        int(bool(end)),
        len(after) - after.count(b"\0"),
        int(askable),
        sha256(text).hexdigest(),
        len(text),
    )


def _payload(file: BinFile, entry: Entry, facts: Facts, observer: Observer) -> Sequence[SqlValue]:
    """Read one payload into the facts; its row of the table ``payload``."""
    at, size, form = entry.payload_offset, entry.payload_size, _form(entry)
    state, reason, kind, duplicate, differs_at = "sound", None, None, None, None
    if size < entry.content_size - entry.padding:
        state = "cut"
    elif size == 0:
        state = "empty"
    elif form in {"json", "source"} and entry.type != TIMELINE and size > TEXT_LIMIT:
        state = "too-large"
    else:
        content = file.payload(entry)
        try:
            kind = _read(content, entry, facts, observer)
            if form == "json" and size <= COMPARED:
                duplicate, differs_at = _spelling(content, at)
        except MalformedPayload as problem:
            state, reason, at = "malformed", problem.reason, at + problem.offset
    return entry.ordinal, entry.type, None, at, state, reason, kind, size, differs_at, duplicate


def _form(entry: Entry) -> str:
    return bin_catalog().blocks[entry.type].payload


def _read(content: memoryview, entry: Entry, facts: Facts, observer: Observer) -> str | None:
    """Facts of a payload; its kind of value. Raises :class:`MalformedPayload`."""
    form = _form(entry)
    if form == "source":
        decode(bytes(content))
        return "text"
    if form == "cache-records":
        read_cache_records(content)
        return "records"
    if form == "trace-records":
        stacks = read_memory_trace(content).call_stacks
        try:
            value = parse(stacks)
        except MalformedPayload as problem:
            raise MalformedPayload(
                len(content) - len(stacks) + problem.offset, f"call stacks: {problem.reason}"
            ) from None
        observer.see_payload(entry, value)
        return "records"
    if entry.type != TIMELINE:
        value = parse(content)
        facts.add_payload(entry.ordinal, entry.type, value)
    elif not bytes(content[:1024]).lstrip().startswith(b"{"):
        value = parse(content)
    else:
        value = add_timeline(
            facts,
            entry.ordinal,
            entry.type,
            entry.payload_offset,
            content,
            lambda event: observer.see_event(entry, event),
        )
    observer.see_payload(entry, value)
    return as_kind(value)


def _spelling(content: memoryview, start: int) -> tuple[str | None, int | None]:
    """A key that stands twice in one object; the first byte that the producer would not write.

    The content begins at byte ``start`` of the file.
    """
    text = bytes(content)
    proper = canonical(parse(content))
    if proper == text:
        return None, None
    reader = ObjectReader()
    twice = next(reader.doubled_keys(json.loads(text, object_pairs_hook=reader)), None)
    return (None if twice is None else str(twice[-1])), start + _first_difference(proper, text)


def _first_difference(left: bytes, right: bytes) -> int:
    shared = min(len(left), len(right))
    one, other = (np.frombuffer(text, np.uint8, shared) for text in (left, right))
    differs = np.flatnonzero(one != other)
    return int(differs[0]) if len(differs) else shared
