"""Columns of the facts as arrays, and arrays as tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import duckdb
import numpy as np
import pyarrow as pa

from ascend_ref import arrays
from ascend_ref.capture.batch import Integers, Reals

from ....compare.match import MOST_DECIMALS, SUMMED
from ....compare.sql import quoted
from ..database import Facts

NONE = -1
LARGEST = 1e15
"""Greater floats have no decimals."""
FEWEST_DECIMALS = 2
"""The Python engine prints so many for the products of 2019 to 2021 (analysis/common_func/utils.py
of msprof, ROUND_TWO_DECIMAL)."""

ROWS_AT_ONCE = 50_000
"""In a part of what a query gives."""


_LATER: Mapping[str, type[duckdb.Error]] = {
    "Conversion": duckdb.ConversionException,
    "INTERRUPT": duckdb.InterruptException,
    "Invalid Input": duckdb.InvalidInputException,
    "Out of Memory": duckdb.OutOfMemoryException,
    "Out of Range": duckdb.OutOfRangeException,
}
"""What DuckDB raises, by the begin of its text; of later parts Arrow raises an OSError instead."""

_NAMED = re.compile(r'Referenced column "(.+?)" not found')


class LacksColumn(Exception):
    """A derived table reads a column that the files do not have; the text is its name."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a derived table is computed from: the facts, its query, and its placeholders."""

    facts: Facts
    select: str = ""
    given: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> pa.Table:
        """The rows of the query. Raises :class:`LacksColumn`."""
        return read(self.facts, self.select)

    def rows_with(self, names: Collection[str]) -> pa.Table:
        """The rows in the order of the file, with those of these columns that there are."""
        have = read(self.facts, f"SELECT * FROM ({self.select}) LIMIT 0").column_names
        listed = ", ".join(quoted(one) for one in have if one in {"file", "row", *names})
        return read(self.facts, f"SELECT {listed} FROM ({self.select}) ORDER BY file, row")


def read(facts: Facts, query: str) -> pa.Table:
    """The rows of a query. Raises :class:`LacksColumn`."""
    try:
        return facts.connection.sql(query).to_arrow_table()
    except duckdb.BinderException as problem:
        named = _NAMED.search(str(problem))
        if named is None:
            raise
        raise LacksColumn(named[1]) from problem


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        raise LacksColumn(name)
    return table[name]


def read_parts(facts: Facts, query: str) -> Iterator[pa.Table]:
    """The rows of a query, part by part. Until the last one the connection answers nothing else."""
    try:
        for batch in facts.connection.sql(query).to_arrow_reader(ROWS_AT_ONCE):
            yield pa.Table.from_batches([batch])
    except OSError as problem:
        kind = _LATER.get(str(problem).partition(" Error: ")[0])
        if kind is None:
            raise
        raise kind(str(problem)) from problem


def by_engine(parts: Iterable[tuple[str, pa.Table]]) -> pa.Table:
    """The tables of several engines as one, with the name of the engine in each row."""
    return pa.concat_tables(
        table.append_column("engine", pa.array([engine] * len(table), pa.string()))
        for engine, table in parts
    )


def integers(table: pa.Table, name: str, missing: int = NONE) -> Integers:
    """A column of whole numbers; ``missing`` in place of NULL."""
    return arrays.integers(_column(table, name), missing)


def reals(table: pa.Table, name: str, missing: float = np.nan) -> Reals:
    """A column of numbers as floats; ``missing`` in place of NULL."""
    return arrays.reals(_column(table, name), missing)


def last_unit(values: Reals) -> float:
    """The unit of the last decimal that a column of a file prints."""
    known = values[np.abs(values) < LARGEST]
    for decimals in range(FEWEST_DECIMALS, MOST_DECIMALS):
        if (np.abs(known - np.round(known, decimals)) <= SUMMED * np.abs(known)).all():
            return float(10.0**-decimals)
    return float(10.0**-MOST_DECIMALS)


def texts(table: pa.Table, name: str) -> list[str]:
    """A text column; empty in place of NULL."""
    found: list[str] = _column(table, name).cast(pa.string()).fill_null("").to_pylist()
    return found
