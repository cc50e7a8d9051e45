"""Which level of the profiler the rows of a database show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

RUNTIME_CALL = "SELECT 1 AS found FROM main.CANN_API WHERE type = 5000 LIMIT 1"
NAMED_OPERATOR = (
    "SELECT 1 AS found FROM main.COMPUTE_TASK_INFO WHERE opType NOT IN "
    "(SELECT id FROM main.STRING_IDS WHERE value = 'N/A') LIMIT 1"
)


def shown_level(
    holds: Callable[[str], bool], has_rows: Callable[[str], bool], finds: Callable[[str], bool]
) -> Literal[0, 1, 2] | None:
    """The lowest level that explains the rows: runtime calls 2, operator types or PMU 1, else 0.

    holds: whether ``TABLE.column`` can be read. has_rows: whether a table has any. finds: whether a
    SELECT has a row. ``None`` where no table shows it. Source: db-schema.md 4.4 (texts not
    collected at level 0) and 7.6 (runtime rows at level 2).
    """
    if holds("CANN_API.type") and finds(RUNTIME_CALL):
        return 2
    if has_rows("TASK_PMU_INFO"):
        return 1
    needed = ("COMPUTE_TASK_INFO.opType", "STRING_IDS.id", "STRING_IDS.value")
    if has_rows("COMPUTE_TASK_INFO") and all(map(holds, needed)):
        return 1 if finds(NAMED_OPERATOR) else 0
    return None
