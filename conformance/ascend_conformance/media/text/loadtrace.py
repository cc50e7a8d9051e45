"""From timelines to the schema ``trace`` of the facts.

Events are read once, with their args as text. When the layers are known, each gets a relation with
its args as values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import duckdb

from ascend_ref.timeline.elements import Elements
from ascend_ref.timeline.read import element_reader, events_query
from ascend_ref.timeline.recognition import FLOWS, Reading, Shape, is_free, read_as
from ascend_spec import per_spec, timeline_catalog
from ascend_spec.core.pointer import pointer_of
from ascend_spec.timeline import EventKind

from ...compare.sql import quoted, text_literal
from .database import Facts
from .deliverables import Deliverable
from .layers import arg_columns, layer_table, layers_by_table

TWICE = "twice"
"""What is found at a key that an object has more than once; noted is the way that leads there."""

_OWN_KEYS = ("ph", "name", "cat", "id", "pid", "tid", "ts_decimals", "dur", "bp", "args")
"""Columns of an event, one for each of its keys."""

MAX_SHAPES = 10_000
"""Sets of args, and processes, that are looked into; real files have some hundred."""

LEFT_OUT: Mapping[str, frozenset[str]] = {
    "python": frozenset({"Input Dims", "Input type", "Call stack", "Module Hierarchy"})
}
"""Args, by the table of the layer, that are long and that no rule asks for."""

READ_AS_TEXT = frozenset({"python"})
"""Tables of layers whose args rules and views read of ``trace.event`` as well."""

RELEASED = "{}"
"""What stands for args that a table of a layer holds and nobody reads as text."""

LAYER_COLUMNS = ("file", "row", "shape", "pid", "tid", "name", "ts", "dur")
"""Columns of the table of a layer before its args; ``kind`` follows them."""

Kept = Literal["whole", "lean", "not"]
"""How layers are kept: as tables, as tables of the args that occur, or as views, which follow the
events where these change but read the texts anew each time."""

_SHAPE = "hash(pid, ph, cat, json_keys(args))"


@per_spec
def _known_texts() -> Mapping[str, Sequence[str]]:
    """What the spec knows of the columns of ``trace.event`` that have few texts."""
    catalog = timeline_catalog()
    categories = {kind.cat for layer in catalog.layers.values() for kind in layer.events}
    categories |= {flow.cat for flow in catalog.flows.values()}
    phases = {phase for key in catalog.keys.values() for phase in key.required}
    return {"ph": sorted(phases), "cat": sorted(filter(None, categories)), "bp": ["e"]}


def narrow_events(facts: Facts) -> None:
    """Hold phases, categories and binding points as the numbers of those that the spec knows.

    So they take three bytes of each event, not 48. Files with others widen the columns again.
    """
    for column, texts in _known_texts().items():
        listed = ", ".join(map(text_literal, texts))
        facts.connection.execute(f"ALTER TABLE trace.event ALTER {column} TYPE ENUM ({listed})")


def _widen_events(facts: Facts) -> None:
    for column in _known_texts():
        facts.connection.execute(f"ALTER TABLE trace.event ALTER {column} TYPE VARCHAR")


def load_timeline(facts: Facts, number: int, file: Deliverable) -> Elements:
    """Read the events of one file. Raises ``OSError``."""
    try:
        elements = _load(facts, number, file)
    except duckdb.ConversionException:
        _widen_events(facts)
        elements = _load(facts, number, file)
    facts.add(
        "unit.key_fault",
        [
            (number, one.row, one.offset, one.key, one.found, one.count)
            for one in elements.faults.found.values()
        ],
    )
    return elements


def _load(facts: Facts, number: int, file: Deliverable) -> Elements:
    elements = Elements(file.path, text_lengths=file.of_mindspore)
    facts.scan(
        "elements",
        element_reader(elements),
        f"INSERT INTO trace.event BY NAME SELECT {number} AS file, *, {_SHAPE} AS shape "
        f"FROM ({events_query('elements')})",
    )
    return elements


def note_doubled(facts: Facts, number: int, elements: Elements) -> None:
    """Note the keys that stand more than once in an event, apart from those of its args.

    Where a file has as many keys as its events were read with, none does. Raises ``OSError``.
    """
    own = " + ".join(f"count({one})" for one in _OWN_KEYS)
    of_args = "SELECT coalesce(sum(events * len(keys)), 0) FROM trace.shape WHERE file = ?"
    query = f"SELECT {own} + ({of_args}) FROM trace.event WHERE file = ?"
    if facts.value(query, (number, number)) == elements.keys:
        return
    found: dict[str, list[int]] = {}
    for row, keys in elements.doubled_keys():
        if (keys[0], len(keys)) != ("args", 2) and len(found) < MAX_SHAPES:
            found.setdefault(pointer_of(keys)[1:], []).append(row)
    facts.add(
        "unit.key_fault",
        [
            (number, rows[0], elements.offset_of(rows[0]), way, TWICE, len(rows))
            for way, rows in found.items()
        ],
    )


def describe(
    facts: Facts,
    files: Mapping[int, Deliverable],
    likely: Sequence[str] = (),
    kept: Kept = "not",
) -> dict[int, Reading]:
    """Everything but the events themselves; the reading of each file.

    ``likely`` are writers. ``kept``: how the layers and arrows are.
    """
    _add_metadata(facts)
    _add_shapes(facts)
    _add_processes(facts)
    readings = {number: _read(facts, number, file, likely) for number, file in files.items()}
    for number, reading in readings.items():
        _add_layers(facts, number, reading)
    homes: dict[str, list[Home]] = {}
    for number, reading in readings.items():
        _add_kinds(facts, number, reading, homes)
    facts.connection.execute(
        "INSERT INTO trace.odd "
        "SELECT file, row, shape, name, events FROM trace.named WHERE kind IS NULL"
    )
    for table, members in homes.items():
        _add_layer(facts, table, members, kept)
    if kept == "lean":
        _release_args(facts, homes)
    _add_threads(facts, readings)
    _add_views(facts)
    _add_arrows(facts, kept == "lean")
    return readings


def _add_metadata(facts: Facts) -> None:
    kinds = timeline_catalog().metadata.values()
    args = "".join(
        f" WHEN {text_literal(one.name)} THEN args ->> {text_literal('$.' + one.arg)}"
        for one in kinds
    )
    facts.connection.execute(
        "INSERT INTO trace.metadata "
        f"SELECT file, row, pid, tid, name, CASE name{args} END, args "
        "FROM trace.event WHERE ph = 'M'"
    )


def _add_shapes(facts: Facts) -> None:
    # Of any event, since all of one shape share these.
    facts.connection.execute(
        f"""
