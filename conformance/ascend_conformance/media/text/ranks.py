"""What the files of one folder show of their rank, for comparison with others."""

from __future__ import annotations

from ...compare.ranks import MOST, RankProfile, collectives_of
from ...compare.sql import quoted
from .derived.operators import FILES
from .folder import Folder
from .seen import devices_by_file, ranks_of


def rank_profile(folder: Folder, label: str) -> RankProfile | None:
    """What a folder shows of its rank; nothing of one without ranks, or with several."""
    ranks = ranks_of(folder)
    starts = _starts(folder)
    if len(ranks) != 1 or not starts:
        return None
    devices = {one for some in devices_by_file(folder).values() for one in some}
    world = folder.facts.value(
        "SELECT max(TRY_CAST(value AS BIGINT)) FROM doc.member "
        "WHERE pointer = '/distributed_args/world_size'"
    )
    return RankProfile(
        label,
        ranks[0],
        frozenset(devices),
        starts,
        collectives_of(_collectives(folder)),
        _groups(folder),
        world if isinstance(world, int) else None,
    )


def _starts(folder: Folder) -> tuple[object, ...]:
    """Of the file of operators, else of the tasks in the timeline."""
    for name, names in FILES.items():
        if names.start in folder.facts.columns(f"csv.{name}"):
            return _sums(folder, name, f"csv.{name}", quoted(names.start))
    if folder.facts.columns("trace.ascend_hardware"):
        return _sums(folder, "Ascend Hardware", "trace.ascend_hardware", "ts")
    return ()


def _sums(folder: Folder, name: str, table: str, start: str) -> tuple[object, ...]:
    (found,) = folder.facts.rows(
        f"SELECT count({start}), min({start}), max({start}), sum({start} % 1000000007) FROM {table}"
    )
    return (name, *found) if found[0] else ()


def _collectives(folder: Folder) -> list[tuple[object, ...]]:
    """Operators of the timeline, with the group of their thread."""
    here = folder.facts.columns("trace.communication")
    if not {"count", "data_type"} <= set(here):
        return []
    return folder.facts.rows(
        "SELECT o.name, nullif(regexp_extract(t.name, '^Group (.*%.*?) (?:Aicpu )?Communication$', "
        "1), ''), o.\"count\", o.data_type, o.ts, TRY(o.ts + CAST(round(o.dur * 1000) AS BIGINT)) "
        "FROM trace.communication o JOIN trace.thread t USING (file, pid, tid) "
        f"WHERE o.kind = 'operator' AND o.dur >= 0 ORDER BY o.file, o.row LIMIT {MOST}"
    )


def _groups(folder: Folder) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for pointer, rank in folder.facts.rows(
        "SELECT pointer, TRY_CAST(value AS BIGINT) FROM doc.member WHERE pointer LIKE "
        "'/parallel_group_info/%/global_ranks/%' ORDER BY row"
    ):
        if rank is not None:
            found.setdefault(pointer.split("/")[2], []).append(rank)
    return {name: tuple(ranks) for name, ranks in found.items()}
