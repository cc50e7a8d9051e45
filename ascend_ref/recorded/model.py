"""Tables of a recording, named and shaped like those of the databases at the newest revision."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import pyarrow as pa

from ascend_ref.capture import Origin, Switches
from ascend_ref.spill import Spill
from ascend_spec import catalog

from .shape import shape_of

Output = Literal["msprof", "pytorch", "mindspore"]
"""Which exporter's deliverables: mindstudio_profiler_output, or ASCEND_PROFILER_OUTPUT of one
framework.
"""

USUAL_FAMILY = "A2"
"""What a recording of an unknown chip is taken for."""


def family_of(chip: str | None) -> str | None:
    """The id of the family that a chip name of NPU_INFO belongs to, ``None`` where none does.

    A3 carries the chip name of A2, and only who made the recording knows which of the two it is
    (db-schema.md 2, NPU_INFO).
    """
    product = catalog().products.of_chip(chip)
    return product.id if product else None


class TablesByColumn(Mapping[str, pa.Table]):
    """Tables of which some columns are read without the others."""

    @abstractmethod
    def part(self, name: str, columns: Collection[str]) -> pa.Table:
        """Some columns of a table that is there, in the order of the table."""


@dataclass(frozen=True)
class Recorded:
    """What one process recorded: a capture as the tables of a database show it.

    revision: of the database schema. origin: its family is known or follows from the chip.
    switches: their metrics are ``None`` where nothing is counted; of a database only level and
    metrics are known. tables: by the name of their database table, those with rows. Columns are
    those of the newest revision, in its order: int64 and double as stored, ``dictionary<int32,
    string>`` with the text itself where the database holds an id of STRING_IDS or of an enum, NULL
    where it holds NULL. extras: what has no database table, by the name of its file, columns by
    their names in the capture; times int64 ns, sizes int64 Byte, texts as above. spill: where long
    columns of tables are, and place for what is made of them.
    """

    output: Output
    revision: str
    origin: Origin
    switches: Switches
    tables: Mapping[str, pa.Table]
    extras: Mapping[str, pa.Table]
    spill: Spill = field(default_factory=Spill, compare=False, repr=False)

    def table(self, name: str, columns: Collection[str] | None = None) -> pa.Table:
        """The table; without rows where nothing was recorded. columns: those that are needed, by
        default all; of a database no others are read.

        Raises ``KeyError`` for a name that no table or column has.
        """
        schema = shape_of(self.output, name).schema
        wanted = [one for one in schema.names if columns is None or one in columns]
        if unknown := set(columns or ()).difference(wanted):
            raise KeyError(f"{name} has no column {min(unknown)!r}")
        if name not in self.tables:
            return pa.schema([schema.field(one) for one in wanted]).empty_table()
        if columns is None:
            return self.tables[name]
        if isinstance(self.tables, TablesByColumn):
            return self.tables.part(name, wanted)
        return self.tables[name].select(wanted)

    def kept(self) -> Recorded:
        """The same with each table read at most once, for those who look at it again and again."""
        return replace(self, tables=_Kept(self.tables))

    def absent(self, table: str, column: str) -> tuple[int, ...]:
        """The numbers that stand for no value in a column, the usual one first."""
        return shape_of(self.output, table).columns[column].none

    def names(self) -> Iterator[str]:
        """Names of the tables and extras that have rows."""
        yield from self.tables
        yield from self.extras


class _Kept(Mapping[str, pa.Table]):
    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self._tables = tables
        self._read: dict[str, pa.Table] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._read:
            self._read[name] = self._tables[name]
        return self._read[name]
