"""Which files a path names, and for which medium each of them is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ascend_ref.atomic import is_hidden, left_behind
from ascend_ref.db.display import show_path
from ascend_ref.sniff import is_sqlite
from ascend_spec import layout_catalog

from .engine.candidate import Candidate, Listing
from .engine.folders import framework_of
from .media import NO_PROFILE, given, media
from .media.any.left import words_on
from .media.any.raw import exporting

MAX_DEPTH = 10
"""Levels searched below a folder, as deep as the analysers search (consumers.md 3.1)."""


class NothingToCheck(Exception):
    """A folder without any file to judge; the text is one clear line."""


def discover(path: Path) -> list[Candidate]:
    """What a path names, in a stable order: databases, block files, folders of text files, …

    A single file is recognised by its first bytes, not its name. A folder is searched for names
    that readers know; hidden folders in it are not. Raises :class:`NothingToCheck` for a folder
    without such a file, and for what a killed run left.
    """
    left = left_behind(path)
    if left is not None:
        raise NothingToCheck(f"{show_path(left)}: {words_on(left)}")
    return candidates_in(path)


def candidates_in(path: Path) -> list[Candidate]:
    """What :func:`discover` finds, in a draft of ours as well."""
    if not path.is_dir():
        return [_recognised(path, Listing(path.parent))]
    found = list(_search(path))
    if all(candidate.medium == NO_PROFILE for candidate in found):
        named = [one.path for one in found[:1]]
        left_in_it = "".join(f"; {one.label}: {one.details.words}" for one in found[:1])
        raw = next((_never_exported(one) for one in _raw_folders(path) if one not in named), "")
        raise NothingToCheck(f"{path}: no {given()} in this folder{left_in_it}{raw}")
    return found


def _raw_folders(path: Path) -> Iterator[Path]:
    """Folders of raw data of msprof, outside of those of a framework's profiler."""
    for place, folders, _ in os.walk(path):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        if framework_of(here.name) or len(here.parts) - len(path.parts) >= MAX_DEPTH:
            folders.clear()
        elif layout_catalog().is_folder("profile", here.absolute().name) and "host" in folders:
            yield here
            folders.clear()


def _never_exported(folder: Path) -> str:
    shown = show_path(folder)
    return f"; {shown}: raw data that were never exported; run {exporting(shown)}"


def _search(folder: Path) -> Iterator[Candidate]:
    base = len(folder.parts)
    known = media().values()
    listings: dict[Path, Listing] = {}
    for place, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        here = Path(place)
        listing = listings[here] = Listing(here, listings.get(here.parent))
        if len(here.parts) - base >= MAX_DEPTH:
            folders.clear()
        for medium in known:
            yield from medium.candidates(listing)
        for name in sorted(names):
            if any(medium.is_named(name) for medium in known):
                yield _recognised(here / name, listing)


def _recognised(path: Path, listing: Listing) -> Candidate:
    is_database = is_sqlite(path)
    for medium in media().values():
        if is_database and not medium.takes_databases:
            continue
        found = medium.recognise(path, listing)
        if found is not None:
            return found
    raise NothingToCheck(f"{path}: expected {given()}")
