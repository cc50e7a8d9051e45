"""The files of a folder of profiles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ascend_ref.atomic import is_hidden

DEPTH = 6
"""Folders below the given one that are searched."""


def files_below(folder: Path) -> Iterator[Path]:
    """All files below, by path; links to folders are not followed, hidden folders not searched."""
    top = len(folder.parts)
    for parent, folders, names in os.walk(folder):
        place = Path(parent)
        seen = sorted(name for name in folders if not is_hidden(name))
        folders[:] = seen if len(place.parts) - top < DEPTH else []
        yield from (place / name for name in sorted(names))


def files_of(profile: Path) -> list[Path]:
    """Every file of a profile, itself a file or a folder, hidden ones included.

    What links lead to belongs to it, but no folder behind a link.
    """
    if not profile.is_dir():
        return [profile]
    return [path for folder, names in _folders(profile) for path in _files(folder, names)]


def mirrored(profile: Path, copy: Path) -> dict[Path, Path]:
    """Each of the files of a profile (:func:`files_of`), with its place in a copy to be made.

    Folders of the copy are made.
    """
    if not profile.is_dir():
        return {profile: copy}
    files: dict[Path, Path] = {}
    for here, names in _folders(profile):
        target = copy / here.relative_to(profile)
        target.mkdir()
        files |= {path: target / path.name for path in _files(here, names)}
    return files


def _folders(profile: Path) -> Iterator[tuple[Path, list[str]]]:
    for place, folders, names in os.walk(profile):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not (here / name).is_symlink())
        yield here, sorted(names)


def _files(folder: Path, names: list[str]) -> Iterator[Path]:
    return (folder / name for name in names if (folder / name).is_file())
