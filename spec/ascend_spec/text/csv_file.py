"""One kind of CSV file, and the header that it has under given circumstances."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

from ascend_spec.core import Grade
from ascend_spec.core.shows import RowTest

from .model import (
    SCENES,
    Circumstances,
    CsvColumn,
    Level,
    Output,
    PmuPlace,
    Scene,
    Slicing,
    SortKey,
    Writer,
)
from .pmu import PmuGroups


@dataclass(frozen=True)
class CsvFile:
    """One kind of CSV file; ask :meth:`header` for the columns under given circumstances.

    ``modules`` gives, by output, what ``{module}`` stands for in the file name; ``writers`` those
    that write the file, by id. ``data``: the rows of the matrix of products that it shows.
    ``tables`` are the database tables that show the same, ``timeline`` the layers of the trace that
    show the same. ``levels`` are the profiler levels that yield the file, by writer or engine where
    they differ (``*``: every other); ``needs`` says what else it takes. ``by_default``: collected
    without any option. ``order``: row order by writer or engine. ``slicing``: where it is not that
    of the writer. ``pmu``: how columns of ``groups`` follow those of the file. ``rows``: which
    rows show an entity of the recording, where not all do. ``trailing_comma``: writers that end the
    header and each row with a comma.
    """

    name: str
    summary: str
    modules: Mapping[Output, str]
    writers: Mapping[str, Writer]
    families: tuple[str, ...]
    own_columns: tuple[CsvColumn, ...]
    grade: Grade
    source: tuple[str, ...]
    pmu: PmuPlace | None = None
    groups: PmuGroups | None = None
    data: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    timeline: tuple[str, ...] = ()
    levels: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    by_default: bool = False
    order: Mapping[str, tuple[SortKey, ...]] = field(default_factory=dict)
    slicing: Slicing | None = None
    rows: Mapping[str, RowTest] = field(default_factory=dict)
    trailing_comma: tuple[str, ...] = ()
    note: str | None = None
    errata: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> tuple[CsvColumn, ...]:
        """Every column of every writer, family, level and metrics; a name may occur again under
        another condition.
        """
        if self.pmu is None or self.groups is None:
            return self.own_columns
        columns = self.groups.every_column(self.pmu)
        if self.grade != "documented":
            columns = tuple(replace(one, grade=self.grade, source=self.source) for one in columns)
        return (*self.own_columns, *columns)

    def column(self, name: str, writer: str | None = None) -> CsvColumn | None:
        """The column with this header text, old texts included; ``None`` for a strange one.

        A text that several writers use under different conditions is looked up for the given one.
        """
        found = self._by_name.get(name, ())
        if writer is not None:
            by = self._writer(writer)
            found = tuple(one for one in found if one.when.admits(by)) or found
        return found[0] if found else None

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[CsvColumn, ...]]:
        by_name: dict[str, tuple[CsvColumn, ...]] = {}
        for column in self.columns:
            for name in column.names:
                by_name[name] = (*by_name.get(name, ()), column)
        return by_name

    def header(self, *, writer: str, **at: Any) -> tuple[str, ...]:
        """The header texts of :meth:`columns_at`, each exactly as the writer prints it."""
        columns = self.columns_at(writer=writer, **at)
        return tuple(one.name_by(self.writers[writer]) for one in columns)

    def columns_at(
        self,
        *,
        writer: str,
        family: str,
        level: Level = 1,
        metrics: str | None = None,
        scene: Collection[Scene] = (),
        repeat: int = 0,
        registers: Sequence[str] = (),
    ) -> tuple[CsvColumn, ...]:
        """The columns under the given circumstances, in order; repeated ones as often as there.

        ``repeat`` is the number of times that the repeated group stands there, ``registers`` the
        names of counters that the user chose himself. Raises ``ValueError`` naming the known values
        for a writer that does not write the file, and for a family, level, metrics or scene that
        does not exist or does not go with the others.
        """
        by = self._writer(writer)
        known("family", family, by.families)
        known("level", level, get_args(Level))
        for one in scene:
            known("scene", one, SCENES)
        at = Circumstances(by, family, level, metrics, frozenset(scene))
        columns = list(_spread([one for one in self.own_columns if one.when.holds(at)], repeat))
        if self.pmu is not None and self.groups is not None:
            columns += self.groups.columns_at(self.pmu, at, registers)
        return tuple(columns)

    def levels_by(self, writer: str) -> tuple[Level, ...]:
        """The profiler levels at which a writer yields the file."""
        by = self._writer(writer)
        named = (self.levels[one] for one in (by.id, by.engine, "*") if one in self.levels)
        return next(named, get_args(Level))

    def order_by(self, writer: str, family: str | None = None) -> tuple[SortKey, ...]:
        """The row order of a writer; empty where it promises none. A copy keeps the order."""
        return self._writer(writer).choice(self.order, family) or ()

    def slicing_by(self, writer: str) -> Slicing | None:
        """How a writer cuts the file; ``None`` where it never does."""
        return self.slicing or self._writer(writer).slicing

    def _writer(self, name: str) -> Writer:
        known(f"writer of {self.name}", name, self.writers)
        return self.writers[name]


def _spread(columns: Sequence[CsvColumn], repeat: int) -> Iterator[CsvColumn]:
    """The columns with every group repeated in its place."""
    done: set[str] = set()
    for column in columns:
        if column.group is None:
            yield column
        elif column.group not in done:
            done.add(column.group)
            members = [one for one in columns if one.group == column.group]
            for number in range(repeat):
                for one in members:
                    yield replace(one, name=one.name.replace("{n}", str(number)))


def known(what: str, value: object, allowed: Collection[object]) -> None:
    """Raises ``ValueError`` unless the value is one of the allowed."""
    if value not in allowed:
        names = ", ".join(str(one) for one in allowed)
        raise ValueError(f"unknown {what}: {value!r}; known: {names}")
