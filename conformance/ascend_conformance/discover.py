"""Which files a path names, and for which medium each of them is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .engine.candidate import Candidate, Listing
from .media import given, media

MAX_DEPTH = 10
"""Levels searched below a folder, as deep as the analysers search (consumers.md 3.1)."""


class NothingToCheck(Exception):
    """A folder without any file to judge; the text is one clear line."""


def discover(path: Path) -> list[Candidate]:
    """What a path names, in a stable order: databases, block files, folders of text files, …

    A single file is recognised by its first bytes, not its name. A folder is searched for names
    that readers know. Raises :class:`NothingToCheck` for a folder without such a file.
    """
    if not path.is_dir():
        return [_recognised(path, Listing(path.parent))]
    found = list(_search(path))
    if not found:
        raise NothingToCheck(f"{path}: no {given()} in this folder")
    return found


def _search(folder: Path) -> Iterator[Candidate]:
    base = len(folder.parts)
    known = media().values()
    for place, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        if len(Path(place).parts) - base >= MAX_DEPTH:
            folders.clear()
        listing = Listing(Path(place))
        for medium in known:
            yield from medium.candidates(listing)
        for name in sorted(names):
            if any(medium.is_named(name) for medium in known):
                yield _recognised(Path(place) / name, listing)


def _recognised(path: Path, listing: Listing) -> Candidate:
    for medium in media().values():
        found = medium.recognise(path, listing)
        if found is not None:
            return found
    raise NothingToCheck(f"{path}: expected {given()}")
