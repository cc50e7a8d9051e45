"""Checks of a database against its file name and what lies next to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ascend_ref.db.display import clip, printable
from ascend_ref.db.open import read_examples
from ascend_ref.derive.group_hash import group_hash
from ascend_spec import layout_catalog

from ..seen import stated_level
from ..session import Session
from ..sql import single_row
from . import Check, Fault, Places

RANK = re.compile("-?[0-9]{1,16}")
"""A rank as the file names of torch_npu spell it: at most 16 digits."""

JSON_BYTES = 8 << 20
"""Longest parallel_group_info that is read; a thousand ranks need a tenth of it."""

POINT_TO_POINT = (
    "SELECT id FROM main.STRING_IDS WHERE value GLOB 'hcom_send*' "
    "OR value GLOB 'hcom_receive*' OR value GLOB 'hcom_batchSendRecv*'"
)
"""Operators between two ranks: their communicators need no entry in parallel_group_info."""

RANK_COLUMN = ("RANK_DEVICE_MAP", "rankId")
AT_LEVEL_1 = ("CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix")


def _rank(session: Session, _places: Places) -> Iterator[Fault]:
    """RANK_DEVICE_MAP.rankId, the number in the file name and rank_id of profiler_info."""
    if not session.layout.holds("RANK_DEVICE_MAP.rankId"):
        return
    rank = session.schema.tables["RANK_DEVICE_MAP"].columns["rankId"]
    named = session.identity.rank_from_name
    informed = _informed_rank(session)
    for stated, where in ((named, "the file name"), (informed, "profiler_info")):
        if stated is None:
            continue
        row = single_row(
            session.connection,
            "SELECT count(*), min(rowid), min(rankId) FROM main.RANK_DEVICE_MAP "
            "WHERE typeof(rankId) = 'integer' AND rankId <> CAST(? AS INTEGER) "
            f"AND rankId BETWEEN {rank.minimum} AND {rank.maximum}",
            (str(stated),),
        )
        if row[0]:
            what = f"RANK_DEVICE_MAP.rankId is {row[2]}, {where} says {stated}: {row[0]:,} rows"
            context = {"rankId": row[2], "stated": stated, "by": where}
            yield Fault(what, *RANK_COLUMN, str(stated), row[0], row[1], context=context)
            return
    if named is not None and informed is not None and named != informed:
        what = f"the file name says rank {named}, profiler_info says {informed}"
        yield Fault(what, *RANK_COLUMN, str(informed))


def _informed_rank(session: Session) -> int | None:
    """``rank_id`` is a number or its text, depending on the exporter (consumers.md 3.2), and one
    level deeper of MindSpore.
    """
    info = session.profiler_info or {}
    of_mindspore = info.get("ms_profiler_info")
    found = of_mindspore.get("rank_id") if isinstance(of_mindspore, dict) else info.get("rank_id")
    if isinstance(found, bool) or not isinstance(found, int | str):
        return None
    return int(found) if RANK.fullmatch(str(found)) else None


def _group_absent(session: Session, _places: Places) -> Iterator[Fault]:
    """Groups of COMMUNICATION_OP that parallel_group_info of META_DATA does not list.

    Of a job with several backends (``cpu:gloo,npu:hccl``) torch_npu lists the default group alone.
    """
    known = _described_groups(session, "COMMUNICATION_OP.opName")
    if known is None or (known and all(map(_is_default, known.values()))):
        return
    listed = (
        "SELECT s.value, count(*), min(o.rowid) FROM main.COMMUNICATION_OP o "
        "JOIN main.STRING_IDS s ON s.id = o.groupName "
        f"WHERE o.opName NOT IN ({POINT_TO_POINT}) AND s.value <> 'N/A' "
        "GROUP BY o.groupName ORDER BY min(o.rowid)"
    )
    absent = [
        row
        for row in session.connection.execute(_as_bytes(listed))
        if bytes(row[0]).decode(session.physical.encoding, "replace") not in known
    ]
    if absent:
        rows = sum(int(row[1]) for row in absent)
        name = read_examples(session.connection, listed, columns=3, rows=1)[0][0]
        what = (
            f"groups that parallel_group_info does not list: {len(absent)} "
            f"(first: {name}), {rows:,} rows"
        )
        first = min(int(row[2]) for row in absent)
        yield Fault(what, "COMMUNICATION_OP", "groupName", None, rows, first)


def _is_default(group: object) -> bool:
    return isinstance(group, dict) and group.get("group_name") == "default_group"


def _group_size(session: Session, _places: Places) -> Iterator[Fault]:
    """Operators whose number of ranks is not that of their group in parallel_group_info."""
    groups = _described_groups(session, "COMMUNICATION_OP.rankSize") or {}
    sizes = {
        name: len(one["global_ranks"])
        for name, one in groups.items()
        if isinstance(one, dict) and isinstance(one.get("global_ranks"), list)
    }
    if not sizes:
        return
    listed = (
        "SELECT CAST(s.value AS BLOB), o.rankSize, count(*), min(o.rowid) "
        "FROM main.COMMUNICATION_OP o JOIN main.STRING_IDS s ON s.id = o.groupName "
        "WHERE typeof(o.rankSize) = 'integer' AND o.rankSize > 0 "
        "GROUP BY o.groupName, o.rankSize ORDER BY 4"
    )
    for raw, size, rows, first in session.connection.execute(listed):
        name = bytes(raw).decode(session.physical.encoding, "replace")
        wanted = sizes.get(name, size)
        if wanted != size:
            what = f"group {clip(printable(name), 60)} has {wanted:,} ranks, its operators {size:,}"
            place = ("COMMUNICATION_OP", "rankSize", str(wanted), rows, first)
            yield Fault(what, *place)


def _as_bytes(select: str) -> str:
    listed = f"WITH listed(name, number, first) AS ({select})"
    return f"{listed} SELECT CAST(name AS BLOB), number, first FROM listed"


def _described_groups(session: Session, *further: str) -> Mapping[str, object] | None:
    """What parallel_group_info states of each group, by its name and by the hash of it.

    ``None`` without it, or without columns that operators and their groups are read from.
    """
    needed = ("COMMUNICATION_OP.groupName", "STRING_IDS.id", "STRING_IDS.value", *further)
    if not all(map(session.layout.holds, needed)):
        return None
    text = metadata_of(session, "parallel_group_info")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return {called: one for name, one in found.items() for called in (name, group_hash(name))}


def metadata_of(session: Session, name: str) -> str:
    """A document in META_DATA; ``null`` where it is not there or cannot be read."""
    if not all(session.layout.holds(f"META_DATA.{one}") for one in ("name", "value")):
        return "null"
    row = session.connection.execute(
        "SELECT CAST(value AS BLOB) FROM main.META_DATA "
        "WHERE name = ? AND length(value) < ? LIMIT 1",
        (name, JSON_BYTES),
    ).fetchone()
    try:
        return bytes(row[0] or b"").decode(session.physical.encoding) if row else "null"
    except ValueError:
        return "null"


def _analysis_tables(session: Session, _places: Places) -> Iterator[Fault]:
    """An analysis.db of level 1 or 2 whose profiler database shows data sent between ranks."""
    level = stated_level(session)
    if level not in ("1", "2") or session.profiler is None or not _sends_data(session.profiler):
        return
    for table in AT_LEVEL_1:
        if table in session.schema.tables and table not in session.layout.tables:
            what = f"level {level} with communication, but the database has no table {table}"
            yield Fault(what, table)


def _sends_data(profiler: Session) -> bool:
    columns = ("size", "srcRank", "dstRank")
    if not all(profiler.layout.holds(f"COMMUNICATION_TASK_INFO.{column}") for column in columns):
        return False
    query = (
        "SELECT 1 FROM main.COMMUNICATION_TASK_INFO "
        "WHERE size > 0 AND srcRank <> dstRank AND dstRank <> 4294967295 LIMIT 1"
    )
    return profiler.connection.execute(query).fetchone() is not None


def _analysis_lost(session: Session, _places: Places) -> Iterator[Fault]:
    """A folder with profiler_info, so that it was written or copied as a whole.

    Of a capture without a level torch_npu analyses neither steps nor communication.
    """
    if session.path is None or not session.profiler_info or not session.rows.get("TASK"):
        return
    if stated_level(session) == "none":
        return
    analysis = layout_catalog().file("pytorch", "analysis")
    if not session.path.with_name(analysis).exists():
        yield Fault(f"{analysis} does not lie next to the database")


CHECKS: Mapping[str, Check] = {
    "group-size": _group_size,
    "analysis-lost": _analysis_lost,
    "rank-in-name-vs-map": _rank,
    "group-absent-from-parallel_group_info": _group_absent,
    "analysis-tables-missing": _analysis_tables,
}
