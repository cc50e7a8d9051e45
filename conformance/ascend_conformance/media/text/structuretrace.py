"""Checks of timelines that follow from the spec: keys, phases, processes, kinds of events, args."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ascend_ref.timeline.event_keys import FURTHER
from ascend_ref.timeline.read import NO_TIME
from ascend_spec import timeline_catalog
from ascend_spec.core.pointer import pointer_of
from ascend_spec.timeline import Layer, PidRule

from ...compare.sql import text_literal
from ...finding import Scalar
from .findings import (
    Fault,
    Position,
    event_text,
    example_of,
    faults_of,
    place_in_event,
    place_of_event,
)
from .folder import Folder
from .layers import layer_table, layers_by_table
from .loadtrace import TWICE


def key_faults(condition: str, folder: Folder, _examples: int) -> Iterator[Fault]:
    """Keys of events with a JSON type that no reader expects, or that no event has."""
    select = (
        'SELECT file, row, "offset", key, found, times FROM unit.key_fault '
        f"WHERE {condition} ORDER BY file, key, found"
    )
    for file, row, start, key, found, times in folder.facts.rows(select):
        pointer = f"/{key}" if found == TWICE else pointer_of([key] if key else [])
        offset = place_in_event(folder.files[file], start, pointer)
        yield Fault(
            file,
            key if key != FURTHER else "other keys",
            count=times,
            total=folder.facts.count("trace.event", file),
            row=row,
            at=Position(offset=offset),
            examples=({"found": found},),
            remark=f"found: {found}",
        )


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
    names = ("event", "ph", "name", key)
    return faults_of(
        folder,
        "trace.event",
        query,
        examples,
        lambda row: place_of_event(folder, *row[:2], key),
        lambda row: example_of(names, (*row[1:], _value(folder, row[0], row[1], key))),
        column=key,
        expected=expected,
    )


def _value(folder: Folder, file: int, row: int, key: str) -> str | None:
    """The value of a key of an event as it stands in the file."""
    offset = place_of_event(folder, file, row).offset
    text = b"" if offset is None else event_text(folder.files[file], offset)
    try:
        value = json.loads(text).get(key) if text else None
    except (ValueError, RecursionError):
        return None
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _grouped(
    folder: Folder, select: str, keys: int = 1
) -> Iterator[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]:
    """The rows of a query by its first columns, in whose order they are."""
    for key, rows in groupby(folder.facts.rows(select), lambda row: row[:keys]):
        yield key, [row[keys:] for row in rows]


def _fault(
    folder: Folder,
    file: int,
    column: str,
    rows: Sequence[tuple[Any, ...]],
    examples: Iterable[Mapping[str, Scalar]],
    **facts: Any,
) -> Fault:
    """A fault of rows that begin with the number of an event; the first is where it stands."""
    place = place_of_event(folder, file, rows[0][0])
    whole = {"count": len(rows), **facts}
    return Fault(file, column, row=rows[0][0], at=place, examples=list(examples), **whole)


def nameless_processes(folder: Folder, examples: int) -> Iterator[Fault]:
    """Processes without a process_name that have other events than starts of arrows."""
    select = (
        "SELECT p.file, p.row, p.pid, p.events FROM trace.process p WHERE p.name IS NULL "
        "AND p.events > 0 AND EXISTS (SELECT 1 FROM trace.shape s WHERE s.file = p.file "
        "AND s.pid = p.pid AND s.ph NOT IN ('M', 's')) ORDER BY file, row"
    )
    wrong = _files_with_wrong(folder, "pid")
    for (file,), rows in _grouped(folder, select):
        if file not in wrong:  # else the pid is a text that reads like a number
            shown = [{"pid": pid, "events": events} for _, pid, events in rows[:examples]]
            total = folder.facts.count("trace.event", file)
            count = sum(events for *_, events in rows)
            yield _fault(folder, file, "pid", rows, shown, count=count, total=total)


def _files_with_wrong(folder: Folder, key: str) -> set[int]:
    """Files with values of another type at a key, which has a finding of its own."""
    return {
        row[0] for row in folder.facts.rows("SELECT file FROM unit.key_fault WHERE key = ?", (key,))
    }


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
    for (file, name), rows in _grouped(folder, select, 2):
        shown = (example_of(("pid", "one", "other"), row[1:4]) for row in rows[:examples])
        yield _fault(folder, file, name, rows, shown)


def unknown_layers(folder: Folder, examples: int) -> Iterator[Fault]:
    """Processes with a name that is no layer of the file's writer."""
    select = (
        "SELECT file, row, name, label FROM trace.process "
        "WHERE layer IS NULL AND name IS NOT NULL AND events > 0 ORDER BY file, row"
    )
    for (file,), rows in _grouped(folder, select):
        shown = (example_of(("name", "label"), row[1:]) for row in rows[:examples])
        remark = f"{len(rows):,} processes" if len(rows) > 1 else None
        yield _fault(folder, file, "process_name", rows, shown, remark=remark)


