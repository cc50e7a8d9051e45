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
