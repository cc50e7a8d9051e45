"""Checks of timelines that follow from the spec: keys, phases, processes, kinds of events, args."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ascend_ref.timeline.event_keys import FURTHER, UNKNOWN
from ascend_ref.timeline.read import NO_TIME
from ascend_spec import timeline_catalog
from ascend_spec.core.pointer import pointer_of
from ascend_spec.timeline import Layer, PidRule

from ...compare.sql import text_literal
from .findings import Fault, event_text, example_of, place_in_event
from .folder import Folder
from .layers import layer_of_slug


def wrong_key_types(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Keys with a JSON type that no reader expects."""
    yield from _key_faults(folder, f"found <> {text_literal(UNKNOWN)}")


def unknown_keys(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Keys that no event has."""
    yield from _key_faults(folder, f"found = {text_literal(UNKNOWN)}")


def _key_faults(folder: Folder, condition: str) -> Iterator[Fault]:
    select = (
        'SELECT file, row, "offset", key, found, times FROM unit.key_fault '
        f"WHERE {condition} ORDER BY file, key, found"
    )
    for file, row, offset, key, found, times in folder.facts.rows(select):
        yield Fault(
            file,
            key if key != FURTHER else "other keys",
            count=times,
            total=_events(folder, file),
            row=row,
            offset=byte_of_key(folder, file, offset, key),
            examples=({"found": found},),
            remark=f"found: {found}",
        )


def _events(folder: Folder, file: int) -> int:
    return int(folder.facts.value("SELECT count(*) FROM trace.event WHERE file = ?", (file,)))


def byte_of_key(folder: Folder, file: int, offset: int | None, key: str | None) -> int | None:
    """The byte of the value of a key of an event, which begins at a byte."""
    if offset is None or not key or file not in folder.timelines:
        return offset
    return place_in_event(folder.files[file], offset, pointer_of([key]))


EVENTS = ("missing-keys", "unknown-phases", "times-that-are-none", "times-without-decimals")
"""The checks of events that :func:`event_faults` makes in one pass."""

_KEYS = ("name", "cat", "id", "pid", "tid", "dur", "ts_decimals")
"""Columns whose NULL is a missing key."""


def event_faults(folder: Folder, examples: int) -> Iterator[tuple[str, Fault]]:
    """Events without a key that their phase demands, of an unknown phase, or with a bad time."""
    nulls = ", ".join(f"count(*) - count({one})" for one in _KEYS)
    select = (
        f"SELECT file, ph, {nulls}, count(ts_decimals) - count(ts), "
        "count(*) FILTER (ts_decimals <> 3) FROM trace.event GROUP BY file, ph ORDER BY file, ph"
    )
    conditions: dict[tuple[str, str], str] = {}
    known = {key.key: key for key in timeline_catalog().keys.values() if key.key}
    phases = sorted({phase for key in known.values() for phase in key.required})
    for _, phase, *counts, unread, odd in folder.facts.rows(select):
        if phase is None:
            conditions["missing-keys", "ph"] = "ph IS NULL"
        elif phase not in phases:
            listed = ", ".join(map(text_literal, phases))
            conditions["unknown-phases", "ph"] = f"ph NOT IN ({listed})"
        for column, count in zip(_KEYS, counts, strict=True):
            key = "ts" if column == "ts_decimals" else column
            if count and phase in known[key].required:
                listed = ", ".join(map(text_literal, known[key].required))
                conditions["missing-keys", key] = f"{column} IS NULL AND ph IN ({listed})"
        if unread:
            conditions["times-that-are-none", "ts"] = "ts_decimals IS NOT NULL AND ts IS NULL"
        if odd:
            conditions["times-without-decimals", "ts"] = _odd_times(folder)
    listed = ", ".join(map(text_literal, known["args"].required))
    bare = f"SELECT 1 FROM trace.shape WHERE ph IN ({listed}) AND keys IS NULL"
    if folder.facts.rows(f"{bare} LIMIT 1"):
        conditions["missing-keys", "args"] = f"args IS NULL AND ph IN ({listed})"
    wrong = set(folder.facts.rows("SELECT file, key FROM unit.key_fault"))
    for (check, key), condition in conditions.items():
        expected = f"one of {', '.join(phases)}" if check == "unknown-phases" else None
        for fault in _event_faults(folder, condition, key, examples, expected):
            if check != "missing-keys" or (fault.file, key) not in wrong:
                yield check, fault


def _odd_times(folder: Folder) -> str:
    """Times with other than three decimals, where the writer writes texts."""
    files = [
        str(number)
        for number, reading in folder.readings.items()
        if "string" in timeline_catalog().form(reading.writer).types["ts"]
    ]
    return (
        f"ts_decimals <> 3 AND ts_decimals <> {NO_TIME} AND ph <> 'M' "
        f"AND file IN ({', '.join(files or ['NULL'])})"
    )


def _event_faults(
    folder: Folder, condition: str, key: str, examples: int, expected: str | None = None
) -> Iterator[Fault]:
    """One fault for each file with events that meet a condition."""
    query = f"SELECT file, row, ph, name FROM trace.event WHERE {condition}"
    select = f"SELECT file, count(*), min(row) FROM ({query}) GROUP BY file ORDER BY file"
    for file, count, row in folder.facts.rows(select):
        found = folder.facts.rows(
            f"SELECT * FROM ({query}) WHERE file = ? ORDER BY row LIMIT ?", (file, max(examples, 1))
        )
        shown = []
        for one in found[:examples]:
            value = _value(folder, file, one[1], key)
            shown.append(example_of(("event", "ph", "name", key), (*one[1:], value)))
        yield Fault(
            file,
            key,
            count=count,
            total=_events(folder, file),
            row=row,
            offset=byte_of_key(folder, file, _offset(folder, file, row), key),
            examples=shown,
            expected=expected,
            query=query,
        )


def _value(folder: Folder, file: int, row: int, key: str) -> str | None:
    """The value of a key of an event as it stands in the file."""
    offset = _offset(folder, file, row)
    text = b"" if offset is None else event_text(folder.files[file], offset)
    try:
        value = json.loads(text).get(key) if text else None
    except (ValueError, RecursionError):
        return None
    return None if value is None else json.dumps(value, ensure_ascii=False)


def nameless_processes(folder: Folder, examples: int) -> Iterator[Fault]:
    """Processes without a process_name that have other events than starts of arrows."""
    select = (
        "SELECT p.file, p.row, p.pid, p.events FROM trace.process p WHERE p.name IS NULL "
        "AND p.events > 0 AND EXISTS (SELECT 1 FROM trace.shape s WHERE s.file = p.file "
        "AND s.pid = p.pid AND s.ph NOT IN ('M', 's')) ORDER BY file, row"
    )
    wrong = _files_with_wrong(folder, "pid")
    grouped: dict[int, list[tuple[int, int, int]]] = {}
    for file, row, pid, events in folder.facts.rows(select):
        if file not in wrong:  # else the pid is a text that reads like a number
            grouped.setdefault(file, []).append((row, pid, events))
    for file, rows in grouped.items():
        yield Fault(
            file,
            "pid",
            count=sum(events for _, _, events in rows),
            total=_events(folder, file),
            row=rows[0][0],
            offset=_offset(folder, file, rows[0][0]),
            examples=[{"pid": pid, "events": events} for _, pid, events in rows[:examples]],
        )


def _files_with_wrong(folder: Folder, key: str) -> set[int]:
    """Files with values of another type at a key, which has a finding of its own."""
    return {
        row[0] for row in folder.facts.rows("SELECT file FROM unit.key_fault WHERE key = ?", (key,))
    }


def _offset(folder: Folder, file: int, row: int) -> int | None:
    """The byte at which an event begins."""
    elements = folder.timelines.get(file)
    return None if elements is None else elements.offset_of(row)


def contradicting_metadata(folder: Folder, examples: int) -> Iterator[Fault]:
    """Metadata that contradict each other about one process or thread."""
    of_process = [one.name for one in timeline_catalog().metadata.values() if one.of == "process"]
    listed = ", ".join(map(text_literal, of_process))
    select = (
        "SELECT file, name, min(row), pid, min(value), max(value), count(*) FROM trace.metadata "
        "WHERE name IS NOT NULL AND value IS NOT NULL "
        f"GROUP BY file, name, pid, CASE WHEN name IN ({listed}) THEN NULL ELSE tid END "
        "HAVING count(DISTINCT value) > 1 ORDER BY file, name, min(row)"
    )
    grouped: dict[tuple[int, str], list[tuple[object, ...]]] = {}
    for file, name, *rest in folder.facts.rows(select):
        grouped.setdefault((file, name), []).append(tuple(rest))
    for (file, name), rows in grouped.items():
        first = rows[0][0]
        yield Fault(
            file,
            name,
            count=len(rows),
            row=first if isinstance(first, int) else None,
            offset=_offset(folder, file, first) if isinstance(first, int) else None,
            examples=[example_of(("pid", "one", "other"), row[1:4]) for row in rows[:examples]],
        )


def unknown_layers(folder: Folder, examples: int) -> Iterator[Fault]:
    """Processes with a name that is no layer of the file's writer."""
    select = (
        "SELECT file, row, pid, name, label, events FROM trace.process "
        "WHERE layer IS NULL AND name IS NOT NULL AND events > 0 ORDER BY file, row"
    )
    grouped: dict[int, list[tuple[object, ...]]] = {}
    for file, *rest in folder.facts.rows(select):
        grouped.setdefault(file, []).append(tuple(rest))
    for file, rows in grouped.items():
        first = rows[0][0]
        yield Fault(
            file,
            "process_name",
            count=len(rows),
            row=first if isinstance(first, int) else None,
            offset=_offset(folder, file, first) if isinstance(first, int) else None,
            examples=[example_of(("name", "label"), row[2:4]) for row in rows[:examples]],
            remark=f"{len(rows):,} processes" if len(rows) > 1 else None,
        )


def unknown_events(folder: Folder, examples: int) -> Iterator[Fault]:
    """Events of known layers that are of no kind: by name, category or args."""
    select = (
        "SELECT o.file, s.layer, o.row, o.name, s.ph, s.cat, s.keys, o.events "
        "FROM trace.odd o JOIN trace.shape s USING (file, shape) ORDER BY o.file, s.layer, o.row"
    )
    grouped: dict[tuple[int, str], list[tuple[object, ...]]] = {}
    wrong = _files_with_wrong(folder, "args")
    for file, layer, *rest in folder.facts.rows(select):
        if file not in wrong or rest[4]:
            grouped.setdefault((file, layer), []).append(tuple(rest))
    for (file, slug), rows in grouped.items():
        first = rows[0][0]
        names = ("name", "ph", "cat", "args", "events")
        yield Fault(
            file,
            layer_of_slug(slug).name,
            count=sum(one[-1] for one in rows if isinstance(one[-1], int)),
            total=_events(folder, file),
            row=first if isinstance(first, int) else None,
            offset=_offset(folder, file, first) if isinstance(first, int) else None,
            examples=[example_of(names, _listed(row)) for row in rows[:examples]],
            expected=_kinds_in_words(folder, file, layer_of_slug(slug)),
        )


def _listed(row: Sequence[object]) -> list[object]:
    name, phase, cat, keys, events = row[1:6]
    return [name, phase, cat, ", ".join(keys) if isinstance(keys, list) else None, events]


def _kinds_in_words(folder: Folder, file: int, layer: Layer) -> str:
    reading = folder.readings[file]
    kinds = timeline_catalog().events(layer, reading.writer, reading.file)
    return ", ".join(dict.fromkeys(f"{kind.phase} {kind.name.template}" for kind in kinds))


def wrong_pids(folder: Folder, examples: int) -> Iterator[Fault]:
    """Processes whose pid does not hold the layer's sort index, or the device of its label.

    Those whose sort index has no room there are a fault of their own, which has an erratum.
    """
    for file, reading in folder.readings.items():
        bad: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
        select = (
            "SELECT row, pid, name, label, sort_index, device FROM trace.process "
            "WHERE file = ? AND layer IS NOT NULL ORDER BY row"
        )
        for row, pid, name, label, sort_index, device in folder.facts.rows(select, (file,)):
            layer = reading.layers.get(pid)
            if layer is None:
                continue
            rule = timeline_catalog().pid_rule(layer, reading.writer)
            held = rule.quantities(pid)
            due = {"sortIndex": sort_index, "deviceId": device}
            if any(held[key] != due[key] for key in held if due.get(key) is not None):
                spoilt = _has_no_room(rule, sort_index)
                if spoilt and not rule.errata:
                    continue  # the spec knows no other way for this writer
                errata = rule.errata if spoilt else ()
                bad.setdefault(errata, []).append((row, pid, name, label, sort_index))
        names = ("event", "pid", "name", "label", "sort_index")
        for errata, rows in bad.items():
            first = rows[0][0] if isinstance(rows[0][0], int) else 0
            yield Fault(
                file,
                "pid",
                count=len(rows),
                total=len(reading.layers),
                row=first,
                offset=_offset(folder, file, first),
                examples=[example_of(names, one) for one in rows[:examples]],
                errata=errata,
            )


def _has_no_room(rule: PidRule, sort_index: int | None) -> bool:
    """Whether a sort index runs into its neighbour in the pid."""
    return sort_index is not None and any(
        part.of == "sortIndex" and part.bits is not None and sort_index >= 1 << part.bits
        for part in rule.parts
    )
