"""Breaks that follow from the spec: in each CSV file a bad cell, or two rows that change places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ascend_spec import per_spec, text_catalog
from ascend_spec.text import CsvColumn, NumberFormat

from ...compare.agreement import names_in
from ...compare.sql import quoted, text_literal
from .cells import CellCheck, checks_of
from .derived.operators import FILES, KINDS
from .folder import Folder
from .loadcsv import columns_in
from .rules import CELLS, CLOCKS, ORDER, TextRule, instances, load_text_rules
from .structurecsv import possible_orders, sort_value

Break = tuple[str, tuple[str, ...]]
"""A place, and the statements that break a rule there."""


def structural_breaks(folder: Folder, rule: TextRule) -> Iterator[Break]:
    """Breaks of a check: those of its document, or made of the spec for cells and their order."""
    if rule.breaks:
        yield "", rule.breaks
    elif rule.search.check and rule.search.check.startswith(CELLS):
        yield from _cell_breaks(folder, rule)
    elif rule.search.check == ORDER:
        yield from _order_breaks(folder)
    elif rule.search.check == CLOCKS:
        yield from _clock_breaks(folder)


def _clock_breaks(folder: Folder) -> Iterator[Break]:
    """Times on the cores that each row takes at another clock, and no samples of it."""
    for name in FILES:
        columns = folder.facts.columns(f"raw.{name}")
        for time in (kind.time for kind in KINDS.values()):
            if time not in columns:
                continue
            cell = quoted(time)
            changed = (
                f"UPDATE raw.{name} SET {cell} = printf('%.3f', 1 + hash(row) % 4999 / 7.0) "
                f"WHERE TRY_CAST({cell} AS DOUBLE) > 0"
            )
            samples = folder.facts.columns("trace.ai_core_freq")
            unsampled = ["DELETE FROM trace.ai_core_freq"] if samples else []
            yield f"{name}: {time}", (changed, *unsampled)


def _cell_breaks(folder: Folder, rule: TextRule) -> Iterator[Break]:
    """One bad cell in one column of each CSV file, in one that the fewest other rules read."""
    for number, at in folder.at.items():
        name = folder.files[number].name
        writer = text_catalog().writers[at.writer]
        columns = list(columns_in(folder.facts, name, writer.id))
        spec = text_catalog().csv[name]
        ordering = {key.column for key in spec.order_by(writer.id, at.family)}
        for text, column in sorted(columns, key=lambda one: _readers(name, one[0])):
            checks = checks_of(text, column, writer, at.family)
            wanted = [one for one in checks if f"cell-{one.fault}" == rule.search.check]
            fits = rule.erratum is None or rule.erratum in column.errata
            other = rule.erratum is None and any(
                one.search.check == rule.search.check and one.erratum in column.errata
                for one in load_text_rules().values()
                if one.erratum
            )
            if wanted and fits and not other and text not in ordering:
                bad = _bad_cell(wanted[0], column.format_by(writer, at.family))
                table = f"raw.{quoted(name)}"
                cell = quoted(text)
                allowed = ", ".join(map(text_literal, (*column.sentinels, "N/A", "")))
                sound = f"rtrim({cell}, chr(9)) NOT IN ({allowed})"
                if rule.search.check == f"{CELLS}uncounted":
                    sound = _counted(columns)
                yield (
                    f"{name}: {text}",
                    (
                        f"UPDATE {table} SET {cell} = {bad} WHERE file = {number} AND row = "
                        f"(SELECT min(row) FROM {table} WHERE file = {number} AND ({sound}))",
                    ),
                )
                break


@per_spec
def _queries(name: str) -> tuple[str, ...]:
    """What rules ask of a CSV file."""
    table = re.compile(rf'\b(?:raw|csv)\."?{name}\b')
    return tuple(
        one.query
        for rule in load_text_rules().values()
        for one in instances(rule)
        if table.search(one.query)
    )


def _readers(name: str, column: str) -> int:
    """The number of queries that read a column of a CSV file."""
    return sum(bool(names_in(query, [column])) for query in _queries(name))


def _order_breaks(folder: Folder) -> Iterator[Break]:
    """The last two neighbours of each CSV file that are not alike change places."""
    for number in folder.at:
        name = folder.files[number].name
        spec, table = text_catalog().csv[name], f"raw.{quoted(name)}"
        orders = possible_orders(folder, number)
        keys = orders[0] if all(orders) else ()
        blocks = [quoted(key.column) for key in keys if key.compare == "block"]
        values = [sort_value(spec, key) for key in keys if key.compare != "block"]
        if not values:
            continue
        partition = f"PARTITION BY {', '.join(blocks)} " if blocks else ""
        pair = folder.facts.rows(
            f"SELECT before, row FROM (SELECT row, {values[0]} AS own, lag(row) OVER w AS before, "
            f"lag({values[0]}) OVER w AS other FROM {table} WHERE file = {number} "
            f"WINDOW w AS ({partition}ORDER BY row)) "
            "WHERE own <> other ORDER BY row DESC LIMIT 1"
        )
        for before, row in pair:
            yield (
                name,
                (
                    f"UPDATE {table} SET row = CASE row WHEN {row} THEN {before} ELSE {row} END "
                    f"WHERE file = {number} AND row IN ({before}, {row})",
                ),
            )


def _counted(columns: Sequence[tuple[str, CsvColumn]]) -> str:
    """SQL for rows that have a value of some counter."""
    cells = (quoted(text) for text, column in columns if column.metric is not None)
    return " OR ".join(f"{cell} <> 'N/A'" for cell in cells)


def _bad_cell(check: CellCheck, form: NumberFormat | None) -> str:
    """SQL for a value that a check refuses, made of a sound one."""
    cell = quoted(check.name)
    tab = " || chr(9)" if check.column.tab else ""
    bare = f"rtrim({cell}, chr(9))"
    beyond = check.column.minimum if check.column.minimum is not None else check.column.maximum
    step = -1 if check.column.minimum is not None else 1
    places = form.decimals if form and form.style == "fixed" and form.decimals else 0
    far = f"{(beyond or 0) + step}{'.' * bool(places)}{'0' * places}"
    return {
        "type": text_literal("three") + tab,
        "sentinel": text_literal("N/A" if "N/A" not in check.column.sentinels else ""),
        "tab": bare,
        "format": f"{bare} || CASE WHEN contains({bare}, '.') THEN '' ELSE '.' END || '00000'{tab}",
        "range": text_literal(far) + tab,
        "member": text_literal("nonsense"),
        "uncounted": text_literal("0.5"),
    }[check.fault]
