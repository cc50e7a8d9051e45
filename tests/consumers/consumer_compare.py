"""What ``msprof-analyze compare`` counts on both sides equals what the two ranks hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from consumer_differences import different
from consumer_log import RUN_BY_ROOT
from consumer_ranks import Rank, Row, rows
from consumer_run import Run, run_tool
from consumer_sheets import Sheet, sheets
from consumer_verdict import Verdict

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
TROUBLE = (
    "lacks duration",
    "does not exist",
    "failed to convert data to float",
    "Can't find any",
)
DETAIL = "|"
COMPUTE = """
    SELECT count(*), total(t.endNs - t.startNs) / 1e6
    FROM COMPUTE_TASK_INFO LEFT JOIN TASK t USING (globalTaskId)
"""
CALLS = """
    SELECT s.value, count(*) FROM COMMUNICATION_OP o JOIN STRING_IDS s ON s.id = o.opType
    GROUP BY 1
"""


@dataclass(frozen=True)
class Side:
    """A rank as it is compared.

    computing: number and ms of the compute operators. calls: of communication operators, by type.
    times: ms by rows of the sheet OverallMetrics.
    """

    number: int
    computing: Sequence[Row]
    calls: Mapping[str, int]
    times: Mapping[str, float] = field(default_factory=dict)


def side_of_database(rank: Rank) -> Side:
    """The figures of a rank in its database."""
    return Side(
        rank.number,
        computing=rows(rank.profiler, COMPUTE),
        calls=dict(rows(rank.profiler, CALLS)),
    )


def check_compare(
    profile: Path, scratch: Path, folders: Sequence[Path], sides: Callable[[], Sequence[Side]]
) -> Verdict:
    """Compare a rank of a profile with a base; ``sides`` are read where there is a workbook."""
    first, base = ("{profile}/" + str(folder.relative_to(profile)) for folder in folders)
    words = ["compare", "-d", first, "-bp", base, "-o", "{output}", "--force"]
    run = run_tool("compare", words, profile, scratch)
    said = [line for line in run.log.splitlines() if any(text in line for text in TROUBLE)]
    lines = [*run.complaints([RUN_BY_ROOT]), *said, *_workbook(run, sides)]
    return Verdict(lines, {"compare": run})


def _workbook(run: Run, sides: Callable[[], Sequence[Side]]) -> list[str]:
    """The workbook has its sheets, and their figures are those of the two ranks."""
    found = sorted(run.output.glob("performance_comparison_result_*.xlsx"))
    if len(found) != 1:
        return [f"compare: {len(found)} workbooks instead of 1"]
    book = sheets(found[0])
    if list(book) != SHEETS:
        return different("compare, sheets", list(book), SHEETS)
    overall, communication = book["OverallMetrics"], book["CommunicationCompare"]
    first, base = sides()
    return [
        *_overall(overall, base, ("D", "B")),
        *_overall(overall, first, ("G", "E")),
        *_calls(communication, base, ("B", "D")),
        *_calls(communication, first, ("I", "K")),
    ]


def _overall(sheet: Sheet, side: Side, columns: tuple[str, str]) -> list[str]:
    """Number and duration of the compute operators, and other durations."""
    found = [
        tuple(row.get(column) for column in columns)
        for row in sheet
        if row.get("A") == "Computing Time"
    ]
    _, duration = columns
    times = {row["A"]: row.get(duration) for row in sheet if row.get("A") in side.times}
    return [
        *different(f"compare, Computing Time of rank {side.number}", found, side.computing),
        *different(f"compare, times of rank {side.number}", times, side.times),
    ]


def _calls(sheet: Sheet, side: Side, columns: tuple[str, str]) -> list[str]:
    """The communication operators by the kind that the tool cuts out of their type."""
    expected: dict[str, int] = {}
    for kind, count in side.calls.items():
        words = kind.lower().split("_")
        name = words[1] if words[0] == "hcom" else words[0]
        expected[name] = expected.get(name, 0) + count
    name_column, calls_column = columns
    found = {
        row[name_column]: row[calls_column]
        for row in sheet
        if row.get(name_column, DETAIL) != DETAIL and isinstance(row.get(calls_column), float)
    }
    return different(f"compare, calls of rank {side.number}", found, expected)
