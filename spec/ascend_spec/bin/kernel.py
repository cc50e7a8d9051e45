"""What the figures and tables of a kernel hold, by chip, kind of operator and epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from ascend_spec.core import Axis, Loader, bounds_of
from ascend_spec.core.loader import without
from ascend_spec.core.values import SetMember, ValueSet

from .model import Column, LoadEntry, MemoryTable, PathSet, RooflineChart

Core = Literal["cube", "vector"]
Option = Literal["transfers", "detail"]
Row = Mapping[str, Any]
_CONDITIONS = ("chips", "since", "until", "erratum")


class _Facts:
    """Rows of one document that are in force at an epoch, on a chip, for a kind of operator."""

    document: str

    def __init__(self, loader: Loader, axis: Axis) -> None:
        self._loader = loader
        self._axis = axis

    @cached_property
    def content(self) -> Row:
        """The document itself."""
        content: Row = self._loader.folder.read(f"bin/{self.document}.yaml")
        return content

    @property
    def source(self) -> tuple[str, ...]:
        """Where the facts stand."""
        return tuple(self.content["source"])

    def _standing(self, rows: Sequence[Row], epoch: str, chip: str) -> Iterator[Row]:
        for row in rows:
            chips = row["chips"] if "chips" in row else [row["chip"]]
            if chip in chips and self._axis.in_force(bounds_of(row), epoch):
                yield row


class MemoryFacts(_Facts):
    """Memory paths of 0x08, memory tables of 0x09, and the headers of the table in 0x05."""

    document = "memory_paths"

    @cached_property
    def _tables(self) -> Row:
        content: Row = self._loader.folder.read("bin/memory_tables.yaml")
        return content

    def enums(self) -> Iterator[ValueSet]:
        """Names of tables, of their headers and of their rows."""
        facts, headers, old = self._tables, self._tables["headers"], self._tables["old_headers"]
        rows, source = facts["tables"], tuple(facts["source"])
        yield _names_in_use(
            "table_names", "Names of the tables of 0x09.", source, rows, lambda row: row["tables"]
        )
        yield _names_in_use(
            "table_rows",
            "Names of the rows in the tables of 0x09.",
            source,
            rows,
            lambda row: (*row["rows"], *row.get("optional_rows", ())),
        )
        yield _names_in_use(
            "table_headers",
            "Headers in the tables of 0x09.",
            source,
            rows,
            lambda row: headers[row["headers"]],
            lambda _, name: old.get(name),
        )

    def path_set(self, chip: str, op_type: str, epoch: str) -> PathSet | None:
        """The paths that 0x08 holds, ``None`` where no file of the kind is known."""
        for row in self._standing(self.content["sets"], epoch, chip):
            if row["op_type"] == op_type:
                place = f"{self.document}: {chip} {op_type}"
                return self._loader.fact(PathSet, without(row, *_CONDITIONS), place, chip=chip)
        return None

    def request_bytes(self, chip: str, path: int, epoch: str) -> int | None:
        """Bytes that one request of a path moves, ``None`` for a path that the chip has not."""
        for row in self._standing(self.content["request_bytes"], epoch, chip):
            if path in row["paths"]:
                return int(row["bytes"])
        return None

    def tables(self, chip: str, op_type: str, epoch: str) -> Mapping[str, MemoryTable]:
        """The tables of a block by name, in the order of the file; empty where none are known."""
        found = {
            name: MemoryTable(
                name,
                tuple(self._tables["headers"][row["headers"]]),
                tuple(row["rows"]),
                tuple(row.get("optional_rows", ())),
            )
            for row in self._standing(self._tables["tables"], epoch, chip)
            if op_type in row["op_types"]
            for name in row["tables"]
        }
        return dict(sorted(found.items()))

    def detail_headers(self, chip: str, op_type: str) -> tuple[str, ...]:
        """Headers (``head_name``) of the table of blocks in 0x05; empty where none are known."""
        for row in self._tables["detail_headers"]:
            if chip in row["chips"] and op_type in row["op_types"]:
                return tuple(row["headers"])
        return ()


class LoadFacts(_Facts):
    """The entries of 0x06 and 0x07."""

    document = "compute_load"

    def enums(self) -> Iterator[ValueSet]:
        """Names of the entries."""
        yield _names_in_use(
            "load_names",
            "Names of the entries of 0x06 and 0x07.",
            self.source,
            self.content["entries"],
            lambda row: row["names"],
        )

    def entries(
        self, code: int, chip: str, core: Core, epoch: str, subcore: int | None = None
    ) -> tuple[LoadEntry, ...]:
        """The entries of 0x06 or 0x07 for one core, in their order.

        ``subcore`` is the number of a vector core in a mix block, ``None`` for other operators. A
        sub-block of 310P has the entries of both kinds of cores.
        """
        return tuple(
            LoadEntry(
                f"{name}{subcore}" if subcore is not None and row.get("indexed") else name,
                row["unit"],
                row.get("optional", False),
            )
            for row in self._standing(self.content["entries"], epoch, chip)
            if row["block"] == code and row["core"] == core
            for name in row["names"]
        )


class RooflineFacts(_Facts):
    """The charts of 0x0D."""

    document = "rooflines"

    def enums(self) -> Iterator[ValueSet]:
        """Titles of the charts, and names of the bandwidths."""
        charts = self.content["charts"]
        yield _names_in_use(
            "roofline_titles",
            "Titles of the charts of 0x0D.",
            self.source,
            charts,
            lambda row: [row["title"]],
        )
        yield _names_in_use(
            "roofline_bandwidths",
            "Names of the bandwidths in the charts of 0x0D.",
            self.source,
            charts,
            lambda row: row["bandwidths"],
            lambda row, _: row.get("bandwidth_erratum"),
        )

    def charts(self, chip: str, op_type: str, epoch: str) -> tuple[RooflineChart, ...]:
        """The charts of an operator in the order of the file."""
        return tuple(
            RooflineChart(row["title"], tuple(row["bandwidths"]))
            for row in self._standing(self.content["charts"], epoch, chip)
            if row["core"] in ("both", op_type) or op_type in ("mix", "AiCore")
        )

    def widths(self, chip: str, title: str) -> Mapping[str, int]:
        """By line of a chart, bytes per cycle of a core, where its bandwidth is made of them."""
        rows = (
            row for row in self.content["widths"] if (row["chip"], row["title"]) == (chip, title)
        )
        return next((row["bytes"] for row in rows), {})

    def computilities(self, chip: str, core: Core, epoch: str) -> tuple[str, ...]:
        """How the operations of a core are named; ``{p}`` stands for a share with 6 decimals."""
        return tuple(
            name
            for row in self._standing(self.content["computilities"], epoch, chip)
            if row["core"] == core
            for name in row["names"]
        )


def load_columns(loader: Loader) -> dict[int, dict[str, Column]]:
    """The columns of 0x03 and 0x04, by block type and name."""
    document = "bin/columns.yaml"
    return {
        row["block"]: {
            name: loader.fact(Column, facts, f"{document}: {name}", name=name)
            for name, facts in row["columns"].items()
        }
        for row in loader.folder.read(document)["columns"]
    }


def _names_in_use(
    name: str,
    summary: str,
    source: tuple[str, ...],
    rows: Iterable[Row],
    names: Callable[[Row], Iterable[str]],
    erratum: Callable[[Row, str], str | None] = lambda row, _: row.get("erratum"),
) -> ValueSet:
    """The open set of all names in use: each from its first epoch to its last.

    The erratum about a name is that of its last use, given only where the name went out of use.
    """
    by_value: dict[str, list[SetMember]] = {}
    for row in rows:
        since, until = row.get("since"), row.get("until")
        for value in names(row):
            use = SetMember(value, since=since, until=until, erratum=erratum(row, value))
            by_value.setdefault(value, []).append(use)
    return ValueSet(name, summary, source, tuple(map(_joined, by_value.values())), closed=False)


def _joined(uses: Sequence[SetMember]) -> SetMember:
    starts = [use.since for use in uses]
    ends = [use.until for use in uses]
    since = None if None in starts else min(start for start in starts if start)
    until = None if None in ends else max(end for end in ends if end)
    last = next(use for use in uses if use.until == until)
    return SetMember(last.value, since=since, until=until, erratum=last.erratum if until else None)
