"""From a file to facts: its framing, its source texts, its payloads, each read once.

The events of a timeline (0x02) stream by. The viewer does not parse that payload: it searches a few
texts and counts braces (bin-blocks.md 1.5). What such a reader sees is a fact here, too.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from ascend_ref.bin import BinFile, Entry, MalformedPayload, canonical, iterate_events, parse
from ascend_ref.bin.canonical import MAX_BYTES, decode
from ascend_ref.bin.records import read_cache_records, read_memory_trace
from ascend_ref.json_keys import ObjectReader
from ascend_ref.tools.serve.blocks import TEXT_LIMIT
from ascend_ref.tools.serve.schemas import refusal
from ascend_spec import bin_catalog

from ...engine.progress import Progress
from ...engine.sqlite_facts import SqlValue
from .facts import Facts
from .flatten import as_address, as_kind, as_number, as_text, bounded
from .structure import Structure
from .wrapped import counted_on

COMPARED = 16 << 20
"""Bytes up to which a payload is compared with the producer's own spelling."""

TIMELINE = 0x02
EVENTS = "traceEvents"
KEY = b'"traceEvents"'
PHASE = b'"ph"'
SEARCHED = 1 << 20
"""Bytes in which the viewer searches the last phase, from the end of the payload."""

NAMED_PHASES = frozenset("BEMC")
PAIRED_PHASES = frozenset("BEst")
FETCHED = "CACHEMISS"
"""The lane of instructions that were fetched; not all of them run."""

BATCH = 20_000

_BRACE = re.compile(rb"[{}]")


def gather(
    file: BinFile, facts: Facts, structure: Structure, progress: Progress | None = None
) -> None:
    """Fill the facts from a file, and show its payloads to the structural half.

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
            facts.add("payload", [_payload(file, entry, facts, structure)])


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
        len(bytes(text).splitlines()),
    )


def _payload(file: BinFile, entry: Entry, facts: Facts, structure: Structure) -> Sequence[SqlValue]:
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
            kind = _read(content, entry, facts, structure)
            if form == "json" and size <= COMPARED:
                duplicate, differs_at = _spelling(content, at)
        except MalformedPayload as problem:
            state, reason, at = "malformed", problem.reason, at + problem.offset
    return entry.ordinal, entry.type, None, at, state, reason, kind, size, differs_at, duplicate


def _form(entry: Entry) -> str:
    return bin_catalog().blocks[entry.type].payload


def _read(content: memoryview, entry: Entry, facts: Facts, structure: Structure) -> str | None:
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
        structure.see_payload(entry, value)
        return "records"
    if entry.type != TIMELINE:
        value = parse(content)
        facts.add_payload(entry.ordinal, entry.type, counted_on(entry.type, value))
    elif not bytes(content[:1024]).lstrip().startswith(b"{"):
        value = parse(content)
    else:
        value = _add_timeline(
            facts,
            entry.ordinal,
            entry.type,
            entry.payload_offset,
            content,
            lambda event: structure.see_event(entry, event),
        )
    structure.see_payload(entry, value)
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


def _add_timeline(
    facts: Facts,
    block: int,
    code: int,
    start: int,
    payload: memoryview,
    see: Callable[[Any], None],
) -> dict[str, Any]:
    """Stream the events of a payload that begins at byte ``start`` of the file into the facts.

    ``see`` gets each event. Returns the top level with one ``None`` in the place of the events.
    Raises ``MalformedPayload`` where the text is no JSON.
    """
    first = last = None
    count = 0
    rows = _Rows(facts, block, code)
    for offset, event in iterate_events(payload):
        first = offset if first is None else first
        last = offset
        see(event)
        rows.take(count, start + offset, event)
        count += 1
    rows.flush()
    if first is None or last is None:
        outline = parse(payload)
        seen: list[SqlValue] = [None] * 6
    else:
        for size, place in ((first, 0), (len(payload) - last, last)):
            if size > MAX_BYTES:
                raise MalformedPayload(place, f"{size:,} bytes other than the events are not read")
        before = parse(bytes(payload[:first]) + b"]}")
        behind = parse(b'{"":[' + bytes(payload[last:]))
        behind.pop("", None)
        outline = {**before, EVENTS: [None], **behind}
        seen = [_key_at(payload, first), first, len(behind), *_end_of_events(payload, last)]
    facts.add("trace", [[block, code, "", start, count, *seen, len(payload)]])
    return outline if isinstance(outline, dict) else {}


def _key_at(payload: memoryview, first: int) -> int | None:
    found = bytes(payload[:first]).find(KEY)
    return found if found >= 0 else None


def _end_of_events(payload: memoryview, last: int) -> list[SqlValue]:
    """The last phase as the viewer finds it, where it cuts the event, where the event ends."""
    text = bytes(payload[last:]).decode()
    end = last + len(text[: json.JSONDecoder().raw_decode(text)[1]].encode())
    searched = max(0, len(payload) - SEARCHED)
    tail = bytes(payload[searched:])
    phase = tail.rfind(PHASE)
    if phase < 0:
        return [None, None, end]
    depth = 1
    for brace in _BRACE.finditer(tail, phase):
        depth += 1 if brace.group() == b"{" else -1
        if depth == 0:
            return [searched + phase, searched + brace.end(), end]
    return [searched + phase, None, end]


class _Rows:
    """Rows of the timeline's tables, written in batches."""

    def __init__(self, facts: Facts, block: int, code: int) -> None:
        self._facts = facts
        self._from = (block, code)
        self._rows: dict[str, list[Sequence[SqlValue]]] = defaultdict(list)

    def take(self, index: int, offset: int, event: Any) -> None:
        """Note what the rules look at of one event."""
        fields = event if isinstance(event, dict) else {}
        where = (*self._from, f"/{EVENTS}/{index}", offset)
        phase, name = _text(fields, "ph"), _text(fields, "name")
        moment = as_number(fields.get("ts"))
        named = name if phase in NAMED_PHASES else None
        self._rows["trace_shape"].append((*where, phase, named, int(moment == 0)))
        lane = _text(fields, "pid"), _text(fields, "tid")
        self._rows["trace_lane"].append((*where, phase, *lane))
        if phase in PAIRED_PHASES:
            self._rows["trace_pair"].append((*where, phase, name, _text(fields, "id"), moment))
        arguments = fields.get("args")
        text = arguments.get("pc_addr") if isinstance(arguments, dict) else None
        if text is not None and lane[1] != FETCHED:
            address = as_address(text), _whole(as_text(text))
            self._rows["trace_address"].append((*where, *address))
        if len(self._rows["trace_shape"]) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what was noted."""
        for table, rows in self._rows.items():
            self._facts.add(table, rows)
        self._rows.clear()


def _text(fields: dict[str, Any], key: str) -> str | None:
    return _whole(as_text(fields.get(key)))


def _whole(text: str | None) -> str | None:
    """Half surrogates, which no database takes, replaced."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()
