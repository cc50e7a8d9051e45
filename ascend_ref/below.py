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


def mirrored(profile: Path, copy: Path) -> dict[Path, Path]:
    """Each file of a profile, itself a file or a folder, with its place in a copy to be made.

    Folders of the copy are made. What links lead to belongs to it, but no folder behind a link.
    """
    if not profile.is_dir():
        return {profile: copy}
    files: dict[Path, Path] = {}
    for place, folders, names in os.walk(profile):
        here = Path(place)
        target = copy / here.relative_to(profile)
        target.mkdir()
        folders[:] = sorted(name for name in folders if not (here / name).is_symlink())
        files |= {here / name: target / name for name in sorted(names) if (here / name).is_file()}
    return files
