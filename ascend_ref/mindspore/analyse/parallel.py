"""The analyser of how ranks work together: what the proposer of several ranks asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ascend_spec import mindspore_catalog
from ascend_spec.mindspore.requests import LAST_VIEWED

from .cluster import INTERVAL, of_average_step
from .communication import TABLE as LINKS
from .communication import load_links
from .condition import read_condition
from .files import Folder
from .flops import ALL, SUMMARY, load_sums, per_second
from .ranks import CLUSTER_TABLES, PIPELINE, RANK, Cluster, find_cluster, rank_of
from .steps import TABLE as STEPS

COMPUTING, ALONE = "computation", "communication_alone"
RECEIVING, COLLECTIVE = "receive_alone", "collective_communication_alone"
RATE_DIGITS = 4
ON_ASCEND = CLUSTER_TABLES[:1]
OF_STEPS, OF_SUMS, OF_LINKS = "steps", "flops", "links"
"""What may be missing."""


def answer_parallel(folder: Folder) -> dict[str, Any]:
    """Figures of all ranks on average, and by what is ``missing`` the reason."""
    cluster = find_cluster(folder, ON_ASCEND)
    missing: dict[str, str] = {}
    steps = _steps(folder, cluster, missing)
    sums = _sums(folder, cluster, missing)
    links = _links(folder, cluster, missing)
    return {
        "parallel_mode": cluster.mode if cluster.table else "",
        "stage_num": cluster.stages,
        "rank_size": cluster.ranks,
        "step_interval": [
            {RANK: rank, "step_interval": one[INTERVAL]} for rank, one in steps.items()
        ],
        "rank_flops_per_second": [
            {RANK: row[RANK], "FLOPS": per_second(row)} for row in sums if per_second(row)
        ],
        "rank_link": links,
        "communication_rate": _rate(steps.values(), ALONE),
        "between_stage_communication_rate": (
            _rate(steps.values(), RECEIVING) if _is_pipeline(cluster) else 0.0
        ),
        "within_stage_communication_rate": _by_stage(steps, cluster),
        "rank_flops": [{RANK: row[RANK], "FLOPs": row[ALL]} for row in sums],
        "missing": missing,
    }


def _steps(
    folder: Folder, cluster: Cluster, missing: dict[str, str]
) -> dict[int, Mapping[str, float]]:
    """Times of the average step in ms, by rank and column."""
    analyser = mindspore_catalog().analysers["cluster_step_trace"]
    held = [one for one in folder.of_ranks(STEPS) if cluster.path(one) is not None]
    reason = _lacking(cluster, held, f"{STEPS} and {cluster.table}")
    if reason is None:
        found = {rank_of(one): of_average_step(one, cluster, analyser) for one in held}
        needed = {COMPUTING, ALONE, *((RECEIVING, COLLECTIVE) if _is_pipeline(cluster) else ())}
        bad = [rank for rank, one in found.items() if one is None or needed - one.keys()]
        if not bad:
            return {rank: one for rank, one in found.items() if one is not None}
        reason = f"no average step of rank {bad[0]}"
    missing[OF_STEPS] = reason
    return {}


def _sums(folder: Folder, cluster: Cluster, missing: dict[str, str]) -> list[dict[str, Any]]:
    reason = _lacking(cluster, _with_steps(folder, SUMMARY), f"{STEPS} and {SUMMARY}")
    if reason is None:
        rows = load_sums(folder, mindspore_catalog().analysers["cluster_flops"], _day())
        names = list(rows.columns)
        cells = (rows.columns[name].at(rows.every) for name in names)
        found = [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
        held = {row[RANK] for row in found if per_second(row) is not None}
        bad = [rank for rank in range(cluster.ranks) if rank not in held]
        if not bad:
            return found
        reason = f"no sums of rank {bad[0]}"
    missing[OF_SUMS] = reason
    return []


def _links(folder: Folder, cluster: Cluster, missing: dict[str, str]) -> list[list[Any]]:
    reason = _lacking(cluster, _with_steps(folder, LINKS), f"{STEPS} and {LINKS}")
    if reason is not None:
        missing[OF_LINKS] = reason
        return []
    analyser = mindspore_catalog().analysers["cluster_link"]
    rows = load_links(folder, analyser, _day(), read_condition({}, analyser))
    cells = (rows.columns[one.name].at(rows.every) for one in rows.shown)
    return [list(row) for row in zip(*cells, strict=True)]


def _with_steps(folder: Folder, table: str) -> list[Folder]:
    """The ranks that have a file of steps, without which the viewer does not see them, and this."""
    return [one for one in folder.of_ranks(STEPS) if one.find(table) is not None]


def _lacking(cluster: Cluster, held: Iterable[Folder], what: str) -> str | None:
    """Why ranks cannot be compared: the first one without a file."""
    if cluster.table is None:
        return f"no {ON_ASCEND[0]}"
    ranks = {rank_of(one) for one in held}
    first = next((rank for rank in range(cluster.ranks) if rank not in ranks), None)
    return None if first is None else f"no {what} of rank {first}"


def _day() -> str:
    """The one whose names columns of other analysers are taken by."""
    return mindspore_catalog().day_of(LAST_VIEWED)


def _is_pipeline(cluster: Cluster) -> bool:
    return cluster.mode == PIPELINE


def _rate(steps: Iterable[Mapping[str, float]], name: str) -> float:
    """The part of computing and communication that is one of the times."""
    times = list(steps)
    computing, alone, asked = (
        sum(one.get(column, 0) for one in times) for column in (COMPUTING, ALONE, name)
    )
    if computing <= 0 or alone <= 0 or asked <= 0:
        return 0.0
    return round(asked / (computing + alone), RATE_DIGITS)


def _by_stage(steps: Mapping[int, Mapping[str, float]], cluster: Cluster) -> list[dict[str, Any]]:
    """The part of the time that collective communication takes in each stage of a pipeline."""
    if not _is_pipeline(cluster):
        return []
    sums: dict[int, tuple[float, float]] = {}
    for rank, one in steps.items():
        stage = cluster.stage_of(rank)
        collective, whole = sums.get(stage, (0.0, 0.0))
        sums[stage] = collective + one[COLLECTIVE], whole + one[COMPUTING] + one[ALONE]
    return [
        {"stage_id": stage, "rate": collective / whole}
        for stage, (collective, whole) in sums.items()
        if whole
    ]
