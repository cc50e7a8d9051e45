"""What of a folder is judged together: the host and the devices of one PROF_*."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ascend_ref.raw.damage import Unreadable
from ascend_ref.raw.tree import DATA, HOST

from ...engine.candidate import Candidate, Listing
from ...engine.folders import is_collection

MEDIUM = "raw"


def folders_in(listing: Listing) -> Iterator[Candidate]:
    """The folder itself, where it is a PROF_* whose host has raw files.

    Those of MindSpore's own collector lie otherwise, and are judged as files of MindSpore.
    """
    folder = listing.folder
    if not is_collection(folder.absolute().name):
        return
    data = folder / HOST / DATA
    if any(path.name == HOST for path in listing.paths) and _has_records(data):
        from ascend_ref.raw.tree import find_folders

        try:
            found = find_folders(folder)
        except Unreadable:
            return
        files = (one.path for raw in found for slices in raw.files.values() for one in slices)
        yield Candidate(MEDIUM, folder, files=tuple(files))


def dump_alone(path: Path) -> Candidate | None:
    """A single file that is a text of the graph engine about the host by its first line."""
    from ascend_ref.ge.dump import is_dump

    try:
        return Candidate(MEDIUM, path) if path.is_file() and is_dump(path) else None
    except OSError:
        return None


def is_dump_name(name: str) -> bool:
    """Whether a file of a folder has the name of such a text."""
    return re.fullmatch(r"ge_profiling_[0-9]+\.txt", name) is not None


def _has_records(data: os.PathLike[str]) -> bool:
    try:
        with os.scandir(data) as entries:
            return any(one.name.startswith(("aging.", "unaging.")) for one in entries)
    except OSError:
        return False
