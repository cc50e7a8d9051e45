"""Communication groups, as the program reported them to the profiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ascend_ref.capture import Capture, Groups
from ascend_ref.capture.model import NONE
from ascend_ref.db.encode.metadata import PARALLEL_GROUPS

from ..damage import Damage
from .information import METADATA, Information

_RANKS = 1 << 32


class _Reported(NamedTuple):
    purpose: str
    rank: int
    ranks: list[int]


def with_groups(capture: Capture, information: Information) -> Capture:
    """The capture with the groups that its program reported, before those that it shows itself."""
    reported = _reported(information)
    if not reported:
        return capture
    texts, groups = capture.texts, capture.groups
    names = texts.numbers(reported)
    others = np.flatnonzero(~np.isin(groups.name, names))
    sizes = np.array([len(one.ranks) for one in reported.values()], np.int64)
    added = Groups(
        name=names,
        purpose=texts.numbers(one.purpose for one in reported.values()),
        rank=np.array([one.rank for one in reported.values()], np.int64),
        first=np.cumsum(sizes) - sizes,
        size=sizes,
    )
    ranks = np.array([rank for one in reported.values() for rank in one.ranks], np.int64)
    kept = groups.take(others)
    kept = replace(kept, first=kept.first + len(ranks))
    moved = np.full(len(groups) + 1, NONE)
    moved[others] = len(names) + np.arange(len(others))
    place = {name: row for row, name in enumerate(names.tolist())}
    for row, name in enumerate(groups.name.tolist()):
        moved[row] = place.get(name, moved[row])
    return replace(
        capture,
        groups=Groups.joined([added, kept]),
        group_ranks=np.concatenate([ranks, capture.group_ranks]),
        collectives=replace(capture.collectives, group=moved[capture.collectives.group]),
    )


def _reported(information: Information) -> Mapping[str, _Reported]:
    stated = information.metadata.get(PARALLEL_GROUPS, {})
    if not isinstance(stated, dict):
        _refuse(information, "no object; expected one of groups")
        return {}
    found: dict[str, _Reported] = {}
    for name, group in stated.items():
        one = _group(group)
        if one is None:
            _refuse(information, f"{name[:40]!r}: expected group_name, group_rank, global_ranks")
        else:
            found[name] = one
    return found


def _group(group: Any) -> _Reported | None:
    if not isinstance(group, dict):
        return None
    purpose, rank = group.get("group_name"), group.get("group_rank")
    ranks = group.get("global_ranks")
    if not isinstance(purpose, str) or not isinstance(ranks, list):
        return None
    numbers = [rank, *ranks]
    if not all(isinstance(one, int) and NONE <= one < _RANKS for one in numbers):
        return None
    return _Reported(purpose, int(numbers[0]), [int(one) for one in ranks])


def _refuse(information: Information, text: str) -> None:
    place = f"{METADATA}: {PARALLEL_GROUPS}: {text}"
    information.damage.append(Damage(information.profile, place))
