"""Checks of timelines that follow from the spec: keys, phases, processes, kinds of events, args."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ascend_ref.timeline.event_keys import FURTHER, UNKNOWN
from ascend_ref.timeline.read import NO_TIME
from ascend_spec.text.timeline import Layer, PidRule, timeline_catalog

from .database import quoted, text_literal
from .findings import Fault, event_text, example_of, place_in_event
from .folder import Folder
from .layers import ArgColumn, arg_columns, layer_of_slug
from .loadtrace import layer_table


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
            offset=_byte(folder, file, offset, key),
            examples=({"found": found},),
            remark=f"found: {found}",
        )


def _events(folder: Folder, file: int) -> int:
    return int(folder.facts.value("SELECT count(*) FROM trace.event WHERE file = ?", (file,)))


def _byte(folder: Folder, file: int, offset: int, key: str | None) -> int:
    """The byte of the value of a key of an event, which begins at a byte."""
    if not key or file not in folder.timelines:
        return offset
    token = key.replace("~", "~0").replace("/", "~1")
    return place_in_event(folder.files[file], offset, f"/{token}")


def missing_keys(folder: Folder, examples: int) -> Iterator[Fault]:
    """Events without a key that their phase demands. NULL may also be a wrong type."""
    wrong = set(folder.facts.rows("SELECT file, key FROM unit.key_fault"))
    conditions = {"ph": "ph IS NULL"}
    for known in timeline_catalog().keys.values():
        if known.key and known.key != "ph" and known.required:
            listed = ", ".join(map(text_literal, known.required))
            column = "ts_decimals" if known.key == "ts" else known.key
            conditions[known.key] = f"{column} IS NULL AND ph IN ({listed})"
    counted = ", ".join(f"count(*) FILTER ({one})" for one in conditions.values())
    counts = folder.facts.rows(f"SELECT {counted} FROM trace.event")[0]
    for (key, condition), count in zip(conditions.items(), counts, strict=True):
        for fault in _event_faults(folder, condition, key, examples) if count else ():
            if (fault.file, key) not in wrong:
                yield fault


def unknown_phases(folder: Folder, examples: int) -> Iterator[Fault]:
    """Events of a phase that the spec does not have."""
    known = {phase for key in timeline_catalog().keys.values() for phase in key.required}
    listed = ", ".join(map(text_literal, sorted(known)))
    yield from _event_faults(
        folder, f"ph NOT IN ({listed})", "ph", examples, f"one of {', '.join(sorted(known))}"
    )


def times_that_are_none(folder: Folder, examples: int) -> Iterator[Fault]:
    """Values of ``ts`` that are no decimal number, or too large for one."""
    yield from _event_faults(folder, "ts_decimals IS NOT NULL AND ts IS NULL", "ts", examples)


def times_without_decimals(folder: Folder, examples: int) -> Iterator[Fault]:
    """Texts of ``ts`` with another number of decimals than three, where the writer writes texts."""
    files = [
        str(number)
        for number, reading in folder.readings.items()
        if "string" in timeline_catalog().form(reading.writer).types["ts"]
    ]
    if files:
        condition = (
            f"ts_decimals <> 3 AND ts_decimals <> {NO_TIME} AND ph <> 'M' "
            f"AND file IN ({', '.join(files)})"
        )
        yield from _event_faults(folder, condition, "ts", examples)


def _event_faults(
    folder: Folder, condition: str, key: str, examples: int, expected: str | None = None
) -> Iterator[Fault]:
    """One fault for each file with events that meet a condition."""
    query = f'SELECT file, row, "offset", ph, name FROM trace.event WHERE {condition}'
    select = f"SELECT file, count(*), min(row) FROM ({query}) GROUP BY file ORDER BY file"
    for file, count, row in folder.facts.rows(select):
        found = folder.facts.rows(
            f"SELECT * FROM ({query}) WHERE file = ? ORDER BY row LIMIT ?", (file, max(examples, 1))
        )
        shown = []
        for one in found[:examples]:
            value = _value(folder, file, one[2], key)
            shown.append(example_of(("event", "ph", "name", key), (one[1], *one[3:], value)))
        yield Fault(
            file,
            key,
            count=count,
            total=_events(folder, file),
            row=row,
            offset=_byte(folder, file, found[0][2], key),
            examples=shown,
            expected=expected,
            query=query,
        )


def _value(folder: Folder, file: int, offset: int, key: str) -> str | None:
    """The value of a key of an event as it stands in the file."""
    if file not in folder.timelines:
        return None
    text = event_text(folder.files[file], offset)
    try:
        value = json.loads(text).get(key) if text else None
    except (ValueError, RecursionError):
        return None
    return None if value is None else json.dumps(value, ensure_ascii=False)


def nameless_processes(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Processes with more than starts of arrows, and without a process_name."""
    select = (
        "SELECT p.file, p.row, p.pid, p.events FROM trace.process p WHERE p.name IS NULL "
        "AND p.events > 0 AND EXISTS (SELECT 1 FROM trace.shape s WHERE s.file = p.file "
        "AND s.pid = p.pid AND s.ph NOT IN ('M', 's')) ORDER BY 1, 2"
    )
    wrong = _files_with_wrong(folder, "pid")
    for file, row, pid, events in folder.facts.rows(select):
        if file in wrong:
            continue  # the pid is a text that reads like a number
        yield Fault(
            file,
            "pid",
            count=events,
            total=_events(folder, file),
            row=row,
            offset=_offset(folder, file, row),
            examples=({"pid": pid},),
        )


