"""The databases of profiles in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ascend_ref.db.carrier import carrier_of_name

DEPTH = 6
"""Folders below the given one that are searched."""


class NoDatabase(Exception):
    """A folder holds no database of a profiler; the message says what is expected."""


def databases(path: Path) -> list[Path]:
    """A file itself; in a folder the databases of the framework's profiler by their names, or where
    there are none those of msprof, which are parts of the others.

    Raises :class:`NoDatabase`, ``OSError``.
    """
    if not path.is_dir():
        return [path]
    found = {
        carrier: [one for one in _files(path) if carrier_of_name(one.name)[0] == carrier]
        for carrier in ("pytorch", "msprof")
    }
    chosen = found["pytorch"] or found["msprof"]
    if not chosen:
        expected = "ascend_pytorch_profiler_*.db or msprof_*.db"
        raise NoDatabase(f"{path}: no database in this folder; expected {expected}")
    return chosen


def _files(folder: Path) -> Iterator[Path]:
    """All files below, by path; links to folders are not followed."""
    top = len(folder.parts)
    for parent, folders, names in os.walk(folder):
        place = Path(parent)
        folders[:] = sorted(folders) if len(place.parts) - top < DEPTH else []
        yield from (place / name for name in sorted(names))
