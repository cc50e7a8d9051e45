"""What the documents of this folder say, as immutable objects: facts, little behaviour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ascend_spec.core import DAYS, Bounds, Grade
from ascend_spec.core.names import NameForm
from ascend_spec.core.shows import Show

Target = Literal["ascend", "gpu", "cpu", "host"]
"""On what a file is written."""

Reads = Literal["raw", "msprof"]
"""What parsers take: raw files, or what msprof exports of them."""

Leaves = Literal["intermediate", "profile"]
"""What a generation leaves: intermediate files, or a folder ``*_ascend_ms``."""

ParallelMode = Literal["data-parallel", "model-parallel", "pipeline-parallel"]
"""How ranks share the work of a run."""

PARALLEL_MODES: tuple[ParallelMode, ...] = get_args(ParallelMode)

Form = Literal["records", "text", "json", "csv", "messages"]
TableForm = Literal["csv", "lines", "table", "number", "json"]
"""CSV; lines of values between blanks or commas under titles; a drawn table; one number; JSON."""

Style = Literal["text", "integer", "shortest", "json"]
"""Of values: as they came, a whole number, the shortest text of a double, a document."""

LineEnd = Literal["lf", "crlf"]
LineKind = Literal["title", "header", "ruler", "row", "total", "detail_title", "detail_row"]
"""Of a file of lines: what stands once in front of the rows, a row, what stands behind them, and
the same of a second table below the first.
"""

Place = Literal["job", "data", "device", "host-data", "summary", "framework", "hccl", "export"]
"""Where a file lies: in the folder of a job or its ``data``, in that of a device in the job's,
where there is one, in ``host/data`` next to it, in ``profiler`` of the summary, in ``FRAMEWORK``,
in that of an operator below ``hccl_info``, in that of an export of msprof, which its name states.
"""

Mode = Literal["training", "inference", "pipeline"]

IGNORED = (".done", ".join", ".zip")
"""Names that end so are marks, what a parser joined, and archives."""

TICKS = 100
"""Of the counter of a device in a microsecond (mindspore-profiler 1.2)."""

TASK_NUMBERS = 1 << 16
"""Numbers of tasks, before they begin again."""
ALONE_FROM = 25_000
"""Tasks from here on are known by their number alone (task-from-25000)."""
LAST_BEFORE_FLIP = 65_000
"""A task behind a greater number than this begins again (task_key)."""

OWN_NUMBERS = 200
"""What is added to numbers of formats and types that are MindSpore's own (from-200)."""

UNRANKED = 0xFFFF_FFFF
"""In place of the own rank, in traces of communication (mindspore-profiler 3.6)."""