def _files_with_wrong(folder: Folder, key: str) -> set[int]:
    """Files with values of another type at a key, which has a finding of its own."""
    return {
        row[0] for row in folder.facts.rows("SELECT file FROM unit.key_fault WHERE key = ?", (key,))
    }


def _offset(folder: Folder, file: int, row: int) -> int | None:
    found = folder.facts.value(
        'SELECT "offset" FROM trace.event WHERE file = ? AND row = ?', (file, row)
    )
    return None if found is None else int(found)


def contradicting_metadata(folder: Folder, examples: int) -> Iterator[Fault]:
    """Metadata that say two things of one process or thread."""
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


def wrong_args(folder: Folder, examples: int) -> Iterator[Fault]:
    """Args that are no value of their type, or out of its range or set."""
    for slug in sorted(
        {layer.slug for r in folder.readings.values() for layer in r.layers.values()}
    ):
        table = f"trace.{layer_table(slug)}"
        present = folder.facts.columns(table)
        columns = [one for one in arg_columns(slug) if one.name in present]
        checks = [(one, check) for one in columns for check in _arg_checks(one)]
        if not checks:
            continue
        counted = ", ".join(f"count(*) FILTER ({condition})" for _, (condition, _) in checks)
        counts = folder.facts.rows(f"SELECT {counted} FROM {table}")[0]
        for (column, (condition, expected)), count in zip(checks, counts, strict=True):
            if count:
                yield from _arg_fault(folder, slug, column, condition, expected, examples)


def _arg_checks(column: ArgColumn) -> Iterator[tuple[str, str]]:
    """Conditions for a bad value, each with what is expected."""
    value = quoted(column.name)
    every = [arg for _, arg in column.args]
    none = [one for arg in every for one in arg.none]
    numbers = ", ".join(str(one) for one in none if isinstance(one, int))
    allowed = f" AND {value} NOT IN ({numbers})" if numbers else ""
    if column.type in ("BIGINT", "DOUBLE"):
        least = min((arg.minimum for arg in every if arg.minimum is not None), default=None)
        most = max((arg.maximum for arg in every if arg.maximum is not None), default=None)
        if least is not None and all(arg.minimum is not None for arg in every):
            yield f"{value} < {least}{allowed}", f"at least {least}"
        if most is not None and all(arg.maximum is not None for arg in every):
            yield f"{value} > {most}{allowed}", f"at most {most}"
        if not any(isinstance(one, str) for one in none) and all(
            "null" not in a.json for a in every
        ):
            has = f"list_contains(s.keys, {text_literal(column.name)})"
            shapes = f"SELECT s.shape FROM trace.shape s WHERE {has}"
            kind = "a whole number" if column.type == "BIGINT" else "a number"
            yield f"{value} IS NULL AND shape IN ({shapes})", kind
    elif all(arg.values for arg in every):
        texts = list(dict.fromkeys(text for arg in every for text in arg.values))
        texts += [one for one in none if isinstance(one, str)]
        listed = ", ".join(map(text_literal, texts))
        yield f"{value} NOT IN ({listed})", f"one of {', '.join(texts)}"


def _arg_fault(
    folder: Folder, slug: str, column: ArgColumn, condition: str, expected: str, examples: int
) -> Iterator[Fault]:
    table = f"trace.{layer_table(slug)}"
    query = f"SELECT file, row, name, {quoted(column.name)} FROM {table} WHERE {condition}"
    select = f"SELECT file, count(*), min(row) FROM ({query}) GROUP BY file ORDER BY file"
    for file, count, row in folder.facts.rows(select):
        found = folder.facts.rows(
            f"SELECT * FROM ({query}) WHERE file = ? ORDER BY row LIMIT ?", (file, max(examples, 1))
        )
        offset = _offset(folder, file, row)
        token = column.name.replace("~", "~0").replace("/", "~1")
        yield Fault(
            file,
            f"{layer_of_slug(slug).name}: {column.name}",
            count=count,
            total=int(folder.facts.value(f"SELECT count(*) FROM {table} WHERE file = {file}")),
            row=row,
            offset=None
            if offset is None
            else place_in_event(folder.files[file], offset, f"/args/{token}"),
            examples=[
                example_of(("event", "name", column.name), one[1:]) for one in found[:examples]
            ],
            expected=expected,
            query=query,
        )
