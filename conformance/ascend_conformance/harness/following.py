"""Numbers that only link the rows of one database, replaced by the row that they lead to.

Exporters number calls, tasks, operators and call stacks as they like. So such a number is followed:
the rows that it belongs to are paired first, and both sides then show the row of the left one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ascend_spec.db.model import Column

from ..compare.agreement import WHICH
from ..compare.match import PAIRS, Compared, pair_nearest
from ..compare.sql import quoted, text_literal
from ..media.text.database import Facts

LINKS = frozenset(("callchainId", "connectionId", "globalTaskId", "operatorId"))
"""Value types of numbers that link rows."""
CALL = "call"
"""Kind of the numbers by which calls of the framework find their links."""
STACKS = "PYTORCH_CALLCHAINS"
CONNECTIONS = "CONNECTION_IDS"
NOWHERE = "to nothing"

OWNERS: Mapping[str, tuple[str, str]] = {
    "CANN_API": ("connectionId", "connectionId"),
    "MSTX_EVENTS": ("connectionId", "connectionId"),
    "PYTORCH_API": (CALL, "connectionId"),
    "TASK": ("globalTaskId", "globalTaskId"),
    "COMMUNICATION_OP": ("operatorId", "opId"),
}
"""The kind of number that the rows of a table have, and its column; in the order in which they can
be paired."""
_FOLLOWED = "followed"


def kind_of(column: Column) -> str | None:
    """The kind of number that a column holds; ``None``: it is no number that leads to a row."""
    calls = {f"{CONNECTIONS}.id", "PYTORCH_API.connectionId"}
    if calls.intersection(column.references):
        return CALL
    if column.type == "globalTaskId" and not column.references:
        return None  # numbers of other tasks than those of TASK
    return column.type


class Following:
    """What the numbers of both sides lead to, as far as their rows have been paired."""

    def __init__(self, facts: Facts, border: int) -> None:
        self._facts = facts
        self._border = border
        facts.rows(
            f"CREATE OR REPLACE TEMP TABLE {_FOLLOWED} "
            "(kind VARCHAR, file INTEGER, number BIGINT, leads VARCHAR)"
        )

    def follow_all(self, asked_of: Callable[[str], Compared | None]) -> None:
        """Follow the numbers of all tables that own some. ``asked_of``: how a table is paired."""
        tables = self._facts.tables()
        if f"db.{STACKS}" in tables:
            self._add_stacks()
        for table, (kind, column) in OWNERS.items():
            asked = asked_of(table)
            if asked is not None:
                pair_nearest(self._facts, asked)
                self._add_pairs(table, kind, column)
            if table == "PYTORCH_API" and f"db.{CONNECTIONS}" in tables:
                self._add_shared()

    def column(self, table: str, column: Column) -> tuple[str, str]:
        """SQL for what a number of ``db`` rows ``t`` leads to, and the join that it needs."""
        kind, cell = kind_of(column), f"t.{quoted(column.name)}"
        none = f" OR {cell} IN ({', '.join(map(str, column.none))})" if column.none else ""
        if kind is None or OWNERS.get(table) == (kind, column.name):
            return f"NOT ({cell} IS NULL{none})", ""
        name = quoted(f"of {column.name}")
        join = (
            f" LEFT JOIN {_FOLLOWED} {name} ON {name}.kind = '{kind}' "
            f"AND ({name}.file, {name}.number) = (t.file, {cell})"
        )
        nothing = text_literal(NOWHERE)
        return (
            f"CASE WHEN {cell} IS NULL{none} THEN NULL ELSE coalesce({name}.leads, {nothing}) END",
            join,
        )

    def _add_stacks(self) -> None:
        """A call stack is its frames, innermost first: one of them in words, all by their hash."""
        frames = "string_agg(stack, chr(10) ORDER BY stackDepth, row)"
        self._facts.rows(
            f"INSERT INTO {_FOLLOWED} SELECT 'callchainId', file, id, "
            f"concat(left(arg_min(stack, stackDepth), 80), ' #', left(md5({frames}), 8)) "
            f"FROM db.{STACKS} WHERE id IS NOT NULL GROUP BY file, id"
        )

    def _add_pairs(self, table: str, kind: str, column: str) -> None:
        left, right = (
            f"SELECT t.file, t.{quoted(column)} AS number, concat({text_literal(table)}, ' row ', "
            f"coalesce(p.left_row, p.right_row), "
            "CASE WHEN p.left_row IS NULL THEN ' that is added' ELSE '' END) AS leads "
            f"FROM {PAIRS} p JOIN db.{table} t ON (t.file, t.row) = (p.{which}_file, p.{which}_row)"
            for which in WHICH
        )
        self._add(kind, f"{left} UNION ALL {right}")

    def _add_shared(self) -> None:
        """A number that no call of CANN has is one that calls of the framework share."""
        calls = (
            f"SELECT c.file, c.connectionId AS number, string_agg(DISTINCT f.leads, ' and ' "
            f"ORDER BY f.leads) AS leads FROM db.{CONNECTIONS} c JOIN {_FOLLOWED} f "
            f"ON f.kind = '{CALL}' AND (f.file, f.number) = (c.file, c.id) GROUP BY ALL"
        )
        self._add("connectionId", calls)

    def _add(self, kind: str, query: str) -> None:
        """Where each number leads that leads nowhere yet; to the first of several rows."""
        self._facts.rows(
            f"INSERT INTO {_FOLLOWED} SELECT '{kind}', file, number, min(leads) FROM ({query}) q "
            f"WHERE number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {_FOLLOWED} f "
            f"WHERE f.kind = '{kind}' AND (f.file, f.number) = (q.file, q.number)) "
            "GROUP BY file, number"
        )


def links_of(columns: Mapping[str, Column]) -> Iterator[Column]:
    """The columns of a table that link rows."""
    return (one for one in columns.values() if one.type in LINKS)