REDUCTION_BEGIN, REDUCTION_END = "_start_point", "_end_point"
"""What the names of columns of each reduction end with in step_trace_raw; that of its length ends
with neither.
"""


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of the profiler.

    ``since``: its first day; ``day``: the one whose facts its name stands for (ISO). ``reads``:
    whether its parsers take raw files, or what msprof exports; ``leaves``: what they make.
    ``viewer``: the last version of the viewer, where that reads no later generation.
    """

    id: str
    since: str
    day: str
    reads: Reads
    summary: str
    source: tuple[str, ...]
    grade: Grade
    leaves: Leaves = "intermediate"
    viewer: str | None = None


@dataclass(frozen=True, slots=True)
class DatedName(Bounds):
    """A name of a file, and the days on which it is written.

    ``folder``: the only one in which it means the file; ``None`` where it does in any.
    """

    form: NameForm
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class ReadColumn(Bounds):
    """A column that parsers read of what msprof exports, in the days on which they do.

    ``takes``: what they take it for. ``optional``: whether a file can be without it.
    """

    name: str
    takes: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class TableColumn(Bounds):
    """A column of an intermediate file, in the days on which it is there.

    ``unit``: of its numbers. ``style``: how they are written. ``shows``: what of the recording.
    ``mode``: of the runs that have it, where not all have. ``each``: what it comes once for, each
    time with other parts in place of those in braces in its name.
    """

    name: str
    summary: str
    shows: Show
    style: Style = "text"
    unit: str | None = None
    mode: Mode | None = None
    each: str | None = None
    errata: tuple[str, ...] = ()

    @property
    def form(self) -> NameForm:
        """Its name with the parts that change."""
        return NameForm.made(self.name, {})


@dataclass(frozen=True, slots=True)
class DatedLine(Bounds):
    """A kind of line of a file, in the days on which it is so.

    ``form``: its text, in which the name of a column in braces is its cell; behind a colon stands
    how it is filled up, as in the format strings of Python. ``reads``: of what parsers it is.
    """

    line: LineKind
    form: str
    reads: Reads = "raw"


@dataclass(frozen=True, slots=True)
class Way(Bounds):
    """One of the ways in which parsers do something, in the days on which they do it so."""

    way: str
    summary: str


@dataclass(frozen=True, slots=True)
class Method:
    """What parsers do in another way on other days; of ``ways`` one holds on each day."""

    method: str
    summary: str
    source: tuple[str, ...]
    grade: Grade
    ways: tuple[Way, ...]

    def way_on(self, day: str) -> str:
        """The way of a day. Raises ``KeyError`` where none holds."""
        for one in self.ways:
            if DAYS.in_force(one, day):
                return one.way
        raise KeyError(f"{self.method}: no way is known of {day}")


@dataclass(frozen=True, slots=True)
class IntermediateFile(Bounds):
    """One kind of file that a parser makes.

    ``names``: every name under which it is written, the oldest first. ``parser``: which makes it;
    ``made_of``: raw files and other intermediate files that it takes for it. ``columns``: those of
    all days, in order; ``exported``: those of a file made of what msprof exports, where they are
    others. ``lines``: those of a file of lines. ``sorted_by``: the order of its rows, in words.
    """

    table: str
    names: tuple[DatedName, ...]
    form: TableForm
    summary: str
    source: tuple[str, ...]
    grade: Grade
    parser: str
    made_of: tuple[str, ...]
    columns: tuple[TableColumn, ...] = ()
    exported: tuple[TableColumn, ...] = ()
    lines: tuple[DatedLine, ...] = ()
    line_end: LineEnd = "lf"
    sorted_by: str | None = None
    note: str | None = None
    errata: tuple[str, ...] = ()

    @property
    def all_columns(self) -> tuple[TableColumn, ...]:
        """Those of all days and parsers."""
        return self.columns + self.exported

    def columns_on(self, day: str, reads: Reads = "raw") -> tuple[TableColumn, ...]:
        """The columns of a day, by what parsers read."""
        every = self.exported if reads == "msprof" and self.exported else self.columns
        return tuple(one for one in every if DAYS.in_force(one, day))

    def name_on(self, day: str) -> NameForm | None:
        """The newest of the names that are written on a day; ``None`` where none is."""
        return name_on(self.names, day)

    def line_on(self, line: LineKind, day: str, reads: Reads = "raw") -> str | None:
        """The form of a kind of line on a day, by what parsers read; ``None`` where there is
        none.
        """
        on = (one for one in self.lines if one.line == line and DAYS.in_force(one, day))
        return next((one.form for one in on if one.reads == reads), None)


def name_on(names: Sequence[DatedName], day: str) -> NameForm | None:
    """The newest of the names that are written on a day; ``None`` where none is."""
    on = [one.form for one in names if DAYS.in_force(one, day)]
    return on[-1] if on else None


@dataclass(frozen=True, slots=True)
class DatedRecord(Bounds):
    """A kind of record of a file, by its declaration in ``records``, and the days on which it is.

    ``values`` of the field that the file selects by mean this record; without any it is each record
    that no other is.
    """

    record: str
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CaptureFile(Bounds):
    """One kind of raw file.

    ``names``: every name under which it is written, the oldest first. ``members``: the records of a
    file of records, ``select`` the field in which they differ. ``grammar``: the lines of a file of
    text. ``columns``: what parsers read of a file of CSV. ``parser``: the one that reads it,
    ``None`` where none does.
    """

    file: str
    target: Target
    names: tuple[DatedName, ...]
    summary: str
    source: tuple[str, ...]
    grade: Grade
    form: Form = "records"
    places: tuple[Place, ...] = ("job", "data")
    select: str | None = None
    members: tuple[DatedRecord, ...] = ()
    grammar: str | None = None
    columns: tuple[ReadColumn, ...] = ()
    parser: str | None = None
    note: str | None = None
    errata: tuple[str, ...] = ()

    @property
    def is_exported(self) -> bool:
        """Whether msprof makes it of raw files."""
        return "export" in self.places

    def named(
        self, name: str, folder: str | None = None
    ) -> tuple[DatedName, Mapping[str, str]] | None:
        """The name that a file's is in a folder, with its changing parts; ``None`` for a file of
        another kind.

        A name that several days have in common is the oldest of them.
        """
        if name.endswith(IGNORED):
            return None
        here = (one for one in self.names if one.folder in (None, folder))
        found = ((one, one.form.named(name)) for one in here)
        return next(((one, parts) for one, parts in found if parts is not None), None)

    def name_on(self, day: str) -> NameForm | None:
        """The newest of the names that are written on a day; ``None`` where none is."""
        return name_on(self.names, day)

    def members_on(self, day: str) -> tuple[DatedRecord, ...]:
        """The kinds of records of a day."""
        return tuple(one for one in self.members if DAYS.in_force(one, day))