INSERT INTO trace.shape
SELECT file, min(row) AS row, shape, any_value(pid), any_value(ph), any_value(cat),
  json_keys(any_value(args)), NULL, NULL, count(*)
FROM trace.event GROUP BY file, shape ORDER BY file, row LIMIT {MAX_SHAPES}
"""
    )


def _add_processes(facts: Facts) -> None:
    named = "arg_min(value, row) FILTER (name = '{0}')"
    facts.connection.execute(
        f"""
INSERT INTO trace.process
SELECT file, coalesce(m.row, s.row), pid, m.name, m.label, m.sort_index, NULL, NULL,
  coalesce(s.events, 0)
FROM (SELECT file, pid, coalesce(min(row) FILTER (name = 'process_name'), min(row)) AS row,
        {named.format("process_name")} AS name, {named.format("process_labels")} AS label,
        TRY_CAST({named.format("process_sort_index")} AS BIGINT) AS sort_index
      FROM trace.metadata WHERE pid IS NOT NULL GROUP BY file, pid) m
FULL JOIN (SELECT file, pid, min(row) AS row, sum(events) AS events
      FROM trace.shape WHERE ph <> 'M' AND pid IS NOT NULL GROUP BY file, pid) s
USING (file, pid) ORDER BY 1, 2 LIMIT {MAX_SHAPES}
"""
    )


def _read(facts: Facts, number: int, file: Deliverable, likely: Sequence[str]) -> Reading:
    select = (
        "SELECT pid, name, label FROM trace.process WHERE file = ? AND name IS NOT NULL "
        "ORDER BY row"
    )
    processes = [(pid, name, label) for pid, name, label in facts.rows(select, (number,))]
    shapes = [shape for shape in _shapes(facts, number) if shape.phase != "M"]
    select = (
        "SELECT DISTINCT pid, tid, value FROM trace.metadata WHERE file = ? "
        "AND name = 'thread_name' AND pid IS NOT NULL AND tid < 100 AND value IS NOT NULL "
        f"ORDER BY ALL LIMIT {MAX_SHAPES}"
    )
    threads = [(pid, tid, name) for pid, tid, name in facts.rows(select, (number,))]
    with file.path.open("rb") as source:
        head = source.read(1 << 20)
    return read_as(file.name, processes, shapes, threads, head, likely, file.is_by)


def _shapes(facts: Facts, number: int) -> Iterator[Shape]:
    select = (
        "SELECT s.shape, s.pid, s.ph, s.cat, s.keys, e.name, s.events FROM trace.shape s "
        "JOIN trace.event e USING (file, row) WHERE s.file = ? ORDER BY s.row"
    )
    for shape, pid, phase, cat, keys, name, events in facts.rows(select, (number,)):
        yield Shape(shape, pid, phase, cat, tuple(keys or ()), name, events)


def _add_layers(facts: Facts, number: int, reading: Reading) -> None:
    facts.connection.executemany(
        "UPDATE trace.process SET layer = ?, "
        "device = TRY_CAST(regexp_extract(label, '([0-9]+)$', 1) AS INTEGER) "
        "WHERE file = ? AND pid = ?",
        [[layer.slug, number, pid] for pid, layer in reading.layers.items()],
    ) if reading.layers else None
    facts.connection.execute(
        "UPDATE trace.shape SET layer = p.layer FROM trace.process p "
        "WHERE p.file = shape.file AND p.pid = shape.pid AND p.file = ?",
        [number],
    )


Home: TypeAlias = tuple[int, Shape, str | None]
"""The file of events of one shape that belong to a layer; the kind where names do not matter."""


def _add_kinds(facts: Facts, number: int, reading: Reading, homes: dict[str, list[Home]]) -> None:
    """The kind of each shape, or where that depends on the names of its events, of each name."""
    phases = {one for key in timeline_catalog().keys.values() for one in key.required}
    for shape in list(_shapes(facts, number)):
        if shape.phase == "M" or reading.is_flow(shape) or shape.pid not in reading.layers:
            continue
        if shape.phase not in phases:
            continue  # that has a finding of its own
        kinds = reading.candidates(shape)
        only = kinds[0] if len(kinds) == 1 and is_free(kinds[0]) else None
        if only is None:
            _name_events(facts, number, shape, kinds)
        else:
            facts.connection.execute(
                "UPDATE trace.shape SET kind = ? WHERE file = ? AND shape = ?",
                [only.kind, number, shape.id],
            )
        if kinds:
            table = layer_table(timeline_catalog().layers[kinds[0].layer].slug)
            homes.setdefault(table, []).append((number, shape, only.kind if only else None))


def _name_events(facts: Facts, number: int, shape: Shape, kinds: Sequence[EventKind]) -> None:
    """The kinds of the events of a shape, name by name."""
    cases = "".join(
        f" WHEN regexp_full_match(name, {text_literal(kind.name.expression)}) "
        f"THEN {text_literal(kind.kind)}"
        for kind in kinds
    )
    kind = f"CASE{cases} END" if cases else "NULL"
    facts.connection.execute(
        f"INSERT INTO trace.named SELECT {number}, row, {shape.id}, name, {kind}, events FROM "
        "(SELECT name, min(row) AS row, count(*) AS events FROM trace.event "
        f"WHERE file = {number} AND shape = {shape.id} GROUP BY name)"
    )


def _add_layer(facts: Facts, table: str, homes: Sequence[Home], kept: Kept) -> None:
    """The events of a layer with their args."""
    left_out = LEFT_OUT.get(table, frozenset())
    columns = [one for one in arg_columns(table) if one.name not in left_out]
    present = {key for _, shape, _ in homes for key in shape.keys}
    wanted = {one.name: one.type for one in columns if one.name in present}
    args = f"from_json(args, {text_literal(json.dumps(wanted))})" if wanted else "NULL"
    place = ", ".join(f"e.{quoted(name)}" for name in LAYER_COLUMNS)
    values = "".join(f", a.{quoted(name)}" for name in wanted)
    parts = []
    for number in sorted({file for file, _, _ in homes}):
        members = [(shape, kind) for file, shape, kind in homes if file == number]
        kinds = "".join(
            f" WHEN {shape.id} THEN {text_literal(kind)}" for shape, kind in members if kind
        )
        shapes = ", ".join(str(shape.id) for shape, _ in members)
        events = f"FROM trace.event WHERE file = {number} AND shape IN ({shapes})"
        named = ""
        kind = f"CASE e.shape{kinds} END"
        if not all(kind for _, kind in members):
            named = " LEFT JOIN trace.named n ON n.shape = e.shape AND n.name = e.name"
            named += f" AND n.file = {number}"
            kind = f"CASE e.shape{kinds} ELSE n.kind END" if kinds else "n.kind"
        if kept == "lean":  # a byte of each event, not as many as a text takes
            known = dict.fromkeys(one.kind for one in layers_by_table()[table].events)
            kind = f"CAST({kind} AS ENUM ({', '.join(map(text_literal, known))}))"
        parts.append(
            f"SELECT {place}, {kind} AS kind{values} FROM (SELECT *, {args} AS a {events}) e{named}"
        )
    select = " UNION ALL ".join(parts)
    if kept == "lean":
        facts.connection.execute(f"CREATE TABLE lean.{table} AS {select}")
        select = f"FROM lean.{table}"
    absent = "".join(
        f", NULL::{one.type} AS {quoted(one.name)}" for one in columns if one.name not in wanted
    )
    what = "TABLE" if kept == "whole" else "VIEW"
    facts.connection.execute(f"CREATE {what} trace.{table} AS SELECT *{absent} FROM ({select})")


def _release_args(facts: Facts, homes: Mapping[str, Sequence[Home]]) -> None:
    """Forget the texts of args that tables of layers hold by now, a third of what events take."""
    held = {
        (number, shape.id)
        for table, members in homes.items()
        if table not in READ_AS_TEXT
        for number, shape, _ in members
        if shape.phase == "X"
    }
    if held:
        listed = ", ".join(map(str, sorted(held)))
        facts.connection.execute(
            "ALTER TABLE trace.event ALTER args TYPE VARCHAR USING CASE "
            f"WHEN (file, shape) IN ({listed}) AND args IS NOT NULL "
            f"THEN {text_literal(RELEASED)} ELSE args END"
        )


def _add_threads(facts: Facts, readings: Mapping[int, Reading]) -> None:
    facts.connection.execute(
        """
