"""Checks of CSV files that follow from the spec: headers, cells, order of rows, slices."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from ascend_ref.profile.readme import README
from ascend_ref.text.headers import canonical_names
from ascend_spec import catalog, recording_catalog, text_catalog
from ascend_spec.text import CsvFile, SortKey

from ...compare.sql import quoted, text_literal
from .cells import CellCheck, checks_in
from .derived.activity import COMMUNICATION_TYPES
from .derived.operators import FILES
from .findings import HEADER, Fault, Position, example_of, faults_of
from .folder import Folder
from .loadcsv import PLACE
from .rules import load_text_rules

OF_KERNELS = ("kernel_details", "step_trace_time", "op_statistic", "op_summary", "task_time")
"""Files that are written where a device computed."""

Check = Callable[[Folder, int], Iterator[Fault]]
"""From a folder and the number of examples to the faults."""

OF_CELLS = ("too-few-cells", "too-many-cells")
"""Faults of rows that are a matter of their number of cells."""


def malformed_rows(kinds: Sequence[str], folder: Folder, _examples: int) -> Iterator[Fault]:
    """Rows of some kinds of faults that the reader left out."""
    chosen = ", ".join(map(text_literal, kinds))
    select = (
        'SELECT file, row, line, "offset", fault, cells, wanted, times FROM unit.row_fault '
        f"WHERE fault IN ({chosen}) ORDER BY file, row"
    )
    for file, row, line, offset, fault, cells, wanted, times in folder.facts.rows(select):
        yield Fault(
            file,
            count=times,
            total=folder.csv[file][0].count,
            row=row,
            at=Position(line, offset),
            examples=({"fault": fault, "cells": cells},),
            expected=f"{wanted} cells, as many as the header" if fault in OF_CELLS else None,
        )


def byte_order_mark(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Files that begin with a byte order mark."""
    for (file,) in folder.facts.rows("SELECT file FROM unit.file WHERE marked ORDER BY file"):
        yield Fault(file, at=HEADER)


def mixed_line_ends(folder: Folder, _examples: int) -> Iterator[Fault]:
    """CSV files with both line ends."""
    select = (
        "SELECT file, line_feeds, returns FROM unit.file "
        "WHERE line_feeds > 0 AND returns > 0 ORDER BY file"
    )
    for file, feeds, returns in folder.facts.rows(select):
        yield Fault(
            file,
            count=min(feeds, returns),
            total=feeds + returns,
            examples=({"LF": feeds, "CRLF": returns},),
        )


@dataclass(frozen=True, slots=True)
class _Header:
    """The header of a file as the facts have it now, and the one that it should be.

    ``names``: of the columns that the cells stand for; ``due``: those of the cells of ``wanted``.
    """

    file: int
    cells: tuple[str, ...]
    names: tuple[str | None, ...]
    wanted: tuple[str, ...]
    due: tuple[str | None, ...]

    def read_as(self) -> dict[str, str]:
        """Missing columns, each with the one of another name that is read as it."""
        have, need = set(self.cells), set(self.wanted)
        named = {name: cell for name, cell in zip(self.names, self.cells, strict=True) if name}
        return {
            cell: named[name]
            for cell, name in zip(self.wanted, self.due, strict=True)
            if name in named and cell not in have and named[name] not in need
        }

    def renamed(self) -> dict[str, str]:
        """Missing columns in whose places as many strange ones stand, each with its own."""
        have, need = Counter(self.cells), Counter(self.wanted)
        steps = SequenceMatcher(None, self.wanted, self.cells, autojunk=False).get_opcodes()
        return {
            due: cell
            for step, start, stop, first, last in steps
            if step == "replace" and stop - start == last - first
            for due, cell in zip(self.wanted[start:stop], self.cells[first:last], strict=True)
            if due not in have and cell and cell not in need
        } | self.read_as()


def _headers(folder: Folder) -> Iterator[_Header]:
    written: dict[int, list[tuple[str, str]]] = defaultdict(list)
    query = "SELECT file, text, column_name FROM unit.header ORDER BY file, row"
    for number, text, name in folder.facts.rows(query):
        written[number].append((text, name))
    for number, (_, found) in folder.csv.items():
        rows = written[number]
        cells = tuple(text for text, _ in rows)
        spec = text_catalog().csv[folder.files[number].name]
        due = canonical_names(spec, found.wanted, found.circumstances[0].writer)
        names = tuple(name for _, name in rows)
        yield _Header(number, cells, names, found.wanted, tuple(due))


