"""Profiles of several ranks against each other: what they did together, and that they differ."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from ..engine.failure import rule_that_finds
from ..finding import Finding
from ..ruleset import Selection

MOST = 200
"""Collectives of a profile that are compared; the first already show an exporter's habit."""

FEWEST = 10
"""Tasks whose starts are equal that no two devices have."""

LISTED = 8
"""Absent ranks that a message names."""

TOGETHER = re.compile(r"hcom_(?:allReduce|allGather|reduceScatter|broadcast|reduce)_")
"""Collectives in which every rank has the same count. Those with sizes for each rank have not."""

NUMBERED = re.compile(r"__[0-9]+_([0-9]+)_1$")
"""The number of an operator in its group, of the first run of each."""

SHIFTS = 8
"""How many operators earlier or later the capture of another rank may begin."""

COMMUNICATOR = re.compile(r".[^%\n]*%.+_\d+_\d+_\d+")
"""A group that is named after address, interface, port and time of its root: one in all the world.
Other names, group_name_0 of torch_npu since 2025-03 and hccl_world_group, are those of each job."""


@dataclass(frozen=True, slots=True)
class Collective:
    """One operator of a group: how many elements of what type, from when to when, ns."""

    count: int | None
    data_type: str | int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RankProfile:
    """What one profile shows of its rank.

    ``starts``: of which rows, how many, and first, last and a sum of their starts. ``collectives``:
    by name and group. ``groups``: the ranks of each, by name. ``world``: the number of all ranks.
    """

    file: str
    rank: int
    devices: frozenset[int] = frozenset()
    starts: tuple[Any, ...] = ()
    collectives: Mapping[tuple[str, str], Collective] = field(default_factory=dict)
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    world: int | None = None


def collectives_of(rows: Sequence[tuple[Any, ...]]) -> dict[tuple[str, str], Collective]:
    """Rows of name, group, count, data type, start and end; names that a group has twice are
    left out.
    """
    found: dict[tuple[str, str], list[Collective]] = defaultdict(list)
    for name, group, *values in rows:
        if name and group and values[2] is not None and values[3] is not None:
            found[str(name), str(group)].append(Collective(*values))
    return {key: some[0] for key, some in found.items() if len(some) == 1}


def groups_of(text: str) -> dict[str, tuple[int, ...]]:
    """Ranks by group, as parallel_group_info has them; nothing where it cannot be read."""
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {
        name: tuple(one["global_ranks"])
        for name, one in (stated.items() if isinstance(stated, dict) else ())
        if isinstance(one, dict)
        and isinstance(one.get("global_ranks"), list)
        and all(isinstance(rank, int) for rank in one["global_ranks"])
    }


def world_of(text: str) -> int | None:
    """The number of all ranks, as distributed_args has it."""
    try:
        found = json.loads(text)["world_size"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) else None


def judge_profiles(
    profiles: Sequence[RankProfile], selection: Selection
) -> Mapping[str, list[Finding]]:
    """Findings by file, on the later one of two profiles that contradict each other.

    Each is compared with the first that shows the same thing, so that thousands are no trouble.
    """
    found: dict[str, list[Finding]] = defaultdict(list)
    known = _Known(_of_several_jobs(profiles))
    for one in profiles:
        for what, words, count, total in known.contradictions(one):
            rule = rule_that_finds(what)
            if selection.wants(rule):
                message = f"{rule.counted(count, total)}; {words}"
                found[one.file].append(rule.finding(one.file, message, count, total))
        known.add(one)
    absent = rule_that_finds("absent-rank")
    if selection.wants(absent):
        for file, words, count, total in _absent_ranks(profiles):
            message = f"{absent.counted(count, total)}; {words}"
            found[file].append(absent.finding(file, message, count, total))
    return found


def _of_several_jobs(profiles: Sequence[RankProfile]) -> bool:
    """Whether two captures of one rank ran at the same time."""
    known: dict[tuple[int, object], set[tuple[Any, ...]]] = defaultdict(set)
    for one in profiles:
        if one.starts and one.starts[1]:
            known[one.rank, one.starts[0]].add(one.starts)
    for some in known.values():
        spans = sorted((first, last) for _, _, first, last, _ in some)
        if any(begin < end for (_, end), (begin, _) in pairwise(spans)):
            return True
    return False


def _absent_ranks(profiles: Sequence[RankProfile]) -> Iterator[tuple[str, str, int, int]]:
    """Groups of which more than half of the ranks are there, and others are not: the file that
    names the ranks first, words, and how many of how many ranks.

    Of fewer ranks nobody can say whether they were to be all.
    """
    there = {one.rank for one in profiles}
    first: dict[str, RankProfile] = {}
    naming: dict[str, set[int]] = defaultdict(set)
    for one in profiles:
        for name in filter(COMMUNICATOR.fullmatch, one.groups):
            first.setdefault(name, one)
            naming[name].add(one.rank)
    reported: set[int] = set()
    for name, one in first.items():
        ranks = set(one.groups[name])
        absent = ranks - there - reported
        if absent and 2 * len(ranks & naming[name]) > len(ranks):
            reported |= absent
            listed = ", ".join(map(str, sorted(absent)[:LISTED]))
            more = ", ..." if len(absent) > LISTED else ""
            yield one.file, f"{listed}{more} of {name}", len(absent), len(ranks)


Contradiction: TypeAlias = tuple[str, str, int, int]
"""What is found, in words, how often and of how many."""


