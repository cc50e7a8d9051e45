"""Cells that are made of others, where a migration crosses a day."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import apsw

from ascend_ref.db.introspect import quote_identifier
from ascend_ref.db.open import BudgetExceeded, budget
from ascend_spec import catalog
from ascend_spec.core import SpecError
from ascend_spec.db.model import Carried

from .cells import OWN, cell

OTHER = "other"
PER_ROW = 10
"""Operations allowed for each row that could stand in the file, of which a tenth does."""
AT_LEAST = 2_000_000


@dataclass(frozen=True, slots=True)
class Crossing:
    """Columns of a table that are made by SQL. ``cells``: of the target, ``back``: of the side that
    is there, if one came back; ``differs``: those that stay, by rows of which the target would hold
    others. ``join``: what the SQL reads. ``words``: on what is made.
    """

    table: str
    cells: Mapping[str, str]
    back: Mapping[str, str]
    differs: Mapping[str, str]
    join: str
    words: str

    def lost(self, name: str, column: str) -> str:
        """The old rows of which a cell that is made does not come back. ``name``: in the file."""
        own, made = cell(name), f"({self.cells[column]})"
        again = self.back.get(column)
        if again is not None:
            made = re.sub(rf"\b{OWN}\.{column}\b", lambda _: made, again)
        return f"{own} IS NOT ({made})"


def crossings(
    connection: apsw.Connection, old: str, new: str, holds: Callable[[str], bool], rows: int
) -> Iterator[Crossing]:
    """What applies between two days, at most one of each table.

    ``connection``: has the old file attached as ``old``, of which ``holds`` knows which
    ``TABLE.column`` can be read; ``rows``: more than it has. Rows of others are put into temporary
    tables; what would take too long does not apply.
    """
    seen = set()
    for number, one in enumerate(catalog().carried):
        later = old < one.day <= new
        if not (later or new < one.day <= old) or not all(map(holds, one.needs)):
            continue
        if one.table in seen:
            raise SpecError(f"db/carried.yaml: {one.table}: two rows between {old} and {new}")
        join = ""
        if one.other is not None:
            kept = f"temp.other_{number}"
            if not _put(connection, kept, one, rows):
                continue
            by = quote_identifier(one.by or "")
            join = f" LEFT JOIN {kept} AS {OTHER} ON {OTHER}.{by} = {cell(one.by or '')}"
        seen.add(one.table)
        cells, back = (one.later, one.earlier) if later else (one.earlier, one.later)
        differs = {} if later else one.differs
        yield Crossing(one.table, cells, back, differs, join, one.summary.rstrip("."))


def _put(connection: apsw.Connection, table: str, one: Carried, rows: int) -> bool:
    """Put the rows of ``other`` into a table; whether that was possible within the budget."""
    by = quote_identifier(one.by or "")
    try:
        with budget(connection, PER_ROW * rows + AT_LEAST):
            connection.execute(f"CREATE TABLE {table} AS {one.other}")
            # Two rows of a key would double those of the table that they are joined with.
            connection.execute(
                f"DELETE FROM {table} WHERE rowid NOT IN "
                f"(SELECT min(rowid) FROM {table} GROUP BY {by})"
            )
    except BudgetExceeded:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
        return False
    return True