INSERT INTO trace.thread
SELECT file, coalesce(min(row) FILTER (name = 'thread_name'), min(row)), pid, tid,
  arg_min(value, row) FILTER (name = 'thread_name'),
  TRY_CAST(arg_min(value, row) FILTER (name = 'thread_sort_index') AS BIGINT), NULL
FROM trace.metadata WHERE name IN ('thread_name', 'thread_sort_index') AND pid IS NOT NULL
GROUP BY file, pid, tid
"""
    )
    for number, reading in readings.items():
        for pid, layer in reading.layers.items():
            for thread in timeline_catalog().threads(layer, reading.writer, reading.file):
                if thread.name is not None:
                    facts.connection.execute(
                        "UPDATE trace.thread SET kind = ? WHERE file = ? AND pid = ? "
                        "AND kind IS NULL AND regexp_full_match(name, ?)",
                        [thread.thread, number, pid, thread.name.expression],
                    )


def _add_views(facts: Facts) -> None:
    of_layer = "LEFT JOIN (SELECT file, pid, layer, device FROM trace.process) USING (file, pid)"
    phases = ", ".join(map(text_literal, FLOWS))
    for name, columns, where in (
        ("flow", "file, row, ph, name, cat, id, pid, tid, ts, bp, layer", f"ph IN ({phases})"),
        (
            "slice",
            "file, row, name, cat, pid, tid, ts, dur, "
            "ts + CAST(round(dur * 1000) AS BIGINT) AS end_ns, layer, device",
            "ph = 'X'",
        ),
        ("counter", "file, row, name, pid, tid, ts, layer, device", "ph = 'C'"),
    ):
        facts.connection.execute(
            f"CREATE VIEW trace.{name} AS "
            f"SELECT {columns} FROM trace.event {of_layer} WHERE {where}"
        )


def _add_arrows(facts: Facts, as_table: bool) -> None:
    """Arrows by category and id, whatever their ends lie on."""
    sides = "".join(
        f", count(*) FILTER (ph = '{phase}') AS {name}s, "
        f"min(row) FILTER (ph = '{phase}') AS {name}_row, "
        f"min(ts) FILTER (ph = '{phase}') AS {name}_ns, "
        f"min(tid) FILTER (ph = '{phase}') AS {name}_tid"
        for phase, name in (("s", "start"), ("f", "end"))
    )
    facts.connection.execute(
        f"""
CREATE {"TABLE" if as_table else "VIEW"} trace.arrow AS
SELECT file, coalesce(end_row, start_row) AS row, cat, id, starts, ends, start_row, end_row,
  start_ns, end_ns, start_tid, end_tid
FROM (SELECT file, cat, id{sides} FROM trace.event WHERE ph IN ('s', 'f') GROUP BY file, cat, id)
"""
    )
