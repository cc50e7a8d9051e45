"""Changed events of timelines, put back into the files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ascend_spec.core.pointer import pointer_of

from ...engine.damaging import Change
from ...engine.trials import NotBreakable
from .database import Facts
from .folder import Folder
from .splices import Events, with_values
from .written import Row, Rows, Written, change_of

NS_PER_US = 1000

_FOLLOW = frozenset({"file", "row", "shape", "kind", "ts_decimals", "layer", "device", "events"})
"""Columns of the tables of events that are made of others."""

LABELS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "trace.thread": {
        "name": ("thread_name", "name"),
        "sort_index": ("thread_sort_index", "sort_index"),
    },
    "trace.process": {
        "name": ("process_name", "name"),
        "label": ("process_labels", "labels"),
        "sort_index": ("process_sort_index", "sort_index"),
    },
}
"""By column, the metadata event that shows it, and its arg."""


@dataclass
class ChangedEvent:
    """What becomes of an event: other values by pointer, or it goes, or it is new."""

    values: dict[str, Any] = field(default_factory=dict)
    gone: bool = False
    added: list[Row] = field(default_factory=list)


def note_events(
    events: dict[tuple[int, int], ChangedEvent],
    table: str,
    rows: Rows,
) -> None:
    """Note what becomes of the events of a table's rows. Raises :class:`.NotBreakable`."""
    for place, (old, new) in rows.items():
        one = events[place]
        if not new:
            one.gone = True
            continue
        if not old:
            if table != "trace.event":
                raise NotBreakable("its break adds rows to a layer")
            one.added += new
            continue
        for name, before in old[0].items():
            after = new[0][name]
            if before == after or name in _FOLLOW:
                continue
            if name == "args" and table == "trace.event":
                one.values |= dict(_members(json.loads(before), json.loads(after), ("args",)))
            elif name in ("ts", "dur", "name", "cat", "id", "pid", "tid", "ph", "bp"):
                one.values[f"/{name}"] = after
            else:
                one.values[pointer_of(("args", name))] = after


def _members(
    before: Mapping[str, Any], after: Mapping[str, Any], keys: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _members(old, new, (*keys, key))
        elif old != new or (key in before) != (key in after):
            yield pointer_of((*keys, key)), new


def rename_processes(
    facts: Facts,
    events: dict[tuple[int, int], ChangedEvent],
    table: str,
    rows: Rows,
) -> None:
    """Names, labels and places of processes and threads, in the events that state them."""
    for (file, row), (old, new) in rows.items():
        if table == "trace.metadata":
            if not new:
                events[file, row].gone = True
                continue
            raise NotBreakable("its break changes metadata as they were read")
        if len(old) != 1 or len(new) != 1:
            raise NotBreakable("its break adds or removes a process or thread")
        for name, before in old[0].items():
            after = new[0][name]
            if before == after or name in _FOLLOW - {"kind", "layer"}:
                continue
            if name not in LABELS[table]:
                raise NotBreakable(f"its break changes {table}.{name}, which is not in the file")
            stated, arg = LABELS[table][name]
            tid = "AND tid = ?" if table == "trace.thread" else ""
            values = (file, old[0]["pid"], stated, *([old[0]["tid"]] if tid else []))
            place = facts.value(
                "SELECT min(row) FROM trace.metadata "
                f"WHERE file = ? AND pid = ? AND name = ? {tid}",
                values,
            )
            if place is None:
                raise NotBreakable(f"no {stated} in the file")
            events[file, place].values[f"/args/{arg}"] = after


def write_events(
    folder: Folder, found: Written, events: Mapping[tuple[int, int], ChangedEvent]
) -> None:
    """The bytes of the events that were noted, by file and row."""
    for file in dict.fromkeys(file for file, _ in events):
        shown = Events(folder.timelines[file])
        name = str(folder.files[file].path)
        added: list[bytes] = []
        gone: list[int] = []
        for (owner, row), one in events.items():
            if owner != file:
                continue
            if one.gone:
                gone.append(row)
                found.note(Change(name, f"event {row:,}: gone"))
            elif one.added:
                added += [_event_text(shown, new) for new in one.added]
                found.note(Change(name, f"event {row:,}: new"))
            elif one.values:
                _write_event(found, shown, file, name, row, one.values)
        found.splices[file] += shown.removed(gone)
        if added:
            found.splices[file].append(shown.appended(added))


def _write_event(
    found: Written, shown: Events, file: int, name: str, row: int, values: Mapping[str, Any]
) -> None:
    text = shown.text(row)
    event = json.loads(text)
    args = event.get("args") or {}
    written = {}
    for pointer, given in values.items():
        key = pointer.rpartition("/")[2]
        value = _time(event.get("ts"), given) if pointer == "/ts" else given
        before = args.get(key) if pointer.startswith("/args/") else event.get(key)
        if isinstance(before, (dict, list)):
            raise NotBreakable(f"{pointer} is no single value")
        written[pointer] = value
        shown_value = None if isinstance(value, (dict, list)) else value
        found.note(change_of(name, f"event {row:,}", pointer, before, shown_value))
    found.splices[file].append(shown.replaced(row, with_values(text, written)))


def _time(before: Any, nanoseconds: int | None) -> Any:
    """A time as its file writes it: us, as a text with decimals or as a number."""
    if nanoseconds is None:
        return None
    exact = Decimal(nanoseconds) / NS_PER_US
    if isinstance(before, str):
        decimals = max(len(before.partition(".")[2]), 3 if nanoseconds % NS_PER_US else 0)
        return f"{exact:.{decimals}f}"
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def _event_text(shown: Events, row: Row) -> bytes:
    """A new event as JSON, its time written like that of the first event that has one."""
    others = (json.loads(shown.text(place)) for place in range(shown.elements.count))
    like = next((one["ts"] for one in others if "ts" in one), "0.000")
    event: dict[str, Any] = {}
    for name in ("name", "pid", "tid", "ts", "dur", "ph", "cat", "id", "bp", "args"):
        value = row.get(name)
        if value is None:
            continue
        if name == "ts":
            value = _time(like, value)
        event[name] = json.loads(value) if name == "args" else value
    return json.dumps(event, ensure_ascii=False).encode()