class _Known:
    """The first profile that shows something, by what it shows.

    ``several_jobs``: groups of the same name may be of different jobs.
    """

    def __init__(self, several_jobs: bool) -> None:
        self._several_jobs = several_jobs
        self._of_starts: dict[tuple[Any, ...], RankProfile] = {}
        self._of_ranks: dict[int, RankProfile] = {}
        self._of_collectives: dict[tuple[str, str], RankProfile] = {}
        self._of_groups: dict[str, RankProfile] = {}

    def add(self, profile: RankProfile) -> None:
        """Remember what nobody has shown before."""
        self._of_starts.setdefault(profile.starts, profile)
        self._of_ranks.setdefault(profile.rank, profile)
        for key in profile.collectives:
            self._of_collectives.setdefault(key, profile)
        for group in profile.groups:
            self._of_groups.setdefault(group, profile)

    def contradictions(self, profile: RankProfile) -> Iterator[Contradiction]:
        """What of a profile is not as others show it."""
        copied = self._of_starts.get(profile.starts)
        if copied is not None and profile.starts and profile.starts[1] >= FEWEST:
            if copied.rank != profile.rank:
                rows = profile.starts[1]
                words = f"rank {profile.rank} has the starts of rank {copied.rank} of {copied.file}"
                yield "copied-rank", words, rows, rows
            return
        twin = self._of_ranks.get(profile.rank)
        if twin is not None and twin.devices and profile.devices:
            met = sum(
                _meet(twin.collectives[key], one)
                for key, one in profile.collectives.items()
                if key in twin.collectives and COMMUNICATOR.fullmatch(key[1])
            )
            if met and not twin.devices & profile.devices:
                words = f"rank {profile.rank} is also that of {twin.file}"
                yield "rank-twice", words, met, met
        yield from self._other_collectives(profile)
        yield from self._other_groups(profile)

    def _other_collectives(self, profile: RankProfile) -> Iterator[Contradiction]:
        met = [
            (key, first, first.collectives[key], one)
            for key, one in profile.collectives.items()
            if TOGETHER.match(key[0])
            and (not self._several_jobs or COMMUNICATOR.fullmatch(key[1]))
            and (first := self._of_collectives.get(key)) is not None
            and first.rank != profile.rank
            and _together(first.collectives[key], one)
        ]
        for what, unit in (("count", "elements"), ("data_type", "type")):
            pairs = [(key, of, getattr(a, what), getattr(b, what)) for key, of, a, b in met]
            stated = [pair for pair in pairs if pair[2] is not None and pair[3] is not None]
            odd = [pair for pair in stated if pair[2] != pair[3]]
            others = {(key[1], of.file): of for key, of, *_ in odd}
            shifted = {one for one, of in others.items() if _shifted(of, profile, one[0])}
            odd = [pair for pair in odd if (pair[0][1], pair[1].file) not in shifted]
            if odd:
                (name, _), first, a, b = odd[0]
                words = (
                    f"{unit} of {name}: {b} of rank {profile.rank}, {a} of rank {first.rank} "
                    f"of {first.file}"
                )
                yield "other-collective", words, len(odd), len(stated)

    def _other_groups(self, profile: RankProfile) -> Iterator[Contradiction]:
        same = [
            (name, first)
            for name in profile.groups
            if COMMUNICATOR.fullmatch(name)
            and (first := self._of_groups.get(name)) is not None
            and first.rank != profile.rank
        ]
        unequal = [(name, one) for name, one in same if one.groups[name] != profile.groups[name]]
        if unequal:
            name, first = unequal[0]
            a, b = first.groups[name], profile.groups[name]
            words = f"{name}: {list(b)}, and {list(a)} of {first.file}"
            yield "other-group", words, len(unequal), len(same)
            return
        worlds = [one for _, one in same if None not in (one.world, profile.world)]
        other = next((one for one in worlds if one.world != profile.world), None)
        if other is not None:
            words = f"a world of {profile.world}, and {other.world} of {other.file}"
            yield "other-group", words, 1, 1


def _shifted(one: RankProfile, other: RankProfile, group: str) -> bool:
    """Whether the operators of a group end together only where those of one rank count from a
    later one: names count from the first that the device began within the capture.
    """
    ends, others = (_ends(some, group) for some in (one, other))
    spreads = {}
    for shift in range(-SHIFTS, SHIFTS + 1):
        apart = [others[at + shift] - end for at, end in ends.items() if at + shift in others]
        if len(apart) >= 3:
            spreads[shift] = max(apart) - min(apart)
    return 0 in spreads and 2 * min(spreads.values()) < spreads[0]


def _ends(profile: RankProfile, group: str) -> dict[int, int]:
    """Ends of the operators of a group by their number."""
    return {
        int(found[1]): one.end
        for (name, named), one in profile.collectives.items()
        if named == group and (found := NUMBERED.search(name))
    }


def _together(one: Collective, other: Collective) -> bool:
    """Whether two ran at the same time for half of the shorter; they end together on all ranks,
    and the next one may begin before the clock of another rank says so.
    """
    both = min(one.end, other.end) - max(one.start, other.start)
    return _meet(one, other) and 2 * both >= min(one.end - one.start, other.end - other.start)


def _meet(one: Collective, other: Collective) -> bool:
    """Whether two ran at the same time: names begin to count anew in each capture."""
    return one.start < other.end and other.start < one.end