def unreadable_header(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Files without a header that can be read."""
    for header in _headers(folder):
        damage = folder.csv[header.file][0].header_damage
        if damage is not None or not any(header.cells):
            yield Fault(header.file, at=HEADER, examples=({"fault": damage or "empty"},))


def missing_columns(folder: Folder, examples: int) -> Iterator[Fault]:
    """Columns of the nearest header of a writer that a header lacks; those that are read under
    other names together.
    """
    for header in _headers(folder):
        named = header.read_as()
        if len(named) > 1:
            yield Fault(
                header.file,
                count=len(named),
                total=len(header.cells),
                at=HEADER,
                examples=tuple({due: cell} for due, cell in named.items())[:examples],
                expected="the names of the writer",
                remark="other names stand in their places, under which they are judged",
            )
        absent = Counter(header.wanted) - Counter(header.cells)
        renamed = header.renamed()
        for cell in dict.fromkeys(header.wanted):
            if absent[cell] and any(header.cells) and (cell not in named or len(named) == 1):
                remark = f"{renamed[cell]} stands where it should" if cell in renamed else None
                expected = f"the column {cell}"
                yield Fault(header.file, cell, at=HEADER, expected=expected, remark=remark)


def strange_columns(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Columns that the nearest header of a writer does not have; all strange ones together.

    Those that stand in the place of a missing one are shown with it.
    """
    for header in _headers(folder):
        instead = set(header.renamed().values())
        further = [
            (place, cell)
            for place, cell in enumerate(header.cells)
            if cell not in header.wanted and cell and cell not in instead
        ]
        known = [(place, cell) for place, cell in further if header.names[place] is not None]
        for place, cell in known:
            yield Fault(
                header.file,
                cell,
                row=place,
                at=HEADER,
                expected="only columns that the writer gives this file",
                remark="another writer, product or set of counters has it",
            )
        unknown = [cell for place, cell in further if header.names[place] is None]
        if unknown:
            yield Fault(
                header.file,
                count=len(unknown),
                total=len(header.cells),
                at=HEADER,
                examples=tuple({"column": cell[:80]} for cell in unknown[:5]),
                expected="only columns of the spec",
            )


def order_of_columns(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Headers whose known columns stand in another order."""
    for header in _headers(folder):
        common = Counter(header.cells) & Counter(header.wanted)
        given = _common(header.cells, common)
        wanted = _common(header.wanted, common)
        for before, (cell, due) in enumerate(zip(given, wanted, strict=True)):
            if cell != due:
                behind = f"behind {given[before - 1]}" if before else "first"
                expected = f"{due} {behind}, not {cell}"
                yield Fault(header.file, due, at=HEADER, expected=expected)
                break


def _common(cells: Sequence[str], common: Mapping[str, int]) -> list[str]:
    left = Counter(common)
    kept = []
    for cell in cells:
        if left[cell]:
            left[cell] -= 1
            kept.append(cell)
    return kept


def doubled_columns(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Columns that stand in a header more often than they should."""
    for header in _headers(folder):
        wanted = Counter(header.wanted)
        for cell, number in Counter(header.cells).items():
            if number > max(wanted[cell], 1) and cell in wanted:
                place = [at for at, one in enumerate(header.cells) if one == cell][-1]
                times = f"{wanted[cell]} time{'s' * (wanted[cell] > 1)}"
                yield Fault(header.file, cell, count=number, row=place, at=HEADER, expected=times)


def slices_in_order(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Deliverables whose slices are not numbered from 0 on without a gap."""
    select = (
        "SELECT min(file), place, count(*), max(slice) + 1 FROM unit.file WHERE slice IS NOT NULL "
        "GROUP BY place HAVING count(DISTINCT slice) <> max(slice) + 1 ORDER BY 1"
    )
    if not folder.alone:
        for file, _, count, wanted in folder.facts.rows(select):
            yield Fault(file, count=wanted - count, total=wanted, expected=f"{wanted} slices")


def full_slices(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Slices of CSV files, but for the last one, with another number of rows than a full one."""
    select = (
        "SELECT file, name, writer, slice, rows, max(slice) OVER (PARTITION BY name) "
        "FROM unit.file WHERE kind = 'csv' AND slice IS NOT NULL ORDER BY file"
    )
    for file, name, writer, slice_, rows, last in folder.facts.rows(select):
        slicing = text_catalog().csv[name].slicing_by(writer)
        if slicing is None or folder.alone:
            continue
        if rows > slicing.rows or (slice_ < last and rows < slicing.rows):
            expected = f"{slicing.rows:,} rows in each slice but the last"
            yield Fault(file, count=rows, expected=expected, examples=({"rows": rows},))


def cell_faults(folder: Folder, examples: int) -> Iterator[tuple[CellCheck, Fault]]:
    """Every kind of fault in every column of every file; one pass over each file counts them."""
    for number in folder.csv:
        name, at = folder.files[number].name, folder.at[number]
        table = f"raw.{quoted(name)}"
        certain = folder.known("family") == at.family
        columns = folder.facts.columns(f"raw.{name}")[len(PLACE) :]
        checks = [
            check for check in checks_in(name, columns, at) if certain or check.fault != "uncounted"
        ]
        counted = "".join(f", count(*) FILTER ({check.condition})" for check in checks)
        select = f"SELECT count(*){counted} FROM {table} WHERE file = {number}"
        ((_, *counts),) = folder.facts.rows(select)
        for check in (check for check, count in zip(checks, counts, strict=True) if count):
            query = (
                f'SELECT file, row, line, "offset", {quoted(check.name)} FROM {table} '
                f"WHERE file = {number} AND ({check.condition})"
            )
            facts = {"expected": check.expected, "errata": check.column.errata}
            for fault in _bad_rows(
                folder, table, query, [check.name], examples, column=check.name, **facts
            ):
                yield check, fault


def order_of_rows(folder: Folder, examples: int) -> Iterator[Fault]:
    """Rows that stand before one that should come first, file by file.

    Where families that the files leave possible differ, the order that fits best.
    """
    for number in folder.csv:
        spec = text_catalog().csv[folder.files[number].name]
        yield from min(
            (
                list(_disorder(folder, number, spec, keys, examples))
                for keys in possible_orders(folder, number)
            ),
            key=lambda faults: sum(one.count for one in faults),
        )


def possible_orders(folder: Folder, number: int) -> list[tuple[SortKey, ...]]:
    """The orders, by the columns of a file, that its writer may have given to its rows.

    At least one, and an empty one where a possible family has none. Of the families that as many
    files as possible fit, those whose copies have the same writer as this file.
    """
    at, spec = folder.at[number], text_catalog().csv[folder.files[number].name]
    have = folder.facts.columns(f"raw.{spec.name}")
    agreed = {(one.writer, one.family) for one in folder.circumstances}
    fitting = {(one.writer, one.family) for one in folder.csv[number][1].circumstances} & agreed
    families = [at.family, *sorted({family for by, family in fitting if by == at.writer})]
    orders = (spec.order_by(at.writer, family) for family in families)
    return list(
        dict.fromkeys(tuple(key for key in order if key.column in have) for order in orders)
    )


def _disorder(
    folder: Folder, number: int, spec: CsvFile, keys: Sequence[SortKey], examples: int
) -> Iterator[Fault]:
    blocks = [quoted(key.column) for key in keys if key.compare == "block"]
    sorted_keys = [key for key in keys if key.compare != "block"]
    if not sorted_keys:
        return
    values = ", ".join(
        f"{sort_value(spec, key)} AS k{place}" for place, key in enumerate(sorted_keys)
    )
    partition = f"PARTITION BY {', '.join(blocks)} " if blocks else ""
    wrong = "false"
    for place in reversed(range(len(sorted_keys))):
        mark = ">" if sorted_keys[place].descending else "<"
        now, before = f"k{place}", f"lag(k{place}) OVER w"
        wrong = f"({now} {mark} {before} OR ({now} = {before} AND {wrong}))"
    shown = ", ".join(quoted(key.column) for key in keys)
    query = (
        f'SELECT file, row, line, "offset", {shown} FROM (SELECT *, {wrong} AS wrong FROM '
        f"(SELECT *, {values} FROM raw.{quoted(spec.name)} WHERE file = {number}) "
        f"WINDOW w AS ({partition}ORDER BY row)) WHERE wrong"
    )
    words = ", then ".join(f"{key.column}{' descending' * key.descending}" for key in sorted_keys)
    names = [key.column for key in keys]
    facts = {"column": sorted_keys[0].column, "expected": words}
    yield from _bad_rows(folder, f"raw.{quoted(spec.name)}", query, names, examples, **facts)


def _bad_rows(
    folder: Folder, table: str, query: str, names: Sequence[str], examples: int, **facts: Any
) -> Iterator[Fault]:
    """A fault of each file with rows of a query: file, row, line, offset, and columns to show."""
    return faults_of(
        folder,
        table,
        query,
        examples,
        lambda row: Position(*row[2:4]),
        lambda row: example_of(names, row[4:]),
        **facts,
    )


def sort_value(spec: CsvFile, key: SortKey) -> str:
    """SQL for what rows are sorted by."""
    cell = quoted(key.column)
    if key.compare == "number":
        return f"TRY_CAST(rtrim({cell}, chr(9)) AS DECIMAL(30, 6))"
    if key.compare == "member":
        column = spec.column(key.column)
        members = (
            column.members or _members(recording_catalog().enum_of(column.shows)) if column else ()
        )
        places = "".join(
            f" WHEN {text_literal(one)} THEN {place}" for place, one in enumerate(members)
        )
        return f"CASE {cell}{places} END" if places else "0"
    return cell


def _members(enum: str | None) -> tuple[str, ...]:
    """The names of an enum in the order of their ids; none without an enum."""
    if enum is None:
        return ()
    members = catalog().enums[enum].members
    numbers = {one.name: one.id for one in members if one.until is None}
    return tuple(sorted(numbers, key=lambda one: numbers[one]))


def missing_files(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Deliverables that every capture of this level has, and that are not in the folder.

    The findings are about the first file of the folder, since a file that is not there has none.
    Of a device that computed nothing, or was not captured, no file is sure to be there.
    """
    if folder.alone or folder.output is None or folder.level is None or not folder.has_kernels:
        return
    have = {name for (name,) in folder.facts.rows("SELECT DISTINCT name FROM unit.file")}
    writers = {at.writer for at in folder.circumstances}
    families = {at.family for at in folder.circumstances}
    for file in text_catalog().in_folder(folder.output):
        due = [writer for writer in writers if writer in file.writers]
        if (
            file.name not in have
            and file.by_default
            and not file.needs
            and due
            and all(folder.level in file.levels_by(writer) for writer in due)
            and families.issubset(file.families)
        ):
            place = f"{file.modules[folder.output]}.csv"
            yield Fault(min(folder.files), place, expected=place, remark=f"no {place}")


def lost_files(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Deliverables that are not in a folder with others which are always written with them.

    A folder whose level is not stated may be a selection that somebody made. Files of kernels
    are due where there are any.
    """
    if folder.alone or folder.output is None or folder.level is None:
        return
    have = {name for (name,) in folder.facts.rows("SELECT DISTINCT name FROM unit.file")}
    for place in load_text_rules()["LOS301"].search.at:
        name = place["file"]
        signs = sorted(have & set(place["with"].split()))
        if name in OF_KERNELS and not folder.has_kernels:
            continue
        if name == "op_statistic" and _only_communicates(folder):
            continue
        if signs and name not in have and _is_due(folder, name):
            yield Fault(min(folder.files), name, expected=name, remark=f"{signs[0]}, but no {name}")


def _only_communicates(folder: Folder) -> bool:
    """Whether all operators are those of communication, of which op_statistic counts none
    (op_counter_op_scene_calculator.py of msprof).
    """
    cores = [
        f"SELECT {quoted(names.core)} AS core FROM csv.{name}"
        for name, names in FILES.items()
        if names.core in folder.facts.columns(f"csv.{name}")
    ]
    if not cores:
        return False
    kinds = ", ".join(map(text_literal, COMMUNICATION_TYPES))
    found = f"SELECT bool_and(core IN ({kinds})) FROM ({' UNION ALL '.join(cores)})"
    return bool(folder.facts.value(found))


def listed_files(folder: Folder, _examples: int) -> Iterator[Fault]:
    """Kinds of files that README.txt lists, and of which there is none."""
    select = (
        "SELECT line, shown FROM unit.listed "
        "WHERE (kind, name) NOT IN (SELECT (kind, name) FROM unit.file) ORDER BY line"
    )
    for line, shown in folder.facts.rows(select):
        remark = f"line {line} of {README}, but no {shown}"
        yield Fault(min(folder.files), shown, expected=shown, remark=remark)


def _is_due(folder: Folder, name: str) -> bool:
    """Whether the writers write a file at all in this folder; documents and timelines are."""
    file = text_catalog().csv.get(name)
    if file is None:
        return folder.output == "pytorch" or name.startswith("msprof")
    writers = {at.writer for at in folder.circumstances} & {*file.writers}
    return (
        folder.output in file.modules
        and bool(writers)
        and all(folder.level in file.levels_by(one) for one in writers)
    )
