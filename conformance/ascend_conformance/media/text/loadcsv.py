"""From CSV files to the schemas ``raw`` and ``csv`` of the facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import pyarrow as pa

from ascend_ref.text.headers import Recognised, canonical_names, recognise
from ascend_ref.text.read import columns_of, value_of
from ascend_ref.text.rows import CsvRows
from ascend_spec import text_catalog
from ascend_spec.text import CsvColumn

from ...compare.sql import quoted
from .database import Facts
from .deliverables import Deliverable

PLACE = ("file", "row", "line", "offset")
"""Columns of every raw table before the cells."""

MOST_HELD = 20_000
"""Rows of a file whose values are held in a table."""

_PLACE_TYPES = ("INTEGER", "BIGINT", "BIGINT", "BIGINT")


def load_csv(facts: Facts, number: int, file: Deliverable) -> tuple[CsvRows, Recognised]:
    """Read a file into its raw table; gives the rows and what its header is. Raises ``OSError``."""
    spec = text_catalog().csv[file.name]
    rows = CsvRows(file.path)
    batches = rows.batches()
    first = next(batches, None)
    found = recognise(spec, rows.header, file.is_by)
    names = canonical_names(spec, rows.header, found.circumstances[0].writer)
    header = enumerate(zip(rows.header, names, strict=True))
    facts.add("unit.header", [(number, at, 1, 0, text, name) for at, (text, name) in header])
    known = [(place, name) for place, name in enumerate(names) if name is not None]
    table = f"raw.{quoted(file.name)}"
    _make_room(facts, file.name, [name for _, name in known])
    if first is not None:
        cells = "".join(f', "{place}" AS {quoted(name)}' for place, name in known)
        facts.scan(
            "batches",
            pa.RecordBatchReader.from_batches(first.schema, chain([first], batches)),
            f"INSERT INTO {table} BY NAME "
            f'SELECT {number} AS file, row, line, "offset"{cells} FROM batches',
        )
    wanted = len(rows.header)
    faults = rows.faults.values()
    facts.add(
        "unit.row_fault",
        [(number, *one.first, one.fault, one.cells, wanted, one.count) for one in faults],
    )
    return rows, found


def _make_room(facts: Facts, name: str, columns: Sequence[str]) -> None:
    """The raw table with at least these columns."""
    table = f"raw.{quoted(name)}"
    place = ", ".join(
        f"{quoted(column)} {kind}" for column, kind in zip(PLACE, _PLACE_TYPES, strict=True)
    )
    facts.connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({place})")
    have = facts.columns(f"raw.{name}")
    for column in columns:
        if column not in have:
            facts.connection.execute(f"ALTER TABLE {table} ADD COLUMN {quoted(column)} VARCHAR")


def columns_in(facts: Facts, name: str, writer: str) -> Iterator[tuple[str, CsvColumn]]:
    """The columns of a raw table with what the spec says of each in the files of a writer."""
    return columns_of(name, facts.columns(f"raw.{name}")[len(PLACE) :], writer)


def make_views(facts: Facts, writers: Mapping[str, str], *, hold: bool = False) -> None:
    """A view of values on every raw table; ``writers`` by the name of the file.

    ``hold``: where the rows are few, a table, which cannot follow changes of the texts.
    """
    for name, writer in sorted(writers.items()):
        cells = [
            f"{value_of(column, quoted(text))} AS {quoted(text)}"
            for text, column in columns_in(facts, name, writer)
        ]
        selected = ", ".join([*map(quoted, PLACE), *cells])
        table = f"raw.{quoted(name)}"
        # Each query on a view plans the values of all its columns, which takes longer than to read
        # the texts of some rows.
        is_held = hold and facts.value(f"SELECT count(*) FROM {table}") <= MOST_HELD
        what = "TABLE" if is_held else "VIEW"
        facts.connection.execute(
            f"CREATE {what} csv.{quoted(name)} AS SELECT {selected} FROM {table}"
        )
