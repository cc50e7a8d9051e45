"""Checks T1 to T6: the tables of mode ``all`` say what analysis.db of each rank says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from consumer_differences import different
from consumer_ranks import Rank, named_groups, one, rows

TOTAL = "Total Op Info"
STEP_VALUES = (
    "computing, communication_not_overlapped, overlapped, communication, free, stage, bubble, "
    "communication_not_overlapped_and_exclude_receive, preparing"
)
TIMES = "transit_time, wait_time, synchronization_time, idle_time"
POINT_TO_POINT = ("send", "receive", "recv")
LINK_SUMS = """
    SELECT step, hccl_op_name, group_name, CAST(src_rank AS INTEGER), CAST(dst_rank AS INTEGER),
        total(transit_size), total(transit_time), count(*)
    FROM {table} WHERE hccl_op_name <> 'Total Op Info' GROUP BY 1, 2, 3, 4, 5
"""


def t1_steps(ranks: Sequence[Rank], result: Path) -> list[str]:
    """The times of each step of each rank."""
    found = rows(
        result,
        f"SELECT \"index\", step, {STEP_VALUES} FROM ClusterStepTraceTime WHERE type = 'rank'",
    )
    expected = [
        (str(rank.number), *row)
        for rank in ranks
        for row in rows(rank.analysis, f"SELECT step, {STEP_VALUES} FROM StepTraceTime")
    ]
    return different("T1 ClusterStepTraceTime", sorted(found), sorted(expected))


def t2_hosts(ranks: Sequence[Rank], result: Path) -> list[str]:
    """The devices of the ranks, and the hosts."""
    devices = rows(result, "SELECT rankId, deviceId, hostUid FROM RankDeviceMap ORDER BY 1, 2")
    hosts = rows(result, "SELECT hostUid, hostName FROM HostInfo ORDER BY 1")
    told = [rows(rank.profiler, "SELECT hostUid, hostName FROM HOST_INFO")[0] for rank in ranks]
    expected = [
        (rank.number, one(rank.profiler, "SELECT deviceId FROM RANK_DEVICE_MAP"), str(uid))
        for rank, (uid, _) in zip(ranks, told, strict=True)
    ]
    return [
        *different("T2 RankDeviceMap", devices, expected),
        *different("T2 HostInfo", hosts, sorted({(str(uid), name) for uid, name in told})),
    ]


def t3_times(ranks: Sequence[Rank], result: Path) -> list[str]:
    """The times of the communication operators."""
    columns = ", ".join(f"total({name})" for name in TIMES.split(", "))
    return [
        line
        for rank in ranks
        for line in different(
            f"T3 ClusterCommunicationTime of rank {rank.number}",
            rows(
                result,
                f"SELECT count(*), total(elapsed_time), {columns} FROM ClusterCommunicationTime "
                "WHERE rank_id = ? AND hccl_op_name <> ?",
                [rank.number, TOTAL],
            ),
            rows(
                rank.analysis,
                f"SELECT count(*), total(elapse_time), {columns} FROM CommAnalyzerTime",
            ),
        )
    ]


def t4_bandwidths(ranks: Sequence[Rank], result: Path) -> list[str]:
    """The sizes and counts of packets."""
    columns = "count(*), total(transit_size), total(count), total(total_duration)"
    return [
        line
        for rank in ranks
        for line in different(
            f"T4 ClusterCommunicationBandwidth of rank {rank.number}",
            rows(
                result,
                f"SELECT {columns} FROM ClusterCommunicationBandwidth "
                "WHERE rank_id = ? AND hccl_op_name <> ?",
                [rank.number, TOTAL],
            ),
            rows(rank.analysis, f"SELECT {columns} FROM CommAnalyzerBandwidth"),
        )
    ]


def t5_links(ranks: Sequence[Rank], result: Path) -> list[str]:
    """What went over each link, between global ranks; links to absent ranks are left out."""
    known = _global_ranks(ranks)
    expected: dict[tuple[object, ...], tuple[float, float, int]] = {}
    for rank in ranks:
        for *key, source, target, size, time, _ in rows(
            rank.analysis, LINK_SUMS.format(table="CommAnalyzerMatrix")
        ):
            ends = [known.get((key[2], local)) for local in (source, target)]
            if None not in ends:
                place = (*key, *ends)
                before = expected.get(place, (0.0, 0.0, 1))
                expected[place] = (before[0] + size, before[1] + time, 1)
    found = {
        tuple(row[:5]): row[5:]
        for row in rows(result, LINK_SUMS.format(table="ClusterCommunicationMatrix"))
    }
    return different("T5 ClusterCommunicationMatrix", found, expected)


def _global_ranks(ranks: Sequence[Rank]) -> dict[tuple[str, int], int]:
    """The global rank of each local one, named by the metadata or by a link to itself."""
    known = {
        (group, local): member
        for group, members in named_groups(ranks).items()
        for local, member in enumerate(members)
    }
    for rank in ranks:
        for group, local in rows(
            rank.analysis,
            "SELECT DISTINCT group_name, CAST(src_rank AS INTEGER) FROM CommAnalyzerMatrix "
            "WHERE src_rank = dst_rank",
        ):
            known.setdefault((group, local), rank.number)
    return known


def t6_groups(ranks: Sequence[Rank], result: Path) -> list[str]:
    """The ranks of each communication group."""
    members: dict[tuple[str, str], set[int]] = {}
    for rank in ranks:
        for group, operator in rows(
            rank.analysis, "SELECT DISTINCT group_name, hccl_op_name FROM CommAnalyzerTime"
        ):
            paired = any(word in operator.lower() for word in POINT_TO_POINT)
            kind = "p2p" if paired else "collective"
            members.setdefault((kind, group), set()).add(rank.number)
    named = named_groups(ranks)
    expected = {
        key: f"({','.join(map(str, named.get(key[1]) or sorted(held)))})"
        for key, held in members.items()
    }
    found = rows(result, "SELECT type, group_name, rank_set FROM CommunicationGroupMapping")
    return [
        *different("T6 rows of CommunicationGroupMapping", len(found), len(expected)),
        *different(
            "T6 CommunicationGroupMapping",
            {(kind, group): held for kind, group, held in found},
            expected,
        ),
    ]