def unknown_events(folder: Folder, examples: int) -> Iterator[Fault]:
    """Events of known layers that are of no kind: by name, category or args."""
    select = (
        "SELECT o.file, s.layer, o.row, o.name, s.ph, s.cat, array_to_string(s.keys, ', '), "
        "o.events FROM trace.odd o JOIN trace.shape s USING (file, shape) "
        "ORDER BY o.file, s.layer, o.row"
    )
    names = ("name", "ph", "cat", "args", "events")
    wrong = _files_with_wrong(folder, "args")
    for (file, slug), every in _grouped(folder, select, 2):
        rows = [row for row in every if file not in wrong or row[4]]
        if rows:
            layer = layers_by_table()[layer_table(slug)]
            yield _fault(
                folder,
                file,
                layer.name,
                rows,
                (example_of(names, row[1:]) for row in rows[:examples]),
                count=sum(row[-1] for row in rows),
                total=folder.facts.count("trace.event", file),
                expected=_kinds_in_words(folder, file, layer),
            )


def _kinds_in_words(folder: Folder, file: int, layer: Layer) -> str:
    reading = folder.readings[file]
    kinds = timeline_catalog().events(layer, reading.writer, reading.file)
    return ", ".join(dict.fromkeys(f"{kind.phase} {kind.name.template}" for kind in kinds))


NO_DEVICE_IS_THE_PID = "T67"
"""The erratum: -1 as the device fills all bits of the collector's pid."""

NO_DEVICE = -1


def wrong_pids(folder: Folder, examples: int) -> Iterator[Fault]:
    """Processes whose pid does not hold the layer's sort index, or the device of its label.

    Those whose sort index has no room there are a fault of their own, which has an erratum.
    """
    names = ("event", "pid", "name", "label", "sort_index")
    for file, reading in folder.readings.items():
        bad: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
        select = (
            "SELECT row, pid, name, label, sort_index, device FROM trace.process "
            "WHERE file = ? AND layer IS NOT NULL ORDER BY row"
        )
        for row, pid, name, label, sort_index, device in folder.facts.rows(select, (file,)):
            layer = reading.layers.get(pid)
            if layer is None:
                continue
            rule = timeline_catalog().pid_rule(layer, reading.writer)
            if pid == NO_DEVICE and NO_DEVICE_IS_THE_PID in rule.errata:
                continue
            held = rule.quantities(pid)
            due = {"sortIndex": sort_index, "deviceId": device}
            if any(held[key] != due[key] for key in held if due.get(key) is not None):
                spoilt = _has_no_room(rule, sort_index)
                if spoilt and not rule.errata:
                    continue  # the spec knows no other way for this writer
                errata = rule.errata if spoilt else ()
                bad.setdefault(errata, []).append((row, pid, name, label, sort_index))
        for errata, rows in bad.items():
            shown = (example_of(names, one) for one in rows[:examples])
            total = len(reading.layers)
            yield _fault(folder, file, "pid", rows, shown, total=total, errata=errata)


def _has_no_room(rule: PidRule, sort_index: int | None) -> bool:
    """Whether a sort index runs into its neighbour in the pid."""
    return sort_index is not None and any(
        part.of == "sortIndex" and part.bits is not None and sort_index >= 1 << part.bits
        for part in rule.parts
    )


LATEST = 4_000_000_000_000_000_000
"""ns; beyond it, and beyond a length of 11 days, sums leave the range of 64 bits."""

OF_STREAMS = "T100"
"""The erratum: real timelines hold such slices, since a stream has one thread."""

SLICES = f"""
SELECT file, row, pid, tid, ts, ts + CAST(round(dur * 1000) AS BIGINT) AS stop FROM trace.event
WHERE ph = 'X' AND dur BETWEEN 0.0005 AND 1e15 AND ts BETWEEN 0 AND {LATEST}
"""
"""Those that have a length."""

CROSSED = f"""
SELECT file, row, ts, stop,
  CASE WHEN last > ts AND stop > last THEN last ELSE reach END AS other FROM
  (SELECT file, row, ts, stop, lag(stop) OVER (earlier) AS last,
    max(stop) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
  FROM ({SLICES}) WINDOW earlier AS (PARTITION BY file, pid, tid ORDER BY ts, stop DESC))
WHERE (last > ts AND stop > last) OR (reach > ts AND stop > reach)
"""


def crossing_slices(folder: Folder, examples: int) -> Iterator[Fault]:
    """Slices that cross the one before them on their thread, or the one that reaches farthest.

    A crossing behind others inside the same slice is not seen.
    """
    names = ("start_ns", "end_ns", "end_of_other_ns")
    return faults_of(
        folder,
        f"({SLICES})",
        CROSSED,
        examples,
        lambda row: place_of_event(folder, *row[:2], "dur"),
        lambda row: example_of(names, row[2:]),
        column="dur",
        errata=(OF_STREAMS,),
    )
