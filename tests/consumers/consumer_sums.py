"""Checks T7 to T9: the sums per operator say what the profiler database of each rank says.

The tool loses rows that name a string or a task that does not exist, and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from consumer_differences import different
from consumer_ranks import Rank, one, rows

DISTINCT_OPERATORS = """
    SELECT count(*) FROM (SELECT DISTINCT n.value, o.value, t.value, s.value
        FROM COMPUTE_TASK_INFO c
        JOIN STRING_IDS n ON n.id = c.name JOIN STRING_IDS o ON o.id = c.opType
        JOIN STRING_IDS t ON t.id = c.taskType JOIN STRING_IDS s ON s.id = c.inputShapes)
"""
COMPUTE_TIME = """
    SELECT count(*), total(t.endNs - t.startNs)
    FROM COMPUTE_TASK_INFO c JOIN TASK t USING (globalTaskId)
"""
SUMS_BY_NAME = """
    SELECT count(*), total("Count"), total(SumNs) FROM ComputeOpPerRankStatsByOpName
    WHERE Rank = ?
"""


def t7_cann_api(ranks: Sequence[Rank], result: Path) -> list[str]:
    """Names, calls and time of the host API."""
    return [
        line
        for rank in ranks
        for line in different(
            f"T7 CannApiSumRank of rank {rank.number}",
            rows(
                result,
                "SELECT count(*), total(totalCount), total(totalTimeNs) FROM CannApiSumRank "
                "WHERE rank = ? AND name <> ''",
                [rank.number],
            ),
            rows(
                rank.profiler,
                "SELECT count(DISTINCT s.value), count(*), total(endNs - startNs) "
                "FROM CANN_API LEFT JOIN STRING_IDS s ON s.id = name",
            ),
        )
    ]


def t8_compute(ranks: Sequence[Rank], result: Path) -> list[str]:
    """Kinds, launches and time of the compute operators, none lost."""
    lines = []
    for rank in ranks:
        what = f"T8 ComputeOpPerRankStatsByOpName of rank {rank.number}"
        kinds = one(rank.profiler, DISTINCT_OPERATORS)
        ((launches, time),) = rows(rank.profiler, COMPUTE_TIME)
        written = one(rank.profiler, "SELECT count(*) FROM COMPUTE_TASK_INFO")
        found = rows(result, SUMS_BY_NAME, [rank.number])
        lines += different(what, found, [(kinds, launches, time)])
        lines += different(f"{what}, launches", launches, written)
    unnamed = "SELECT count(*) FROM ComputeOpPerRankStatsByOpName WHERE coalesce(OpName, '') = ''"
    return [*lines, *different("T8 operators without a name", one(result, unnamed), 0)]


def t9_communication(ranks: Sequence[Rank], result: Path) -> list[str]:
    """Launches and time of the communication operators."""
    return [
        line
        for rank in ranks
        for line in different(
            f"T9 HcclPerRankStats of rank {rank.number}",
            rows(
                result,
                'SELECT total("Count"), total(SumNs) FROM HcclPerRankStats WHERE Rank = ?',
                [rank.number],
            ),
            rows(rank.profiler, "SELECT count(*), total(endNs - startNs) FROM COMMUNICATION_OP"),
        )
    ]
