"""What the documents of this folder say, as immutable objects: facts, and look-up in them.

A *writer* is one generation of an exporter; its ``date`` selects the facts with ``since`` and
``until`` (ISO days, ``until`` is the first day without the fact, ``None`` where there is no bound).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args

from ascend_spec.core import DAYS, Bounds, Grade, StorageClass
from ascend_spec.core.bounds import allows
from ascend_spec.core.shows import Show

Output = Literal["msprof", "pytorch", "mindspore"]
Engine = Literal["cpp", "python", "adapter", "viewer"]
LineEnd = Literal["lf", "crlf"]
Quoting = Literal["none", "minimal"]
Level = Literal[0, 1, 2]
Mode = Literal["task-based", "sample-based"]
Core = Literal["aic", "aiv"]
Scene = Literal["steps", "per-graph", "communication-only", "no-operators"]
Compare = Literal["number", "text", "member", "block"]
Style = Literal["fixed", "rounded", "stripped", "integer", "shortest", "text"]

Choice = TypeVar("Choice")

SCENES: tuple[Scene, ...] = get_args(Scene)


@dataclass(frozen=True, slots=True)
class Slicing:
    """How a writer cuts a file that is too long for one.

    ``rows``: data rows of a full slice, or of all slices where ``fails`` (more rows are an error).
    ``suffix_from``: rows from which on the names carry the number of the slice.
    """

    rows: int
    suffix_from: int
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Writer:
    """One generation of an exporter.

    ``name`` and ``sliced`` are templates of file names (``{module}``, ``{timestamp}``,
    ``{slice}``). ``copies`` gives, by family, the writer of the msprof files that it copies, with
    ``*`` for every other family; ``verbatim`` are files that it copies as they are, with the line
    ends and quotes of that writer. ``like``: the newest writer of its kind, whose facts an older
    one has as far as its day allows. ``tabbed`` is false where absolute times have no trailing tab
    and no fixed number of decimals. ``exchanged_totals``: operator_memory has what is reserved
    under Allocated and Active, and what is allocated under Reserved (erratum M78). ``ns_per_us``:
    by what operator_memory divides ns (erratum M61).
    """

    id: str
    output: Output
    engine: Engine
    date: str
    current: bool
    summary: str
    grade: Grade
    source: tuple[str, ...]
    families: tuple[str, ...]
    line_end: LineEnd
    quoting: Quoting
    name: str
    sliced: str | None = None
    slicing: Slicing | None = None
    copies: Mapping[str, str] = field(default_factory=dict)
    verbatim: tuple[str, ...] = ()
    like: str | None = None
    tabbed: bool = True
    exchanged_totals: bool = False
    ns_per_us: int = 1000
    errata: tuple[str, ...] = ()

    @property
    def kin(self) -> frozenset[str]:
        """Its id, and that of the newest writer of its kind."""
        return frozenset(filter(None, (self.id, self.like)))

    def copied(self, family: str) -> str:
        """The writer whose choices the columns follow on a family: the newest of its kind, unless
        it copies.
        """
        return self.copies.get(family, self.copies.get("*", self.like or self.id))

    def choice(self, by: Mapping[str, Choice], family: str | None) -> Choice | None:
        """What is said of the writer, else of the one it copies, of its engine, of every other."""
        names = self.id, self.copied(family or "*"), self.engine, "*"
        return next((by[one] for one in names if one in by), None)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides which columns a file has."""

    writer: Writer
    family: str
    level: Level = 1
    metrics: str | None = None
    scene: frozenset[Scene] = frozenset()


