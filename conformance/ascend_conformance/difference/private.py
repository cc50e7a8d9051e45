"""Tables and columns that the spec does not know: compared by their rows alone.

Nothing says by what such rows are known, so that each is equal to one of the other side or to none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import apsw
import numpy as np

from ascend_ref.db.introspect import PhysicalTable, describe, fold, quote_identifier
from ascend_ref.db.open import open_readonly, read_examples
from ascend_ref.spill import Spill
from ascend_spec import catalog, per_spec

from ..compare.agreement import WHICH, Which, other_than
from .hashes import Hashes, unlike_rows
from .pairing import EXAMPLE_COLUMNS, Difference, Example

BATCH = 1 << 12


@dataclass(frozen=True, slots=True)
class Private:
    """What the spec does not know of one table: its columns, by their names in lower case."""

    path: Path
    name: str
    columns: Mapping[str, str]
    is_known: bool
    """Whether it is a table of the spec with further columns."""


def private_differences(
    left: Sequence[Path], right: Sequence[Path], sides: tuple[str, str], examples: int
) -> Iterator[Difference]:
    """What does not agree of tables and columns that no revision has. Tables that only one side has
    are left to others.
    """
    ours, theirs = (_private_of(paths) for paths in (left, right))
    for name in sorted(ours.keys() & theirs.keys()):
        both = dict(zip(WHICH, (ours[name], theirs[name]), strict=True))
        for which in WHICH:
            own, other = both[other_than(which)].columns, both[which].columns
            for column in sorted(own.keys() - other.keys()):
                what = "absent column" if which == "right" else "added column"
                words = f"{sides[WHICH.index(which)]} does not have it"
                yield Difference(what, both["left"].name, name, own[column], 1, 1, words)
        common = sorted(both["left"].columns.keys() & both["right"].columns.keys())
        # Of a table of the spec the other columns have been compared; each of these has its cells.
        groups = [[one] for one in common] if both["left"].is_known else [common] if common else []
        for columns in groups:
            yield from _rows(both, columns, sides, examples)


def _private_of(paths: Sequence[Path]) -> Mapping[str, Private]:
    """By the name of the table in lower case; only tables that have rows."""
    found: dict[str, Private] = {}
    for path in paths:
        with closing(open_readonly(path)) as connection:
            for table in describe(connection).tables.values():
                known = _columns_of_spec().get(fold(table.name))
                further = {
                    fold(one.name): one.name
                    for one in table.columns
                    if known is None or fold(one.name) not in known
                }
                if table.kind == "table" and further and _has_rows(connection, table):
                    one = Private(path, table.name, further, known is not None)
                    found.setdefault(fold(table.name), one)
    return found


def _has_rows(connection: apsw.Connection, table: PhysicalTable) -> bool:
    select = f"SELECT 1 FROM main.{quote_identifier(table.name)} LIMIT 1"
    return connection.execute(select).fetchone() is not None


@per_spec
def _columns_of_spec() -> Mapping[str, frozenset[str]]:
    """Every name that a column of a table ever had, by table."""
    return {
        fold(name): frozenset(
            fold(spelled)
            for column in table.columns.values()
            for spelled in (column.name, column.renamed_from)
            if spelled
        )
        for name, table in catalog().tables.items()
    }


def _rows(
    both: Mapping[Which, Private], columns: Sequence[str], sides: tuple[str, str], examples: int
) -> Iterator[Difference]:
    spill = Spill()
    hashes = [_hashes(spill, both[which], columns) for which in WHICH]
    rows = dict(zip(WHICH, unlike_rows(spill, *hashes), strict=True))
    name, total = both["left"].name, max(map(len, hashes))
    column = both["left"].columns[columns[0]] if both["left"].is_known else None
    for which, own in rows.items():
        if len(own):
            what = "absent row" if which == "left" else "added row"
            shown = tuple(_example(both[which], which, columns, int(row)) for row in own[:examples])
            stated = ", ".join(f"{one} {value}" for one, value in [*shown[0].values[which].items()])
            words = f"{stated} of {sides[WHICH.index(which)]}"
            yield Difference(what, name, name, column, len(own), total, words, shown)


def _selected(one: Private, columns: Sequence[str]) -> Sequence[str]:
    return [quote_identifier(one.columns[column]) for column in columns]


def _hashes(spill: Spill, one: Private, columns: Sequence[str]) -> Hashes:
    """A hash of each row in the order of the table: of the classes and bytes of its cells."""
    cells = ", ".join(
        f"typeof({cell}), "
        f"CASE WHEN typeof({cell}) = 'text' THEN CAST({cell} AS BLOB) ELSE {cell} END"
        for cell in _selected(one, columns)
    )
    select = f"SELECT {cells} FROM main.{quote_identifier(one.name)} NOT INDEXED"

    def batches() -> Iterator[Hashes]:
        with closing(open_readonly(one.path)) as connection:
            encoding = str(connection.pragma("encoding"))
            rows = connection.execute(select)
            while some := list(islice(rows, BATCH)):
                yield np.fromiter((_hash(row, encoding) for row in some), np.int64, len(some))

    return spill.array(batches(), np.int64)


def _hash(row: Sequence[object], encoding: str) -> int:
    cells = (
        value.decode(encoding, "backslashreplace")
        if kind == "text" and isinstance(value, bytes)
        else value
        for kind, value in zip(row[::2], row[1::2], strict=True)
    )
    digest = blake2b(repr((*cells,)).encode("utf-8", "backslashreplace"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _example(one: Private, which: Which, columns: Sequence[str], row: int) -> Example:
    shown = columns[:EXAMPLE_COLUMNS]
    select = (
        f"SELECT {', '.join(_selected(one, shown))} FROM main.{quote_identifier(one.name)} "
        f"NOT INDEXED LIMIT 1 OFFSET {row}"
    )
    with closing(open_readonly(one.path)) as connection:
        (values,) = read_examples(connection, select, columns=len(shown), rows=1)
    named = dict(zip((one.columns[column] for column in shown), values, strict=True))
    return Example({which: (0, row)}, {which: named}, {which: f"{one.name} row {row + 1:,}"})
