"""Communication groups over all ranks, and the pipeline stages that they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ascend_ref.db.encode.metadata import PARALLEL_GROUPS
from ascend_ref.derive.group_hash import group_hash

from .ranks import RANK, Rank, joined

PIPELINE = "pp"
"""How the purposes of groups begin that connect pipeline stages."""
GREATEST = 0xFFFF_FFFF
"""Rank: they have 32 bits. A list with anything else states no ranks."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What the program says of a group. ranks: global ones, each at its rank of the group."""

    text: str
    purpose: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group in which one kind of operators ran. name: its hash."""

    kind: str
    name: str
    ranks: tuple[int, ...]
    text: str = ""
    purpose: str = ""


def stated_groups(ranks: Sequence[Rank]) -> dict[str, Stated]:
    """The groups of ``parallel_group_info`` by their hashes, as the first rank states them."""
    found: dict[str, Stated] = {}
    for rank in ranks:
        for text, one in rank.facts.get(PARALLEL_GROUPS, {}).items():
            if isinstance(one, dict):
                found.setdefault(group_hash(text), _stated(text, one))
    return found


def _stated(text: str, one: Mapping[str, Any]) -> Stated:
    purpose, members = one.get("group_name"), one.get("global_ranks")
    numbers = members if isinstance(members, list) and all(map(_is_rank, members)) else []
    return Stated(text, purpose if isinstance(purpose, str) else "", tuple(sorted(numbers)))


def _is_rank(value: object) -> bool:
    return type(value) is int and 0 <= value <= GREATEST


def groups(ranks: Sequence[Rank]) -> list[Group]:
    """The groups in which the ranks have operators."""
    stated = stated_groups(ranks)
    held = joined(ranks, "CommAnalyzerTime").group_by(["type", "group_name", RANK]).aggregate([])
    members: dict[tuple[str, str], set[int]] = {}
    for row in held.to_pylist():
        key = row["type"] or "", row["group_name"] or ""
        members.setdefault(key, set()).add(row[RANK])
    found = []
    for kind, name in sorted(members):
        own = stated.get(name, Stated("", "", ()))
        present = own.ranks or tuple(sorted(members[kind, name]))
        found.append(Group(kind, name, present, own.text, own.purpose))
    return found


def group_table(found: Sequence[Group]) -> pa.Table:
    """CommunicationGroupMapping."""
    return pa.table(
        {
            "type": pa.array([one.kind for one in found], pa.string()),
            "rank_set": pa.array([set_of(one.ranks) for one in found], pa.string()),
            "group_name": pa.array([one.name for one in found], pa.string()),
            "group_id": pa.array([one.text for one in found], pa.string()),
            "pg_name": pa.array([one.purpose for one in found], pa.string()),
        }
    )


def set_of(ranks: Iterable[int]) -> str:
    """A set of ranks as text, ``(0,1)``."""
    return f"({','.join(map(str, ranks))})"


def stages(found: Sequence[Group]) -> list[tuple[int, ...]]:
    """The ranks of each pipeline stage; none where no group connects stages.

    A stage is what collectives connect, but for those of ranks of one pipeline. Source: consumers
    2.1.4, and the analysis of stages of msprof-analyze.
    """
    pipelines = connected(
        one.ranks for one in found if one.kind == "p2p" and one.purpose.lower().startswith(PIPELINE)
    )
    if not pipelines:
        return []
    inside = (
        one.ranks
        for one in found
        if one.kind == "collective"
        and not any(len(p.intersection(one.ranks)) > 1 for p in pipelines)
    )
    return sorted(tuple(sorted(stage)) for stage in connected(inside))


def connected(sets: Iterable[Iterable[int]]) -> list[set[int]]:
    """Sets joined where they have a member in common."""
    found: list[set[int]] = []
    for one in sets:
        met = set(one)
        apart = []
        for other in found:
            if met & other:
                met |= other
            else:
                apart.append(other)
        found = [*apart, met]
    return found


def global_ranks(ranks: Sequence[Rank]) -> Iterator[tuple[str, str, int]]:
    """Group, rank in it and global rank: as stated, else by the links of ranks to themselves."""
    known: dict[tuple[str, str], int] = {
        (name, str(place)): number
        for name, one in stated_groups(ranks).items()
        for place, number in enumerate(one.ranks)
    }
    own = joined(ranks, "CommAnalyzerMatrix")
    own = (
        own.filter(pc.equal(own["src_rank"], own["dst_rank"]))
        .group_by(["group_name", "src_rank", RANK])
        .aggregate([])
    )
    for row in sorted(own.to_pylist(), key=lambda row: row[RANK]):
        known.setdefault((row["group_name"] or "", row["src_rank"]), row[RANK])
    for (name, place), number in known.items():
        yield name, place, number
