"""The entities of the recording as the files of one output folder show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ascend_ref.text.read import is_text
from ascend_ref.timeline.session import WHOLE
from ascend_spec import recording_catalog, text_catalog, timeline_catalog
from ascend_spec.core.shows import RowTest, Show
from ascend_spec.core.units import factor
from ascend_spec.text import CsvColumn, CsvFile
from ascend_spec.timeline import EventKind, Layer

from ...compare.follow import Shown
from ...compare.sql import quoted, text_literal
from ...engine.relations.views import Part, View, Views, with_interval
from .database import AskedOfFacts, Facts
from .layers import layer_table
from .loadcsv import columns_in

FILE_BITS = 40
"""A place is the number of the file above so many bits, and the row in it."""

SLACK_NS = 2
"""Ends are sums of two printed numbers, each cut or rounded to 1 ns."""

LAST = "task_time"
"""Preferred to no other file that shows an entity."""

PART = re.compile(r"\{(\w+)\}")


class ShownByFiles(AskedOfFacts):
    """The facts of a folder as what relations are judged in."""

    def __init__(self, facts: Facts, writers: Mapping[str, str]) -> None:
        self.facts = facts
        self.writers = writers
        """The writer of each CSV file, by its name."""

    def by(self, facts: Facts) -> ShownByFiles:
        """The same facts by another connection; views are made once for both."""
        other = ShownByFiles(facts, self.writers)
        other.__dict__["_views"] = self._views
        return other

    def views(self) -> Sequence[View]:
        """One view for each file or layer and entity of which it shows a column."""
        return self._views

    @cached_property
    def _views(self) -> Views:
        tables = self.facts.tables()
        return Views((*self._files(tables), *self._layers(tables)))

    def _files(self, tables: Mapping[str, frozenset[str]]) -> Iterator[View]:
        for name, spec in text_catalog().csv.items():
            if f"csv.{name}" not in tables or name not in self.writers:
                continue
            texts = self.facts.columns(f"raw.{name}")
            shown: dict[str, dict[str, str]] = {}
            for text, column in columns_in(self.facts, name, self.writers[name]):
                for value, one in csv_values(text, column):
                    entity, _, part = value.partition(".")
                    shown.setdefault(entity, {}).setdefault(part, one.sql)
            for entity, columns in shown.items():
                test = spec.rows.get(entity)
                if test is not None and test.cell not in texts:
                    continue
                where = (row_condition(quoted(test.cell), test, spec),) if test else ()
                whole = _complete(entity, columns, place_of_row())
                rows = Part(f"csv.{quoted(name)}", place_of_row(), whole, where)
                rank = 2 if name == LAST else 1
                yield View(entity, f"{name}.csv", name, (rows,), "csv", rank, _slack(entity))

    def _layers(self, tables: Mapping[str, frozenset[str]]) -> Iterator[View]:
        once = self._whole_timelines()
        for layer in timeline_catalog().layers.values():
            table = f"trace.{layer_table(layer.slug)}"
            if table not in tables:
                continue
            parts: dict[str, list[Part]] = {}
            kinds = {kind for (kind,) in self.facts.rows(f"SELECT DISTINCT kind FROM {table}")}
            for kind in layer.events:
                for entity, part in event_parts(layer, kind, table, tables[table]):
                    found = replace(
                        part, is_empty=kind.kind not in kinds, where=(*part.where, *once)
                    )
                    parts.setdefault(entity, []).append(found)
            for entity, own in parts.items():
                yield View(
                    entity, layer.name, layer.slug, tuple(own), "timeline", 0, _slack(entity)
                )

    def _whole_timelines(self) -> tuple[str, ...]:
        """A condition that leaves out the files which repeat a part of a whole timeline."""
        timelines = self.facts.rows("SELECT file, name FROM unit.file WHERE kind = 'timeline'")
        whole = [file for file, name in timelines if name in WHOLE]
        listed = ", ".join(map(str, whole))
        return (f"e.file IN ({listed})",) if 0 < len(whole) < len(timelines) else ()


def csv_values(text: str, column: CsvColumn) -> Iterator[tuple[str, Shown]]:
    """The values that a column shows, over the typed cell, which is NULL for a sentinel."""
    show, cell = column.shows, quoted(text)
    found: list[tuple[str, Shown | None]] = []
    if show.form in ("first_of", "plain"):
        found = [(one, _typed(cell, one, column.unit, is_text(column))) for one in show.of]
    elif show.form == "words":
        found = [(show.of[0], Shown(words(cell, show)))]
    elif show.form == "pattern" and show.pattern is not None:
        found = [(show.of[0], Shown(_inside(cell, show.pattern, show.of[0])))]
    for value, one in found:
        if one is not None:
            has_none = column.sentinels and one.cell is None
            yield value, replace(one, bare=one.sql) if has_none else one


def event_parts(
    layer: Layer, kind: EventKind, table: str, there: frozenset[str]
) -> Iterator[tuple[str, Part]]:
    """The entities that events of one kind show."""
    joins = {
        "p": "LEFT JOIN trace.process p ON p.file = e.file AND p.pid = e.pid",
        "h": "LEFT JOIN trace.thread h ON h.file = e.file AND h.pid = e.pid AND h.tid = e.tid",
    }
    for entity, values in event_values(layer, kind, there, "e.", "p.").items():
        own = f"e.kind = {text_literal(kind.kind)}"
        test = kind.rows.get(entity)
        where = (own, row_condition(f"e.{quoted(test.cell)}", test)) if test else (own,)
        place = place_of_row("e.")
        columns = {name: one.sql for name, one in values.items()}
        whole = _complete(entity, columns, place)
        yield entity, Part(f"{table} e", place, whole, where, joins=joins)


def event_values(
    layer: Layer, kind: EventKind, there: frozenset[str], event: str = "", process: str = ""
) -> Mapping[str, Mapping[str, Shown]]:
    """The values that events of one kind show, by entity.

    ``there``: the args that the layer has. ``event``, ``process``: what stands before the names of
    their columns; without it names of threads are left out.
    """
    shown: dict[str, dict[str, Shown]] = {}
    cells: dict[str, tuple[str, str | None, bool]] = {
        "ts": (f"{event}ts", None, False),
        "dur": (f"{event}dur", "us", False),
        "tid": (f"{event}tid", None, False),
        "name": (f"{event}name", None, True),
        "device": (f"{process}device", None, False),
    }
    for cell, show in kind.shows.items():
        part, _, field = cell.partition(".")
        if not field:
            _add(shown, show, *cells[cell])
        elif part == "name":
            _add(shown, show, _between(f"{event}name", kind.name.template, field), None, True)
        elif event and (template := _name_of_thread(layer, kind)):
            _add(shown, show, _between("h.name", template, field), None, True)
    for arg in kind.args:
        name = arg.name.template
        if arg.name.is_fixed and name in there:
            test = kind.rows.get(arg.shows.of[0].partition(".")[0]) if arg.shows.of else None
            first = row_condition(f"{event}{quoted(test.cell)}", test) if test else ""
            text = "string" in arg.json
            _add(shown, arg.shows, f"{event}{quoted(name)}", arg.unit, text, arg.none, first)
    for value, constant in kind.fixed.items():
        entity, _, name = value.partition(".")
        literal = text_literal(constant) if isinstance(constant, str) else str(constant)
        shown.setdefault(entity, {})[name] = Shown(literal)
    tests = {entity: kind.rows.get(entity) for entity in shown}
    return {
        entity: values
        for entity, values in shown.items()
        if (test := tests[entity]) is None or test.cell in there
    }


def _add(
    shown: dict[str, dict[str, Shown]],
    show: Show,
    bare: str,
    unit: str | None,
    text: bool,
    none: Sequence[object] = (),
    first: str = "",
) -> None:
    """Add the values that a cell shows.

    ``none``: what stands there for no value. ``first``: SQL for whether the first of several is it.
    """
    cell = without(bare, none) if none else bare
    values: list[tuple[str, Shown | None]] = []
    if show.form == "words":
        values = [(show.of[0], Shown(words(cell, show)))]
    elif show.form in ("plain", "first_of"):
        values = [(show.of[0], _typed(cell, show.of[0], unit, text))]
        if first and show.form == "first_of":
            other = f"(CASE WHEN {first} THEN NULL ELSE {cell} END)"
            values.append((show.of[1], _typed(other, show.of[1], unit, text)))
    for value, one in values:
        if one is not None:
            entity, _, name = value.partition(".")
            known = replace(one, bare=bare) if none and one.sql == cell else one
            shown.setdefault(entity, {}).setdefault(name, known)


def without(cell: str, none: Iterable[object]) -> str:
    """SQL for a cell, NULL for what stands there for no value."""
    listed = ", ".join(text_literal(str(one)) for one in none)
    return f"(CASE WHEN CAST({cell} AS VARCHAR) IN ({listed}) THEN NULL ELSE {cell} END)"


def _name_of_thread(layer: Layer, kind: EventKind) -> str | None:
    """The template of the names of the threads on which events of a kind stand."""
    named = (one.name for one in layer.threads if one.thread == kind.thread and one.name)
    return next((one.template for one in named), None)


def _between(cell: str, template: str, field: str) -> str:
    """SQL for what stands for a field of a template; other fields are any text.

    The first or last of two fields is what stands before the last, or behind the first, of the text
    that separates them: a regular expression takes ten times as long.
    """
    pieces = PART.split(template)
    if len(pieces) == 5 and not pieces[0] and pieces[2] and not pieces[4]:
        between = text_literal(pieces[2])
        if pieces[3] == field:
            part = f"substr({cell}, instr({cell}, {between}) + {len(pieces[2])})"
        else:
            last = f"instr(reverse({cell}), {text_literal(pieces[2][::-1])})"
            part = f"left({cell}, length({cell}) - {last} - {len(pieces[2]) - 1})"
        return f"(CASE WHEN instr({cell}, {between}) > 0 THEN nullif({part}, '') END)"
    pattern = "".join(
        ("(.*)" if piece == field else ".*?") if number % 2 else re.escape(piece)
        for number, piece in enumerate(pieces)
    )
    return f"nullif(regexp_extract({cell}, {text_literal(f'^{pattern}$')}, 1), '')"


def _typed(cell: str, value: str, unit: str | None, text: bool) -> Shown | None:
    """A cell in the type and unit of a value; ``None`` where they do not convert."""
    entity, _, name = value.partition(".")
    column = recording_catalog().entities[entity].columns[name]
    if column.is_text:
        return Shown(cell if text else f"CAST({cell} AS VARCHAR)")
    if text:
        return Shown(f"TRY_CAST({cell} AS BIGINT)")
    if unit == "us" and column.type == "timestampNs":
        return Shown(cell)  # facts hold instants in ns
    return scaled(cell, factor(unit, column.unit))


def scaled(cell: str, times: int | None) -> Shown | None:
    """A number of which one is so many of its value; ``None`` where they do not convert."""
    if times is None or times == 1:
        return Shown(cell) if times else None
    return Shown(f"CAST(round({cell} * {times}) AS BIGINT)", cell, times)


def _inside(cell: str, pattern: str, value: str) -> str:
    entity, _, name = value.partition(".")
    sql = _between(cell, pattern, name)
    is_text = recording_catalog().entities[entity].columns[name].is_text
    return sql if is_text else f"TRY_CAST({sql} AS BIGINT)"


def words(cell: str, show: Show) -> str:
    """SQL for the value that a word of a closed vocabulary stands for."""
    cases = " ".join(
        f"WHEN {text_literal(word)} THEN {text_literal(value) if isinstance(value, str) else value}"
        for word, value in show.words
    )
    return f"(CASE {cell} {cases} END)"


def row_condition(cell: str, test: RowTest, file: CsvFile | None = None) -> str:
    """SQL for whether a row shows an entity.

    file: whose rows, since what stands for no value in a cell of it may be NULL.
    """
    column = file.column(test.cell) if file else None
    has_none = column is not None and not {*column.sentinels}.isdisjoint(test.texts)
    listed = ", ".join(map(text_literal, (*test.texts, "") if has_none else test.texts))
    return f"coalesce({cell}, '') {'NOT IN' if test.negated else 'IN'} ({listed})"


def place_of_row(alias: str = "") -> str:
    """SQL for the place of a row of the facts."""
    return f"({alias}file::BIGINT * {1 << FILE_BITS} + {alias}row)"


def row_of_place(place: int) -> tuple[int, int]:
    """File and row of a place."""
    return place >> FILE_BITS, place & ((1 << FILE_BITS) - 1)


def _complete(entity: str, columns: Mapping[str, str], place: str) -> dict[str, str]:
    """With the third of start, end and length, and with the row as the number of its task."""
    facts = recording_catalog().entities[entity]
    found = with_interval(columns, facts.interval)
    if "task" in facts.identity or entity == "task":
        found.setdefault("id" if entity == "task" else "task", place)
    return found


def _slack(entity: str) -> int:
    return SLACK_NS if recording_catalog().entities[entity].interval else 0
