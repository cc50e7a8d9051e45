"""Intermediate files taken apart: their header, rows, sum, and lines of no form of any day."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from string import Formatter
from typing import Literal

from ascend_ref.mindspore.parse.step_rows import AVERAGE
from ascend_ref.raw.lines import LONGEST
from ascend_spec import mindspore_catalog, per_spec
from ascend_spec.core import DAYS, Bounds
from ascend_spec.mindspore import IntermediateFile, Reads, TableColumn

FaultKind = Literal["title", "row", "utf-8", "long"]

_RULER = re.compile(r"-+(?: +-+)*\s*")
_DRAWN = re.compile(r" {2,}")
_TITLE = re.compile(r"={5,}.*={5,}")

BETWEEN = {"flops": ","}
"""What is between values of files of lines that state no form, where it is no blank."""

HEADED = ("flops", "minddata_aicpu", "output_data_preprocess_aicpu")
"""Of these the ones that can begin with the names of their columns."""

EXPORT = "op_summary"
"""What parsers take in place of raw files, on the days on which they do."""

NO_AVERAGE = {"0"}
"""Cells of the row of averages where there are fewer than two steps (mindspore-profiler 3.3)."""


@dataclass(frozen=True, slots=True)
class RowFault:
    """A line that has no form of a day; ``wanted``: what it should be."""

    line: int
    kind: FaultKind
    text: str
    wanted: str


@dataclass
class Table:
    """An intermediate file of rows, which are read once.

    ``header``: its columns as they stand there; of a file without a header those of the spec.
    ``is_headed``: whether it has one. ``is_drawn``: whether columns are filled up with blanks.
    ``faults`` are complete when all rows were taken.
    """

    table: IntermediateFile
    path: Path
    header: Sequence[str] = ()
    header_line: int = 1
    is_headed: bool = True
    is_drawn: bool = False
    faults: list[RowFault] = field(default_factory=list)
    fault_count: int = 0

    def rows(self) -> Iterator[tuple[int, bool, Sequence[str]]]:
        """Line, whether it sums up the others, and cells. Raises ``OSError``."""
        with self.path.open("rb") as file:
            lines = self._decoded(iter(lambda: file.readline(LONGEST), b""))
            match self.table.form:
                case "csv":
                    yield from self._csv(lines)
                case "number":
                    yield from ((line, False, [text]) for line, text in lines if text)
                case _ if any(one.line == "row" for one in self.table.lines):
                    yield from self._formed(lines)
                case _:
                    yield from self._between_blanks(lines)

    def fault(self, line: int, kind: FaultKind, text: str, wanted: str) -> None:
        """Note a line; of many the first are kept."""
        self.fault_count += 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(RowFault(line, kind, text[:80], wanted))

    def _decoded(self, lines: Iterator[bytes]) -> Iterator[tuple[int, str]]:
        for number, content in enumerate(lines, 1):
            if len(content) == LONGEST:
                self.fault(number, "long", "", f"less than {LONGEST:,} bytes")
            try:
                text = content.decode()
            except UnicodeDecodeError:
                text = content.decode("utf-8", "backslashreplace")
                self.fault(number, "utf-8", text.rstrip(), "UTF-8")
            yield number, text.rstrip("\r\n")

    def _csv(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, bool, Sequence[str]]]:
        header = next(lines, None)
        if header is None:
            return
        self.header = [one.strip() for one in cells_of(header[1]) or []]
        for line, text in lines:
            cells = cells_of(text)
            if cells is None:
                self.fault(line, "row", text, "cells between commas")
            elif cells:
                if LATE in self.header and len(cells) == len(self.header) - 1:
                    cells.insert(list(self.header).index(LATE), "")
                if not self._is_long_enough(cells):
                    self.fault(line, "row", text, f"{len(self.header)} cells")
                    continue
                yield line, cells[0] == AVERAGE or set(cells) == NO_AVERAGE, cells

    def _is_long_enough(self, cells: Sequence[str]) -> bool:
        """Rows of a header that grows may be shorter, as the average is then."""
        fixed = sum(one.each is None for one in self.table.columns)
        return len(cells) == len(self.header) or (
            any(one.each for one in self.table.all_columns)
            and fixed - 2 <= len(cells)
            and len(cells) < len(self.header)
        )

    def _formed(
        self, lines: Iterator[tuple[int, str]]
    ) -> Iterator[tuple[int, bool, Sequence[str]]]:
        """A file whose lines have forms: titles, a header, rows, a sum."""
        forms = [one for one in self.table.lines if one.line in ("row", "total")]
        fixed = {one.form for one in self.table.lines if one.line in ("title", "header", "ruler")}
        titles = [one for one in self.table.lines if one.line == "title"]
        wanted = {one.form for one in titles}
        first = list(_first(lines, 3))
        for line, text in first[:1]:
            is_titled = any(one.since is None and one.until is None for one in titles)
            if is_titled and text not in wanted:
                self.fault(line, "title", text, " or ".join(sorted(wanted)))
        heads = {one.form for one in self.table.lines if one.line == "header"}
        self.is_drawn = not any(text in heads for _, text in first) and any(
            _RULER.fullmatch(text) for _, text in first
        )
        if self.is_drawn:
            yield from self._drawn(chain(first, lines), wanted)
            return
        head = next(((line, text) for line, text in first if text in heads), None)
        if head is None:
            line, text = first[0] if first else (1, "")
            self.fault(line, "title", text, " or ".join(sorted(heads)))
        else:
            self.header_line, self.header = head[0], [head[1]]
        read = [(one.line == "total", *_expression(one.form)) for one in forms]
        seen: tuple[bool, re.Pattern[str], Sequence[str]] | None = None
        for line, text in chain(first, lines):
            if text in fixed or not text or _TITLE.fullmatch(text):
                continue
            # Most lines are of the form of the one before.
            for is_end, form, names in [*([seen] if seen else []), *reversed(read)]:
                found = form.fullmatch(text)
                if found:
                    seen = None if is_end else (is_end, form, names)
                    cells = dict(zip(names, map(str.strip, found.groups()), strict=True))
                    yield line, is_end, [cells.get(one, "") for one in self.columns]
                    break
            else:
                wanted_form = " or ".join(one.form for one in forms if one.line == "row")
                self.fault(line, "row", text, wanted_form)

    @property
    def columns(self) -> Sequence[str]:
        """The columns of rows of a file of lines, as the spec has them on all days."""
        return list(dict.fromkeys(one.name for one in self.table.all_columns))

    def _drawn(
        self, lines: Iterator[tuple[int, str]], titles: set[str]
    ) -> Iterator[tuple[int, bool, Sequence[str]]]:
        names: Sequence[str] = ()
        for line, text in lines:
            if not text or text in titles or _RULER.fullmatch(text):
                continue
            cells = _DRAWN.split(text.strip())
            if not names:
                self.header, names, self.header_line = cells, cells, line
                continue
            is_end = cells[0] == "total op" or cells[0].startswith("AI CPU Total")
            if not is_end and len(cells) != len(names):
                self.fault(line, "row", text, f"{len(names)} cells")
                continue
            shown = dict(zip(names, cells, strict=False))
            if is_end and len(cells) == 2:
                shown = {one: cells[1] for one in names if "total" in one}
            yield (
                line,
                is_end,
                [
                    next((text for one, text in shown.items() if _is_called(name, one)), "")
                    for name in self.columns
                ],
            )

    def _between_blanks(
        self, lines: Iterator[tuple[int, str]]
    ) -> Iterator[tuple[int, bool, Sequence[str]]]:
        between = BETWEEN.get(self.table.table)
        first = list(_first(lines, 2))
        if len(first) > 1 and _RULER.fullmatch(first[1][1]):
            self.is_drawn = True
            yield from self._drawn(chain(first, lines), set())
            return
        names = self.columns
        self.header, self.is_headed = names, False
        label = next((one.form for one in self.table.lines if one.line == "total"), None)
        for line, text in chain(first, lines):
            if not text.strip():
                continue
            cells = [one.strip() for one in text.split(between)]
            is_first = line == 1 and self.table.table in HEADED
            if is_first and cells[0] in {*names, *self._first_names}:
                self.header, self.is_headed = cells, True
                continue
            if label is not None and text.startswith(label.split("(")[0]):
                unit = text.partition(")")[0].rpartition("(")[2]
                own = {f"total_time({unit})": cells[-1]}
                yield line, True, [own.get(one, "") for one in names]
                continue
            here = self.header if self.is_headed else names
            least = min(sum(one.since is None for one in self.table.columns), len(here))
            if not (len(here) if self.is_headed else least) <= len(cells) <= len(here):
                self.fault(line, "row", text, f"{len(here)} values")
                continue
            own = dict(zip(here, cells, strict=False))
            yield line, False, [own.get(one, "") for one in names]

    @property
    def _first_names(self) -> set[str]:
        return {some[0].name for some in (self.table.columns, self.table.exported) if some}


LATE = "execution_time"
"""A column of aicpu_intermediate whose header was written two days before its cells were."""

MOST_FAULTS = 1_000
"""Lines of no form that are kept of a file."""


def fitting(table: IntermediateFile, found: Table, days: Sequence[str]) -> list[str]:
    """The days of change of some on which a file has these columns, in this order."""
    alike = _alike(table.table)
    held = [day for day in days if DAYS.in_force(table, day)]
    fits = {first: _fits(table, found, first) for first in {alike[day] for day in held}}
    return [day for day in held if fits[alike[day]]]


@per_spec
def _alike(name: str) -> Mapping[str, str]:
    """By day of change, the first one on which a file has the same columns and headers."""
    table = mindspore_catalog().tables[name]
    seen: list[tuple[str, object]] = []
    alike = {}
    for day in days_of_change():
        headed = [
            (reads, table.columns_on(day, reads), table.line_on("header", day, reads))
            for reads in reads_on(day)
        ]
        first = next((one for one, other in seen if other == headed), None)
        if first is None:
            seen.append((day, headed))
        alike[day] = first or day
    return alike


def _fits(table: IntermediateFile, found: Table, day: str) -> bool:
    return any(_fits_parsers(table, found, day, one) for one in reads_on(day))


def reads_on(day: str) -> Sequence[Reads]:
    """What parsers of a day can have taken to make a file."""
    exported = mindspore_catalog().files[EXPORT]
    return ("raw", "msprof") if DAYS.in_force(exported, day) else ("raw",)


def _fits_parsers(table: IntermediateFile, found: Table, day: str, reads: Reads) -> bool:
    header = [one.strip() for one in found.header]
    names = [one.name for one in table.columns_on(day, reads)]
    if table.form == "csv":
        return any(header == one for one in headers_on(table, header, day, reads))
    if found.is_drawn:
        return len(header) == len(names) and all(map(_is_called, names, header))
    if any(one.line == "row" for one in table.lines):
        return table.line_on("header", day, reads) == (header[0] if header else None)
    if not found.is_headed:
        return True
    # Of some files a day has several headers, of which each leaves columns out.
    return header == names or (table.table == "flops" and set(header) <= set(names))


def _is_called(name: str, shown: str) -> bool:
    """Whether a drawn table calls a column so, which can lack its unit."""
    return shown in (name, _plain(name)) or shown.replace(" ", "_") in (name, _plain(name))


def headers_on(
    table: IntermediateFile, header: Sequence[str], day: str, reads: Reads = "raw"
) -> Iterator[Sequence[str]]:
    """The headers that a file of CSV can have on a day, of each mode; with its own columns of
    reductions, where these have the form of the day.
    """
    every = table.columns_on(day, reads)
    modes = {one.mode for one in every if one.mode is not None}
    for mode in (*sorted(modes), *([None] if len(modes) < 2 else [])):
        columns = [one for one in every if one.mode in (None, mode)]
        fixed = [one.name for one in columns if one.each is None]
        forms = [one.form for one in columns if one.each is not None]
        more = list(header[len(fixed) :])
        if mode == "inference" and forms and fixed[-1] in header:
            more = list(header[len(fixed) - 1 : -1])
            yield [*fixed[:-1], *more, fixed[-1]]
        elif not forms or all(
            forms[place % len(forms)].fits(one) for place, one in enumerate(more)
        ):
            yield [*fixed, *more] if forms else fixed


def newest_header(table: IntermediateFile, days: Sequence[str]) -> str:
    """The header of the last of some days on which a file is written, without reductions."""
    written = [day for day in days if DAYS.in_force(table, day)]
    day = written[-1] if written else days[-1]
    reads = reads_on(day)[-1]
    columns = [one.name for one in table.columns_on(day, reads) if one.each is None]
    return table.line_on("header", day, reads) or ",".join(columns)


@per_spec
def days_of_change() -> Sequence[str]:
    """The days on which something of the files changes, and those of the generations."""
    catalog = mindspore_catalog()
    bounds: list[Bounds] = [*catalog.tables.values(), *catalog.files.values()]
    for table in catalog.tables.values():
        bounds += (*table.all_columns, *table.lines, *table.names)
    for file in catalog.files.values():
        bounds += (*file.names, *file.members, *file.columns)
    bounds += (way for method in catalog.methods.values() for way in method.ways)
    made = [one for one in catalog.generations.values() if one.leaves == "intermediate"]
    days = {day for one in bounds for day in (one.since, one.until) if day}
    end = max(one.day for one in made)
    found = {one for one in days if made[0].since <= one <= end}
    return sorted(found | {day for one in made for day in (one.since, one.day)})


def column_of(table: IntermediateFile, name: str) -> TableColumn | None:
    """The column of a name."""
    return next((one for one in table.all_columns if one.name == name and one.each is None), None)


def _first(lines: Iterator[tuple[int, str]], count: int) -> Iterator[tuple[int, str]]:
    for _ in range(count):
        found = next(lines, None)
        if found is None:
            return
        yield found


def cells_of(text: str) -> list[str] | None:
    """The cells of a line of CSV; ``None`` for one that is none."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error:
        return None


def _plain(name: str) -> str:
    """The name of a column without its unit, as drawn tables can have it."""
    return name.partition("(")[0].replace(" ", "_")


def _expression(form: str) -> tuple[re.Pattern[str], Sequence[str]]:
    """A form of a line as an expression with a group for each column, and their names."""
    names, text = [], ""
    for fixed, name, filled, _ in Formatter().parse(form):
        text += re.escape(fixed)
        if name is not None:
            names.append(name)
            width = (filled or "").lstrip("<>")
            text += f"(.{{{width},}}?)" if width else r"(\S+?)" if "," in form else r"(\S+)"
    return re.compile(text), names
