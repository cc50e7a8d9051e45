"""The facts of one file: a private SQLite database that the rules ask, filled from the blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, product
from typing import Any

import apsw

from ascend_spec import bin_catalog, per_spec
from ascend_spec.core import packaged

from ...engine.sqlite_facts import SqliteFacts, SqlValue, open_sqlite
from .flatten import FactTable, fact_tables

GROUPS = 50_000
"""Groups counted in memory before they are written; what is written in parts is summed by SQL."""

ROWS = 1_000_000
GROUPED_ROWS = 5_000_000
"""Rows of one payload that a table takes; what real files hold is far below."""

PLACES = {"pointer", "offset"}
"""Columns that say where a value stands."""

IMPLICIT = ("block", "code", "pointer")
"""Columns that come before those which a fact table declares."""


@per_spec
def plain_tables() -> Mapping[str, tuple[str, ...]]:
    """Tables that are filled in Python, with their columns (``tables.yaml``)."""
    documents = packaged(__package__, "tables.yaml")
    return {name: tuple(document["columns"]) for name, document in documents.items()}


@per_spec
def views() -> Mapping[str, str]:
    """Queries that several rules share, by the name of the view (``views.yaml``)."""
    return dict(packaged(__package__, "views.yaml"))


class Facts(SqliteFacts):
    """The open database. ``overrun`` names the tables that could not take all rows."""

    def __init__(self, connection: apsw.Connection) -> None:
        columns = dict(plain_tables())
        for table in fact_tables().values():
            times = ["times"] if table.grouped else []
            columns[table.name] = (*IMPLICIT, *table.columns, *times)
        super().__init__(connection, columns, views())
        self.overrun: set[str] = set()

    def add(self, table: str, rows: Iterable[Sequence[SqlValue]]) -> None:
        """Append rows to a table, values in the order of its columns.

        A table whose last column is ``times`` gets rows without it: equal ones are counted there,
        whatever their places, of which the first are kept.
        """
        columns = self.tables[table]
        if columns[-1] == "times":
            rows = _grouped(rows, sum(name in PLACES for name in columns[2:4]))
        super().add(table, rows)

    def add_payload(self, block: int, code: int, payload: Any) -> None:
        """The rows of every fact table that a JSON payload of this type holds."""
        for table in fact_tables().values():
            if code in table.blocks:
                rows = _rows(table, block, code, payload)
                self.add(table.name, islice(rows, GROUPED_ROWS if table.grouped else ROWS))
                if next(rows, None) is not None:
                    self.overrun.add(table.name)


def _rows(table: FactTable, block: int, code: int, payload: Any) -> Iterator[list[SqlValue]]:
    for pointer, values in table.rows(payload):
        yield [block, code, pointer, *values]


def _grouped(rows: Iterable[Sequence[SqlValue]], places: int) -> Iterator[list[SqlValue]]:
    """Rows with their number behind them. Block and code come first, and then their places."""
    groups: dict[tuple[SqlValue, ...], list[Any]] = {}
    for row in rows:
        key = (*row[:2], *row[2 + places :])
        group = groups.setdefault(key, [row[2 : 2 + places], 0])
        group[1] += 1
        if len(groups) >= GROUPS:
            yield from _counted(groups)
            groups = {}
    yield from _counted(groups)


def _counted(groups: Mapping[tuple[SqlValue, ...], list[Any]]) -> Iterator[list[SqlValue]]:
    for (block, code, *values), (places, times) in groups.items():
        yield [block, code, *places, *values, times]


@contextmanager
def open_facts() -> Iterator[Facts]:
    """An empty database of facts, gone when the block ends."""
    with open_sqlite("OFF") as connection:
        yield Facts(connection)


def add_spec_tables(facts: Facts, epoch: str) -> None:
    """Fill the ``spec_`` tables with what is in force at an epoch (``tables.yaml``), so that rules
    name no number themselves."""
    for table, rows in _tables(epoch).items():
        facts.add(table, rows)


@per_spec
def _tables(epoch: str) -> Mapping[str, Sequence[Sequence[SqlValue]]]:
    known = bin_catalog()
    enums, memory = known.enums, known.memory
    chips = [str(one.value) for one in enums["chips"].members]
    op_types = [str(one.value) for one in enums["op_types"].members if one.alias_of is None]
    kernels = list(product(chips, op_types))
    return {
        "spec_enum": [
            (name, one.value, one.alias_of, one.label)
            for name, enum in enums.items()
            for one in enum.members
        ],
        "spec_chip_tag": [
            (one.value, chip) for one in enums["chip_tags"].members for chip in one.chips
        ],
        "spec_path": [row for chip, kind in kernels for row in _paths(chip, kind, epoch)],
        "spec_request": [
            (chip, path.value, size)
            for chip, path in product(chips, enums["memory_paths"].members)
            if (size := memory.request_bytes(chip, int(path.value), epoch)) is not None
        ],
        "spec_table_row": [
            (chip, kind, table.name, place, name, int(place >= len(table.rows)))
            for chip, kind in kernels
            for table in memory.tables(chip, kind, epoch).values()
            for place, name in enumerate((*table.rows, *table.optional_rows))
        ],
        "spec_load": [
            (code, chip, core, subcore, entry.name, entry.unit, int(entry.optional))
            for code, chip, subcore in product((0x06, 0x07), chips, (None, 0, 1))
            for core in ("cube", "vector")
            for entry in known.loads.entries(code, chip, core, epoch, subcore)
        ],
        "spec_column": [
            (
                *(code, one.name, one.dtype),
                *(one.shape.get("device"), one.shape.get("simulator")),
                int(one.when is not None),
            )
            for code, columns in known.columns.items()
            for one in columns.values()
        ],
        "spec_requires": [
            (one.code, needed.block, needed.why)
            for one in known.blocks.values()
            for needed in one.requires
        ],
    }


def _paths(chip: str, op_type: str, epoch: str) -> Iterator[Sequence[SqlValue]]:
    found = bin_catalog().memory.path_set(chip, op_type, epoch)
    if found is None:
        return
    further = {path: option for option, paths in found.extra.items() for path in paths}
    for path in sorted({*found.paths, *further}):
        table, row = found.rows.get(path, (None, None))
        apart = int(path in found.apart_with_detail)
        yield chip, op_type, path, further.get(path), table, row, apart
