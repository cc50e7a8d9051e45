"""Sets of string ids in a rule's SQL, looked up once and written as numbers.

``taskType IN (SELECT id FROM STRING_IDS WHERE value = 'AI_CPU')`` asks every row to search a
temporary tree; with the one to few ids that usually fit, a comparison with constants is enough.
"""

from __future__ import annotations

import re

import apsw

OPENING = "(SELECT id FROM STRING_IDS WHERE "
MOST = 24
"""Ids written out; larger sets stay a query, which SQLite evaluates once per statement."""

_TOKEN = re.compile(r"'(?:[^']|'')*'|[()]")


class StringSets:
    """Replaces the sets for one database; each distinct set is looked up once."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._known: dict[str, str] = {}

    def write_out(self, sql: str) -> str:
        """The same SQL with every small set of string ids as a list of numbers."""
        parts: list[str] = []
        position = 0
        while (start := sql.find(OPENING, position)) >= 0:
            end = _closing(sql, start)
            parts += [sql[position:start], self._numbers(sql[start:end])]
            position = end
        return "".join([*parts, sql[position:]])

    def _numbers(self, query: str) -> str:
        if query not in self._known:
            select = f"{query[1:-1]} LIMIT {MOST + 1}"
            found = self._connection.execute(select).fetchall()
            listed = ", ".join(str(row[0]) for row in found)
            self._known[query] = query if len(found) > MOST else f"({listed})"
        return self._known[query]


def _closing(sql: str, start: int) -> int:
    """The position after the parenthesis that closes the one at ``start``."""
    depth = 0
    for token in _TOKEN.finditer(sql, start):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
            if depth == 0:
                return token.end()
    raise ValueError(f"no closing parenthesis: {sql[start : start + 80]}")
