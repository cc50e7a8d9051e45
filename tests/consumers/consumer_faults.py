"""Which ranks and links the tool names, and whether they are those that were made faulty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from consumer_differences import different
from consumer_ranks import rows
from consumer_run import Run


@dataclass(frozen=True)
class Faults:
    """The ranks that the tool must name; it may name no others."""

    slow: Collection[int] = ()
    throttled: Collection[int] = ()
    idle: Collection[int] = ()
    """Ranks whose frequency falls from 1800 to 800 MHz and nothing else."""


def named_slow(run: Run, faults: Faults) -> list[str]:
    """The ranks with the most votes of slow_rank, as many as there are slow ones."""
    votes = rows(run.database, "SELECT * FROM SlowRank") if "SlowRank" in run.tables else []
    ordered = sorted(votes, key=lambda row: -row[1])
    worst = {rank for rank, _ in ordered[: len(faults.slow)]} if faults.slow else set(dict(votes))
    return _named(run, {"SlowRank": worst}, {"SlowRank": faults.slow})


def named_frequencies(run: Run, faults: Faults) -> list[str]:
    """The ranks of freq_analysis."""
    expected = {"AbnormalFrequencyRanks": faults.throttled, "FreeFrequencyRanks": faults.idle}
    found = {
        table: {rank for (rank,) in rows(run.database, f"SELECT rankId FROM {table}")}
        for table in set(expected) & run.tables
    }
    return _named(run, found, expected)


def _named(
    run: Run, found: Mapping[str, Collection[int]], expected: Mapping[str, Collection[int]]
) -> list[str]:
    """Differences of the ranks; where nobody is to be named, there must be no result at all."""
    lines = [
        line
        for table, ranks in expected.items()
        for line in different(f"{run.name}, {table}", set(found.get(table, ())), set(ranks))
    ]
    if not lines and not any(expected.values()):
        lines = different(f"{run.name}, tables", run.tables, set())
    return lines


def slow_operators(run: Run) -> list[tuple[int, str, set[int]]]:
    """What slow_rank found: start of the operator, its name, the ranks that came last to it."""
    found = rows(run.database, "SELECT Timestamp, OpName, SlowRank FROM SlowOpStats ORDER BY 1")
    return [(start, name, set(map(int, ranks.split(",")))) for start, name, ranks in found]


def bottleneck_ranks(run: Run) -> Counter[int]:
    """How often communication_bottleneck names each rank as the slow one."""
    found = rows(
        run.database,
        "SELECT CAST(slowRankId AS INTEGER) FROM CommunicationBottleneck "
        "WHERE slowRankId IS NOT NULL",
    )
    return Counter(rank for (rank,) in found)


def slowest_links(run: Run) -> list[tuple[int, int, str, float]]:
    """Source, target, transport and GB/s of the links between ranks, of mode ``all``."""
    return rows(
        run.database,
        """
        SELECT CAST(src_rank AS INTEGER), CAST(dst_rank AS INTEGER), transport_type,
            total(transit_size) / total(transit_time) AS speed
        FROM ClusterCommunicationMatrix
        WHERE hccl_op_name = 'Total Op Info' AND src_rank <> dst_rank
        GROUP BY 1, 2, 3 HAVING total(transit_time) > 0 ORDER BY speed
        """,
    )
