"""Numbers that only link the rows of one database, replaced by the row that they lead to.

Exporters number calls, tasks, operators and call stacks as they like. So such a number is followed:
where the row that it leads to has an equal on the other side, both lead to that; rows without one
are paired first, and both sides then show the row of the left one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ascend_spec.db.model import Column

from ..compare.agreement import WHICH
from ..compare.match import PAIRS, Compared, pair_nearest
from ..compare.sql import quoted, text_literal
from ..media.text.database import Facts
from .hashes import Hashed, Hashes
from .links import CALL, CONNECTIONS, OWNERS, STACKS, kind_of, links_of

NOWHERE = "to nothing"
Rows = Mapping[str, Sequence[Hashes]]
"""By table the rows of each side that are compared, counted from 0."""

_FOLLOWED = "followed"
_NEEDED = "needed"
_COMMON = "common"
_ALONE = "alone"


class Following:
    """What the numbers in some rows of two sides lead to."""

    def __init__(self, facts: Facts, sides: Sequence[Hashed], rows: Rows) -> None:
        self._facts = facts
        self._sides = sides
        self._rows = rows
        facts.rows(
            f"CREATE OR REPLACE TEMP TABLE {_FOLLOWED} "
            "(kind VARCHAR, file INTEGER, number BIGINT, leads VARCHAR)"
        )

    def follow_all(self, asked_of: Callable[[str], Compared | None]) -> None:
        """Follow the numbers of all kinds. ``asked_of``: how the rows of a table are paired."""
        needed = self._needed()
        if STACKS in self._rows:
            self._add_stacks(needed.get("callchainId", ()))
        for table, (kind, _) in OWNERS.items():
            if table in self._rows:
                self._add(table, kind, needed.get(kind, ()), asked_of(table))
            if table == "PYTORCH_API" and CONNECTIONS in self._rows:
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

    def _needed(self) -> Mapping[str, Sequence[Hashes]]:
        """By kind the numbers of each side that the rows name, and those that these lead over."""
        found: dict[str, list[list[Hashes]]] = {}
        for name, rows in self._rows.items():
            columns = self._sides[0].shapes[name].columns
            for column in links_of(columns):
                kind = kind_of(column)
                is_own = kind is None or OWNERS.get(name) == (kind, column.name)
                if is_own or column.name not in self._sides[0].columns[name]:
                    continue
                numbers = found.setdefault(kind or "", [[], []])
                for number, side in enumerate(self._sides):
                    numbers[number].append(side.numbers(name, column.name, rows[number]))
        if CONNECTIONS in self._rows:
            calls = found.setdefault(CALL, [[], []])
            for number, some in enumerate(found.get("connectionId", [[], []])):
                shared = self._share(number, np.unique(np.concatenate([*some, _NO_NUMBERS])))
                calls[number].append(shared)
        return {
            kind: [np.unique(np.concatenate([*one, _NO_NUMBERS])) for one in both]
            for kind, both in found.items()
        }

    def _share(self, number: int, wanted: Hashes) -> Hashes:
        """The numbers of the calls that share some connections; the shared rows as facts."""
        side = self._sides[number]
        led = np.zeros(len(wanted), np.bool_)
        for one in side.leads.get("connectionId", ()):
            if one.table != CONNECTIONS:
                led |= one.places(wanted) >= 0
        rows = side.rows_with(CONNECTIONS, "connectionId", wanted[~led])
        part = side.tables[CONNECTIONS].select(["id", "connectionId"]).take(pa.array(rows))
        make = "CREATE OR REPLACE TEMP TABLE shared AS " if not number else "INSERT INTO shared "
        self._facts.scan("part", part, f"{make}SELECT {number} AS file, * FROM part")
        return side.numbers(CONNECTIONS, "id", rows)

    def _add_stacks(self, needed: Sequence[Hashes]) -> None:
        """A call stack is its frames, innermost first: one of them in words, all by their hash."""
        frames = "string_agg(stack, chr(10) ORDER BY stackDepth, stack)"
        columns = "id, CAST(stack AS VARCHAR) AS stack, stackDepth"
        for number, (side, numbers) in enumerate(zip(self._sides, needed, strict=False)):
            rows = side.rows_with(STACKS, "id", numbers)
            part = side.tables[STACKS].select(["id", "stack", "stackDepth"]).take(pa.array(rows))
            self._facts.scan(
                "part",
                part,
                f"INSERT INTO {_FOLLOWED} SELECT 'callchainId', {number}, id, "
                f"concat(left(arg_min(stack, stackDepth), 80), ' #', left(md5({frames}), 8)) "
                f"FROM (SELECT {columns} FROM part) GROUP BY id",
            )

    def _add(self, table: str, kind: str, needed: Sequence[Hashes], asked: Compared | None) -> None:
        """What numbers of a kind lead to in one table."""
        wanted = [self._wanted(table, kind, *one) for one in enumerate(needed)]
        if not sum(part.num_rows for part in wanted):
            return
        self._facts.scan(
            "part",
            pa.concat_tables(wanted),
            f"CREATE OR REPLACE TEMP TABLE {_NEEDED} AS FROM part",
        )
        self._make_common(table)
        self._make_alone(table, asked)
        self._facts.rows(
            f"INSERT INTO {_FOLLOWED} SELECT '{kind}', n.file, n.number, "
            f"concat({text_literal(table)}, ' row ', coalesce(c.words, a.words)) "
            f"FROM {_NEEDED} n LEFT JOIN {_COMMON} c ON c.hash = n.hash "
            f"LEFT JOIN {_ALONE} a ON (a.file, a.hash) = (n.file, n.hash)"
        )

    def _wanted(self, table: str, kind: str, number: int, numbers: Hashes) -> pa.Table:
        """Numbers of a side that lead to a table first, with the hashes of its rows."""
        side = self._sides[number]
        left, found = numbers, pa.table({"file": [], "number": [], "hash": []}, schema=_WANTED)
        for one in side.leads.get(kind, ()):
            places = one.places(left)
            if one.table == table:
                chosen = left[places >= 0]
                file = np.full(len(chosen), number, np.int32)
                cells = [file, chosen, one.values[places[places >= 0]]]
                found = pa.table([pa.array(one) for one in cells], schema=_WANTED)
            left = left[places < 0]
        return found

    def _make_common(self, table: str) -> None:
        """The first left row of each hash that both sides have."""
        hashes = np.array(
            [one for (one,) in self._facts.rows(f"SELECT DISTINCT hash FROM {_NEEDED}")], np.int64
        )
        places = [side.first_rows(table, hashes) for side in self._sides]
        both = (places[0] >= 0) & (places[1] >= 0)
        words = pa.array(places[0][both] + 1).cast(pa.string())
        self._facts.scan(
            "part",
            pa.table({"hash": pa.array(hashes[both]), "words": words}),
            f"CREATE OR REPLACE TEMP TABLE {_COMMON} AS FROM part",
        )

    def _make_alone(self, table: str, asked: Compared | None) -> None:
        """The rows of hashes that only one side has, by those that they are paired with."""
        self._facts.rows(
            f"CREATE OR REPLACE TEMP TABLE {_ALONE} (file INTEGER, hash BIGINT, words VARCHAR)"
        )
        if asked is None:
            return
        pair_nearest(self._facts, asked)
        for number, (which, side) in enumerate(zip(WHICH, self._sides, strict=True)):
            rows = self._rows[table][number]
            hashes = pa.table({"row": pa.array(rows + 1), "hash": pa.array(side.rows[table][rows])})
            self._facts.scan(
                "part",
                hashes,
                f"INSERT INTO {_ALONE} SELECT {number}, h.hash, min(concat(coalesce(p.left_row, "
                "p.right_row), CASE WHEN p.left_row IS NULL THEN ' that is added' ELSE '' END)) "
                f"FROM {PAIRS} p JOIN part h ON h.row = p.{which}_row GROUP BY h.hash",
            )

    def _add_shared(self) -> None:
        """A number that no call of CANN has is one that calls of the framework share."""
        self._facts.rows(
            f"INSERT INTO {_FOLLOWED} SELECT 'connectionId', s.file, s.connectionId, "
            "string_agg(DISTINCT f.leads, ' and ' ORDER BY f.leads) FROM shared s "
            f"JOIN {_FOLLOWED} f ON f.kind = '{CALL}' AND (f.file, f.number) = (s.file, s.id) "
            "GROUP BY ALL"
        )


_NO_NUMBERS = np.empty(0, np.int64)
_WANTED = pa.schema([("file", pa.int32()), ("number", pa.int64()), ("hash", pa.int64())])
