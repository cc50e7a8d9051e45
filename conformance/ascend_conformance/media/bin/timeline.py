"""Facts of a timeline (0x02), gathered while its events stream by.

The viewer does not parse this payload: it searches a few texts and counts braces
(bin-blocks.md 1.5). What such a reader sees is a fact here, too.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from ascend_ref.bin import MalformedPayload, iterate_events, parse
from ascend_ref.bin.canonical import MAX_BYTES

from .facts import Facts, plain_tables
from .flatten import SqlValue, as_address, as_number, as_text

EVENTS = "traceEvents"
KEY = b'"traceEvents"'
PHASE = b'"ph"'
SEARCHED = 1 << 20
"""Bytes in which the viewer searches the last phase, from the end of the payload."""

NAMED_PHASES = frozenset("BEMC")
PAIRED_PHASES = frozenset("BEst")
BATCH = 20_000

_BRACE = re.compile(rb"[{}]")


def add_timeline(
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
                raise MalformedPayload(place, f"{size:,} bytes beside the events are not read")
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
        if text is not None:
            address = as_address(text), _whole(as_text(text))
            self._rows["trace_address"].append((*where, *address))
        if len(self._rows["trace_shape"]) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what was noted."""
        for table, rows in self._rows.items():
            if "times" in plain_tables()[table]:
                self._facts.add_grouped(table, rows, places=2)
            else:
                self._facts.add(table, rows)
        self._rows.clear()


def _text(fields: dict[str, Any], key: str) -> str | None:
    return _whole(as_text(fields.get(key)))


def _whole(text: str | None) -> str | None:
    """Half surrogates, which no database takes, replaced."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()
