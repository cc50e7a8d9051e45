"""How ranks share the work of a run, which no raw file says, and what number each of them has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ascend_ref.raw.damage import Unreadable
from ascend_spec.mindspore import ParallelMode

from ..folder import RawCapture

_RANK = re.compile(r"rank_([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Shared:
    """The context that the framework knew while it ran: the mode, and the stages of a pipeline."""

    mode: ParallelMode
    stages: int = 1


@dataclass(frozen=True, slots=True)
class OfRank:
    """That of one rank: its number, and how many there are."""

    shared: Shared
    rank: int
    ranks: int


def ranks_of(captures: Sequence[RawCapture], shared: Shared) -> Mapping[int, OfRank]:
    """The rank of each capture by its place: by a folder rank_<n> around it, else by its device.

    Raises :class:`Unreadable` for two captures of one rank, and for stages that differ in size.
    """
    found = [_rank(one) for one in captures]
    for place, rank in enumerate(found):
        first = found.index(rank)
        if first != place:
            paths = captures[first].path, captures[place].path
            raise Unreadable(
                f"{paths[1]}: rank {rank}, as {paths[0]}; expected folders rank_<n> around jobs, or"
                " another device in each"
            )
    if len(found) % shared.stages:
        raise Unreadable(f"{len(found)} ranks in {shared.stages} stages; expected as many in each")
    return {place: OfRank(shared, rank, len(found)) for place, rank in enumerate(found)}


def _rank(capture: RawCapture) -> int:
    named = [found for part in capture.path.parts if (found := _RANK.fullmatch(part))]
    return int(named[-1][1]) if named else int(capture.device)
