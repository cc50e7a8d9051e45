"""The recordings of a side, each with its files of all media, and which two belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ascend_ref.db.display import show_path
from ascend_spec import layout_catalog

from ..discover import discover
from ..engine.candidate import Candidate
from ..engine.folders import framework_of
from ..media import NO_PROFILE


@dataclass(frozen=True, slots=True)
class Recording:
    """What was found of one process. ``path``: the folder that holds it, or the only file.

    ``name``: of the path below that of its side. ``rank``: as names of its files have it.
    """

    path: Path
    name: str
    candidates: tuple[Candidate, ...]
    rank: int | None = None

    @property
    def label(self) -> str:
        """What reports call it."""
        return show_path(self.path)

    def of(self, medium: str) -> tuple[Candidate, ...]:
        """What of it is judged by a medium."""
        return tuple(one for one in self.candidates if one.medium == medium)


def recordings_of(path: Path) -> Sequence[Recording]:
    """The recordings below a path, by their names. Raises :class:`..discover.NothingToCheck`."""
    found: dict[Path, list[Candidate]] = {}
    for candidate in discover(path):
        if candidate.medium != NO_PROFILE or candidate.path == path:
            found.setdefault(_home(candidate, path), []).append(candidate)
    return [
        Recording(home, _name(home, path), tuple(some), _rank(some))
        for home, some in sorted(found.items())
    ]


def _home(candidate: Candidate, side: Path) -> Path:
    """The folder of a profile that holds a candidate; of a single file that file.

    Of folders inside each other it is the outermost: a framework's profiler keeps those of msprof.
    """
    if not side.is_dir():
        return side
    folder = candidate.path if candidate.path.is_dir() else candidate.path.parent
    outermost = folder
    for one in (folder, *folder.parents):
        is_profile = framework_of(one.name) or layout_catalog().is_folder("profile", one.name)
        inner = one != side and layout_catalog().is_inner(one.name)
        if is_profile:
            outermost = one
        elif inner and outermost == one:
            outermost = one.parent
        if one == side:
            break
    return outermost


def _name(home: Path, side: Path) -> str:
    return "" if home == side else str(home.relative_to(side))


def _rank(some: Sequence[Candidate]) -> int | None:
    """The one rank that names of files state."""
    match = layout_catalog().match
    paths = [path for one in some for path in (one.path, *one.files)]
    ranks = {found.rank for path in paths if (found := match(path.name)) is not None}
    known = ranks - {None}
    return known.pop() if len(known) == 1 else None


def pairs(
    left: Sequence[Recording], right: Sequence[Recording]
) -> Iterator[tuple[Recording | None, Recording | None]]:
    """Recordings that belong together, and those that only one side has.

    They are known by their rank; without ranks by their names, or where both sides have as many,
    by their turn. One on each side always belong together.
    """
    if len(left) == len(right) == 1:
        yield left[0], right[0]
        return
    sides = [_by_rank(left), _by_rank(right)]
    if not all(sides):
        sides = [{one.name: one for one in some} for some in (left, right)]
        if len(left) == len(right) and sides[0].keys() != sides[1].keys():
            yield from zip(left, right, strict=True)
            return
    ours, theirs = sides
    for key in sorted(ours.keys() | theirs.keys()):
        yield ours.get(key), theirs.get(key)


def _by_rank(some: Sequence[Recording]) -> Mapping[str, Recording]:
    """Recordings by their ranks; none where these do not tell them apart."""
    known = {f"{one.rank:09d}": one for one in some if one.rank is not None}
    return known if len(known) == len(some) else {}
