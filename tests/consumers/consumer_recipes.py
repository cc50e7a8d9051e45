"""Checks T13 to T16: what the recipes of row 9 write about a profile."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from consumer_differences import different
from consumer_ranks import Rank, one, ranks_of, rows, tables

TOP = 10
COMMUNICATION_OF_STEPS = """
    SELECT s.id, total(o.endNs - o.startNs) / 1000 FROM STEP_TIME s
    LEFT JOIN CANN_API a ON a.startNs BETWEEN s.startNs AND s.endNs
    LEFT JOIN COMMUNICATION_OP o USING (connectionId) GROUP BY 1
"""
KERNEL_TABLES = ("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_SCHEDULE_TASK_INFO")


def t13_time_summary(ranks: Sequence[Rank], result: Path) -> list[str]:
    """One row per step of a rank; waiting and transmitting are the time of its operators.

    The operators are those that the host launched in the step. Their sum is the communication
    of ``StepTraceTime`` only where none of them overlap.
    """
    found = {
        (rank, step): values
        for rank, step, *values in rows(
            result,
            "SELECT rank, step, stepTime, communication, "
            "communicationWaitStageTime + communicationTransmitStageTime FROM ClusterTimeSummary",
        )
    }
    expected = {}
    for rank in ranks:
        spent: dict[int, float] = dict(rows(rank.profiler, COMMUNICATION_OF_STEPS))
        traced: dict[int, float] = dict(
            rows(
                rank.analysis,
                "SELECT CAST(step AS INTEGER), communication FROM StepTraceTime",
            )
        )
        for step, time in rows(
            rank.profiler, "SELECT id, (endNs - startNs) / 1000.0 FROM STEP_TIME"
        ):
            stages = spent[step] if len(ranks) > 1 else 0
            expected[rank.number, step] = [time, traced.get(step), stages]
    return different("T13 ClusterTimeSummary", found, expected)


def t14_free_time(ranks: Sequence[Rank], result: Path) -> list[str]:
    """The longest gaps of each rank, each with a reason."""
    found: dict[int, int] = dict(
        rows(result, "SELECT rankId, count(*) FROM FreeAnalysis GROUP BY 1")
    )
    silent = one(result, "SELECT count(*) FROM FreeAnalysis WHERE coalesce(reason, '') = ''")
    many = {rank: count for rank, count in found.items() if count > TOP}
    return [
        *different("T14 ranks of FreeAnalysis", set(found), {rank.number for rank in ranks}),
        *different(f"T14 ranks with more than {TOP} gaps", many, {}),
        *different("T14 gaps without a reason", silent, 0),
    ]


def t14_bottlenecks(ranks: Sequence[Rank], result: Path) -> list[str]:
    """The longest operators of rank 0, each with a reason."""
    (first,) = (rank for rank in ranks if rank.number == 0)
    operators = one(first.profiler, "SELECT count(*) FROM COMMUNICATION_OP")
    reasons = [reason for (reason,) in rows(result, "SELECT reason FROM CommunicationBottleneck")]
    failed = [reason for reason in reasons if not reason or reason.startswith("[Failed]")]
    return [
        *different("T14 CommunicationBottleneck", len(reasons), min(TOP, operators)),
        *different("T14 operators without a reason", failed, []),
    ]


def t15_kernels(ranks: Sequence[Rank], profile: Path) -> list[str]:
    """kernel_details.csv next to each database: a row per operator, each with a name."""
    lines = []
    for rank, copy in zip(ranks, ranks_of(profile), strict=True):
        path = copy.output / "kernel_details.csv"
        kernels = _records(path)
        there = tables(rank.profiler)
        expected = sum(
            one(rank.profiler, f"SELECT count(*) FROM {table}")
            for table in KERNEL_TABLES
            if table in there
        )
        unnamed = sum(not kernel["op_name"] for kernel in kernels)
        lines += different(f"T15 {path.name} of rank {rank.number}", len(kernels), expected)
        lines += different(f"T15 {path.name} of rank {rank.number}, unnamed", unnamed, 0)
    return lines


def t16_api(ranks: Sequence[Rank], profile: Path) -> list[str]:
    """api_statistic.csv next to each database: a call per task that the host launched."""
    return [
        line
        for rank, copy in zip(ranks, ranks_of(profile), strict=True)
        for line in different(
            f"T16 api_statistic.csv of rank {rank.number}",
            sum(int(record["Count"]) for record in _records(copy.output / "api_statistic.csv")),
            one(
                rank.profiler,
                "SELECT count(*) FROM CANN_API JOIN TASK USING (connectionId)",
            ),
        )
    ]


def _records(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
