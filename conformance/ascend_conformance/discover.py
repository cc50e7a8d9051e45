"""Which files a path names: databases with what lies beside each of them, block files, text files.

The text deliverables of one folder are one candidate, with the database beside them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import show_path
from ascend_ref.sniff import is_block_file
from ascend_spec.layout import layout

from .media.text.deliverables import Deliverable, beside, deliverable_of_content, deliverables_of

MAX_DEPTH = 10
"""Levels searched below a folder, as deep as the analysers search (consumers.md 3.1)."""


GIVEN = (
    "msprof_*.db, ascend_pytorch_profiler*.db, analysis.db, visualize_data*.bin, CSV file, "
    "timeline or communication*.json of a profiler"
)
"""What can be judged."""


class NothingToCheck(Exception):
    """A folder without any file to judge; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One file to judge. ``companions`` are databases of the same folder by carrier.

    ``named`` is how reports call it, where that is not its path. ``blocks`` tells a
    ``visualize_data.bin`` from a database. ``deliverables`` are the text files of a folder, or a
    single one; ``alone`` tells which.
    """

    path: Path
    companions: Mapping[str, Path] = field(default_factory=dict)
    profiler_info: Path | None = None
    named: Path | None = None
    blocks: bool = False
    deliverables: tuple[Deliverable, ...] = ()
    alone: bool = False

    @property
    def label(self) -> str:
        """What reports call it."""
        return show_path(self.named or self.path)

    def anywhere(self) -> Candidate:
        """The same candidate, with paths that do not depend on the working directory."""
        return Candidate(
            self.path.absolute(),
            {carrier: path.absolute() for carrier, path in self.companions.items()},
            self.profiler_info and self.profiler_info.absolute(),
            self.named or self.path,
            self.blocks,
            tuple(one.anywhere() for one in self.deliverables),
            self.alone,
        )

    @property
    def database(self) -> Path | None:
        """The profiler's database beside text deliverables."""
        return next(
            (self.companions[one] for one in ("pytorch", "msprof") if one in self.companions), None
        )


def discover(path: Path) -> list[Candidate]:
    """The databases, block files and folders of text files that a path names, in a stable order.

    A file is taken whatever its name, for what its first bytes say. A folder is searched for names
    that readers know. Raises :class:`NothingToCheck` for a folder without such a file.
    """
    if not path.is_dir():
        return [_candidate(path)]
    found = list(_search(path))
    if not found:
        raise NothingToCheck(f"{path}: no {GIVEN} in this folder")
    return found


def _search(folder: Path) -> Iterator[Candidate]:
    base = len(folder.parts)
    for place, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        if len(Path(place).parts) - base >= MAX_DEPTH:
            folders.clear()
        texts = deliverables_of(Path(place) / name for name in names)
        if texts:
            yield _with_texts(Path(place), texts)
        for name in sorted(names):
            if carrier_of_name(name)[0] or layout().is_file("blocks", name):
                yield _candidate(Path(place) / name)


def _candidate(path: Path) -> Candidate:
    if is_block_file(path):
        return Candidate(path, blocks=True)
    text = deliverable_of_content(path)
    if text is not None:
        return Candidate(path, deliverables=(text,), alone=True)
    return _with_companions(path)


def _with_texts(folder: Path, texts: tuple[Deliverable, ...]) -> Candidate:
    """The text files of a folder, with the database in it or, of msprof, one above it."""
    companions: dict[str, Path] = {}
    for place in (folder, folder.absolute().parent):
        try:
            newest_first = sorted(place.iterdir(), reverse=True)
        except OSError:
            continue
        for path in newest_first:
            carrier, _ = carrier_of_name(path.name)
            if carrier in ("msprof", "pytorch") and path.is_file():
                companions.setdefault(carrier, path)
    return Candidate(folder, companions, deliverables=(*texts, *beside(folder)))


def _with_companions(path: Path) -> Candidate:
    companions: dict[str, Path] = {}
    try:
        beside = sorted(path.parent.iterdir())
        above = sorted(path.parent.parent.iterdir())
    except OSError:
        return Candidate(path)
    for other in beside:
        carrier, _ = carrier_of_name(other.name)
        if carrier and other != path and other.is_file():
            companions.setdefault(carrier, other)
    infos = (one for one in (*beside, *above) if layout().is_file("profiler_info", one.name))
    return Candidate(path, companions, next(infos, None))
