"""Checks that compare the databases of several ranks with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ascend_ref.db.open import read_examples
from ascend_ref.derive.group_hash import group_hash

from ....compare.ranks import MOST, RankProfile, collectives_of, groups_of, world_of
from ....finding import Finding
from ....ruleset import Selection
from ..rules import DbRule, load_db_rules
from ..session import Session
from . import Fault
from .folder import metadata_of

OPERATORS = 2_000
"""Operators compared per database; the first ones already show a group under two names."""


UNKNOWN = "N/A"
"""The group of an operator without the record of its details."""


@dataclass(frozen=True, slots=True)
class RankFacts:
    """What one database says of its communication: operator name to (group name, rowid)."""

    file: str
    table: str
    column: str
    groups: Mapping[str, tuple[str, int]]


SOURCES = {
    "CommAnalyzerTime": (
        "group_name",
        "SELECT hccl_op_name, group_name, min(rowid) FROM main.CommAnalyzerTime "
        "WHERE hccl_op_name GLOB '*__[0-9][0-9][0-9]_*' "
        "GROUP BY hccl_op_name, group_name ORDER BY min(rowid)",
        ("CommAnalyzerTime.hccl_op_name", "CommAnalyzerTime.group_name"),
    ),
    "COMMUNICATION_OP": (
        "groupName",
        "SELECT n.value, g.value, o.rowid FROM main.COMMUNICATION_OP o "
        "JOIN main.STRING_IDS n ON n.id = o.opName JOIN main.STRING_IDS g ON g.id = o.groupName "
        "WHERE n.value GLOB '*__[0-9][0-9][0-9]_*' ORDER BY o.rowid",
        (
            "COMMUNICATION_OP.opName",
            "COMMUNICATION_OP.groupName",
            "STRING_IDS.id",
            "STRING_IDS.value",
        ),
    ),
}


def rank_facts(session: Session) -> list[RankFacts]:
    """The operators and groups of this database, for comparison with other ranks."""
    found: list[RankFacts] = []
    for table, (column, select, needed) in SOURCES.items():
        if all(session.layout.holds(use) for use in needed):
            rows = read_examples(session.connection, select, columns=3, rows=OPERATORS)
            groups = {str(row[0]): (str(row[1]), int(row[2] or 0)) for row in rows}
            found.append(RankFacts(session.label, table, column, groups))
    return found


STARTS = (
    "SELECT 'TASK', count(*), min(startNs), max(startNs), sum(startNs % 1000000007) "
    "FROM main.TASK WHERE typeof(startNs) = 'integer'"
)
COLLECTIVES = (
    "SELECT n.value, g.value, o.count, o.dataType, o.startNs, o.endNs FROM main.COMMUNICATION_OP o "
    "JOIN main.STRING_IDS n ON n.id = o.opName JOIN main.STRING_IDS g ON g.id = o.groupName "
    "WHERE typeof(o.startNs) = 'integer' AND typeof(o.endNs) = 'integer' ORDER BY o.rowid"
)
NEEDED_BY_COLLECTIVES = (
    *(f"COMMUNICATION_OP.{one}" for one in ("opName", "groupName", "count", "dataType")),
    *("COMMUNICATION_OP.startNs", "COMMUNICATION_OP.endNs", "STRING_IDS.id", "STRING_IDS.value"),
)


def rank_profile(session: Session) -> RankProfile | None:
    """What this database shows of its rank; nothing of one without ranks, or with several."""
    holds = session.layout.holds
    if not all(map(holds, ("RANK_DEVICE_MAP.rankId", "RANK_DEVICE_MAP.deviceId", "TASK.startNs"))):
        return None
    ranks = session.connection.execute(
        "SELECT rankId, deviceId FROM main.RANK_DEVICE_MAP WHERE rankId >= 0 "
        "AND typeof(rankId) = 'integer' AND typeof(deviceId) = 'integer' LIMIT 2"
    ).fetchall()
    if len(ranks) != 1:
        return None
    rank, device = (int(one or 0) for one in ranks[0])
    collectives = (
        read_examples(session.connection, COLLECTIVES, columns=6, rows=MOST)
        if all(map(holds, NEEDED_BY_COLLECTIVES))
        else []
    )
    return RankProfile(
        session.label,
        rank,
        frozenset({device}),
        tuple(read_examples(session.connection, STARTS, columns=5, rows=1)[0]),
        collectives_of(collectives),
        groups_of(metadata_of(session, "parallel_group_info")),
        world_of(metadata_of(session, "distributed_args")),
    )


def rank_rule() -> DbRule:
    """The rule that compares ranks."""
    return next(rule for rule in load_db_rules().values() if rule.search.compares_ranks)


def judge_ranks(facts: Sequence[RankFacts], selection: Selection) -> dict[str, list[Finding]]:
    """Findings by file: operators whose group has another name than on most other ranks.

    Operators carry the last digits of the group's hash and a running number, so one name on two
    ranks is one operator, and its group must have one name (consumers.md 2.1.3, 2.1.5). Groups
    whose hashes share these digits name their operators alike.
    """
    rule = rank_rule()
    if not selection.wants(rule):
        return {}
    found: dict[str, list[Finding]] = defaultdict(list)
    for table in SOURCES:
        ranks = [fact for fact in facts if fact.table == table]
        usual = _usual_groups(ranks)
        for rank in ranks:
            odd = [
                (name, group, row)
                for name, (group, row) in rank.groups.items()
                if name in usual and usual[name] != group and not _alike(name, usual[name], group)
            ]
            if odd:
                name, group, row = odd[0]
                what = (
                    f"operators in a group that other ranks call otherwise: {len(odd):,} "
                    f"({name} in {group})"
                )
                fault = Fault(what, table, rank.column, usual[name], len(odd), row)
                found[rank.file].append(fault.finding(rule, rank.file))
    return found


def _alike(name: str, usual: str, group: str) -> bool:
    """Whether two groups give their operators this name, or one of the two is not known: it has no
    record of details, in ``cann_trace_db_dumper.cpp``.
    """
    if UNKNOWN in (usual, group):
        return True
    one, other = (some if some.isdecimal() else group_hash(some) for some in (usual, group))
    digits = {name.partition("__")[2][:3]}
    return one != other and {one[-3:].zfill(3), other[-3:].zfill(3)} == digits


def _usual_groups(ranks: Sequence[RankFacts]) -> dict[str, str]:
    """For each operator on several ranks, the group name that most of them give, first wins."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for rank in ranks:
        for name, (group, _) in rank.groups.items():
            votes[name][group] += 1
    return {name: count.most_common(1)[0][0] for name, count in votes.items() if count.total() > 1}
