"""Which lines of msprof-analyze's log count against a profile; its exit code tells nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from consumer_ranks import Rank, metadata, rows

ALARMS = ("[ERROR]", "[WARNING]", "Traceback")
RUN_BY_ROOT = "Security Warning: Do not run this tool as root"
NO_DISTRIBUTED_ARGS = "ClusterBaseInfoAnalysis skipped, since no metadata or distributed args found"
RANK_NOT_LOADED = "cannot be mapped to the global rank"
LINKED = """
    SELECT DISTINCT group_name, src_rank FROM CommAnalyzerMatrix
    UNION SELECT DISTINCT group_name, dst_rank FROM CommAnalyzerMatrix
"""


def offending(log: str, allowed: Iterable[str]) -> list[str]:
    """The lines that report trouble, without those that hold an allowed text."""
    allowed = tuple(allowed)
    return [
        line.strip()
        for line in log.splitlines()
        if any(alarm in line for alarm in ALARMS) and not any(text in line for text in allowed)
    ]


def cluster_allowances(ranks: Sequence[Rank]) -> tuple[str, ...]:
    """What the cluster analysis may say of a profile without parallelism or without all ranks."""
    allowed = [RUN_BY_ROOT]
    if not any(metadata(rank, "distributed_args") for rank in ranks):
        allowed.append(NO_DISTRIBUTED_ARGS)
    if _leaves_out_ranks(ranks):
        allowed.append(RANK_NOT_LOADED)
    return tuple(allowed)


def _leaves_out_ranks(ranks: Sequence[Rank]) -> bool:
    """Whether a group has members that the profile does not hold."""
    members: dict[str, set[str]] = {}
    holders: dict[str, int] = {}
    for rank in ranks:
        linked = rows(rank.analysis, LINKED)
        for group, local in linked:
            members.setdefault(group, set()).add(local)
        for group in {group for group, _ in linked}:
            holders[group] = holders.get(group, 0) + 1
    return any(len(members[group]) > count for group, count in holders.items())
