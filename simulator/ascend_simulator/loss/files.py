"""The faults that lose what was written: whole files, and arrows of timelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ascend_spec import layout_catalog

from ..world.disturbance import Disturbances


def lost_arrows(disturbances: Disturbances, ranks: Iterable[int]) -> set[str]:
    """The categories of flows that the timelines of a process lack."""
    return {fault.arrows for rank in ranks for fault, *_ in disturbances.hits("lost-arrows", rank)}


def ends_of_lost_arrows(
    disturbances: Disturbances, rank: int, ends: Callable[[], Mapping[str, int]]
) -> dict[int, int]:
    """How many ends of arrows each fault takes of a rank, by its place.

    ends: those that a timeline has by their category; asked for only where a fault takes any.
    """
    found: dict[int, int] = {}
    left: Counter[str] | None = None
    for place, fault in enumerate(disturbances.faults):
        if fault.kind == "lost-arrows" and rank in disturbances.ranks_of(fault):
            left = Counter(ends()) if left is None else left
            found[place] = left.pop(fault.arrows, 0)
    return found


def lose_files(
    disturbances: Disturbances, profiles: Sequence[tuple[Collection[int], Path]]
) -> dict[int, list[Path]]:
    """Delete the files that faults lose; what each took, by its place.

    profiles: each with its ranks.
    """
    found: dict[int, list[Path]] = {}
    for place, fault in enumerate(disturbances.faults):
        if fault.kind == "lost-file":
            hit = {*disturbances.ranks_of(fault)}
            hits = (path for ranks, path in profiles if not hit.isdisjoint(ranks))
            found[place] = [file for path in hits for file in _files(path, fault.file)]
            for file in found[place]:
                file.unlink()
    return found


def _files(profile: Path, called: str) -> list[Path]:
    """The files of a kind below a profile, by what the spec calls it, sorted."""
    layout = layout_catalog()
    found = (path for path in profile.rglob("*") if path.is_file())
    return sorted(
        path for path in found if (kind := layout.match(path.name)) and kind.called == called
    )
