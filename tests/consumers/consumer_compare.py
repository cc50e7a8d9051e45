"""What ``msprof-analyze compare`` counts on both sides equals the databases of the two ranks."""

from __future__ import annotations

from consumer_differences import different
from consumer_ranks import Rank, rows
from consumer_run import Run
from consumer_sheets import Sheet, sheets

SHEETS = [
    "OverallMetrics",
    "CommunicationCompare",
    "ModuleCompareStatistic",
    "ModuleCompare",
    "MemoryCompareStatistic",
    "MemoryCompare",
    "ApiCompare",
    "KernelCompare",
]
DETAIL = "|"
COMPUTE = """
    SELECT count(*), total(t.endNs - t.startNs) / 1e6
    FROM COMPUTE_TASK_INFO LEFT JOIN TASK t USING (globalTaskId)
"""
CALLS = """
    SELECT s.value, count(*) FROM COMMUNICATION_OP o JOIN STRING_IDS s ON s.id = o.opType
    GROUP BY 1
"""


def workbook_differences(run: Run, compared: Rank, base: Rank) -> list[str]:
    """The workbook has its sheets, and their figures are those of the two ranks."""
    found = sorted(run.output.glob("performance_comparison_result_*.xlsx"))
    if len(found) != 1:
        return [f"compare: {len(found)} workbooks instead of 1"]
    book = sheets(found[0])
    if list(book) != SHEETS:
        return different("compare, sheets", list(book), SHEETS)
    overall, communication = book["OverallMetrics"], book["CommunicationCompare"]
    return [
        *_computing(overall, base, ("D", "B")),
        *_computing(overall, compared, ("G", "E")),
        *_calls(communication, base, ("B", "D")),
        *_calls(communication, compared, ("I", "K")),
    ]


def _computing(sheet: Sheet, rank: Rank, columns: tuple[str, str]) -> list[str]:
    """Number and duration of the compute operators."""
    found = [
        tuple(row.get(column) for column in columns)
        for row in sheet
        if row.get("A") == "Computing Time"
    ]
    return different(
        f"compare, Computing Time of rank {rank.number}", found, rows(rank.profiler, COMPUTE)
    )


def _calls(sheet: Sheet, rank: Rank, columns: tuple[str, str]) -> list[str]:
    """The communication operators by the kind that the tool cuts out of their type."""
    expected: dict[str, int] = {}
    for kind, count in rows(rank.profiler, CALLS):
        words = kind.lower().split("_")
        name = words[1] if words[0] == "hcom" else words[0]
        expected[name] = expected.get(name, 0) + count
    name_column, calls_column = columns
    found = {
        row[name_column]: row[calls_column]
        for row in sheet
        if row.get(name_column, DETAIL) != DETAIL and isinstance(row.get(calls_column), float)
    }
    return different(f"compare, calls of rank {rank.number}", found, expected)