@dataclass(frozen=True, slots=True)
class Condition(Bounds):
    """When a column is there. An empty tuple asks nothing; scenes of ``without`` hide it."""

    outputs: tuple[Output, ...] = ()
    writers: tuple[str, ...] = ()
    not_writers: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()
    metrics: tuple[str, ...] = ()
    scenes: tuple[Scene, ...] = ()
    without: tuple[Scene, ...] = ()

    def admits(self, writer: Writer) -> bool:
        """Whether a generation of this writer, of whatever day, can have the column."""
        return (
            allows(self.outputs, writer.output)
            and allows(self.writers, writer.id)
            and writer.id not in self.not_writers
        )

    def holds(self, at: Circumstances) -> bool:
        """Whether a column with this condition is there."""
        return (
            self.admits(at.writer)
            and allows(self.families, at.family)
            and allows(self.levels, at.level)
            and allows(self.metrics, at.metrics)
            and (not self.scenes or not at.scene.isdisjoint(self.scenes))
            and at.scene.isdisjoint(self.without)
            and DAYS.in_force(self, at.writer.date)
        )


ALWAYS = Condition()


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a writer prints a number.

    ``fixed``: exactly ``decimals`` digits; ``rounded``: rounded to at most so many and printed as
    the shortest decimal, ``45.59`` and ``0.0``; ``stripped``: the same without zeros at the end,
    ``0``; ``integer``: cut to an integer; ``shortest``: the shortest text of the double, unrounded;
    ``text``: as it came.
    """

    style: Style
    decimals: int | None = None


@dataclass(frozen=True, slots=True)
class Rename(Bounds):
    """An older header text of a column, and the writers that have it: those before ``until`` or,
    where ``writers`` names some, those.
    """

    name: str
    writers: tuple[str, ...] = ()

    def holds(self, writer: Writer) -> bool:
        """Whether a writer uses the older text."""
        if self.writers:
            return writer.id in self.writers
        return DAYS.in_force(self, writer.date)


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """One column, with the facts of its value type already merged in.

    ``name`` is the newest header text and the canonical name. Columns of one ``group`` repeat
    together, under the same text each time or with ``{n}`` counted from 0. ``sentinels`` are texts
    that mean "no value", ``""`` an empty cell; ``members`` the only texts there may be, in order of
    their numbers where they have some. ``formats`` gives, by writer or engine (``*``: every
    other), how numbers are printed; with ``tab``, a tab follows the value. ``formula`` names the
    derivation in ``ascend_ref.derive``; ``shows``: what of the recording it shows. ``inner``:
    regular expressions, of which the group of the first that matches is the value within the cell.
    A column of performance counters has a ``metric``, by the name that it has in TASK_PMU_INFO, and
    where the layout has two blocks, a ``core``.
    """

    name: str
    type: str
    shows: Show
    storage: tuple[StorageClass, ...]
    summary: str
    grade: Grade
    source: tuple[str, ...]
    unit: str | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    formats: Mapping[str, NumberFormat] = field(default_factory=dict)
    tab: bool = False
    sentinels: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    when: Condition = ALWAYS
    renamed: tuple[Rename, ...] = ()
    group: str | None = None
    formula: str | None = None
    inner: tuple[str, ...] = ()
    metric: str | None = None
    core: Core | None = None
    errata: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every header text that the column has or had, newest first."""
        return (self.name, *(one.name for one in self.renamed))

    @property
    def decimals(self) -> int | None:
        """The greatest number of decimals that any writer prints; ``None`` where not limited."""
        known = [one.decimals for one in self.formats.values() if one.decimals is not None]
        return max(known, default=None)

    def name_by(self, writer: Writer) -> str:
        """The header text of one writer."""
        return next((one.name for one in self.renamed if one.holds(writer)), self.name)

    def format_by(self, writer: Writer, family: str | None = None) -> NumberFormat | None:
        """How a writer prints the column's numbers; ``None`` where they are texts.

        A copy has the format of its original, which depends on the ``family``.
        """
        return writer.choice(self.formats, family)


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of a row order. ``compare``: as number, as text, by the number of the enum member, or
    ``block``: rows of one value stand together, in no known order of the values.
    """

    column: str
    compare: Compare = "number"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class PmuPlace:
    """How columns of performance counters follow the columns of the file itself.

    ``core``: the file is about one kind of core only.
    """

    mode: Mode
    core: Core | None = None
