"""Conditions that leave out what stands in several rows, where nothing does.

To find what repeats puts all rows in order; a survey of the column shows at once that nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .views import View

_REPEATED = re.compile(
    r"\b[a-z]\w*\.[a-z_]+ NOT IN \(SELECT (?P<alias>[a-z]\w*)\.(?P<name>[a-z_]+)\s+"
    r"FROM (?P<entity>[a-z_]+) (?P=alias)\s+WHERE [^()]*\b(?P=alias)\.(?P=name) IS NOT NULL\s+"
    r"GROUP BY (?P=alias)\.(?P=name)\b[^()]*HAVING count\(\*\) > 1\)"
)


def without_repeats(sql: str, bound: Mapping[str, View]) -> str:
    """The same SQL without the sets that are empty, since each value is in one row only."""

    def rewritten(match: re.Match[str]) -> str:
        return "TRUE" if bound[match["entity"]].is_distinct(match["name"]) else match[0]

    return _REPEATED.sub(rewritten, sql)
