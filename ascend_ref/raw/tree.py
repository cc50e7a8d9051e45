"""The folders of raw files: ``PROF_*`` with its host and devices, and ``FRAMEWORK``.

Names decide what a file is; nothing is opened. Links are not followed: those of a tree
that somebody sent may point anywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ascend_spec import raw_catalog
from ascend_spec.raw import MARKS, RawFile, Side

from .damage import Unreadable
from .series import Gathered, Parts, Slices

HOST = "host"
DATA = "data"
FRAMEWORK = "FRAMEWORK"
_DEVICE = re.compile(r"device_([0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class RawFolder:
    """The raw files of the host, of one device or of the framework.

    ``path``: the folder with the side files. ``files``: the slices of each kind that is there, in
    the order in which they belong together. ``unknown``: names of files of no kind.
    """

    side: Side
    path: Path
    device: int | None
    files: dict[str, Slices]
    unknown: tuple[str, ...]

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path.name


def find_folders(path: Path) -> list[RawFolder]:
    """The folders of raw files in a ``PROF_*``, an ``*_ascend_pt`` or a folder of them.

    The host comes first, then devices by number, then the framework. Raises :class:`Unreadable`
    where there are none.
    """
    if not path.is_dir():
        raise Unreadable(f"{path}: no such folder")
    found = sorted(_folders(path, depth=3), key=_order)
    if not found:
        raise Unreadable(
            f"{path}: no raw data; expected {HOST}, device_* or {FRAMEWORK} in it or below"
        )
    return found


def prof_folders(folders: Iterable[RawFolder]) -> list[Path]:
    """The ``PROF_*`` that those of the host and of devices lie in, each once."""
    return list(dict.fromkeys(one.path.parent for one in folders if one.side != "framework"))


def folder_of(path: Path) -> RawFolder | None:
    """The folder that a raw file lies in, with everything in it; ``None`` for a file alone."""
    for candidate in (path.parent, path.parent.parent):
        side = _side(candidate)
        if side is not None:
            return _read(candidate, *side)
    return None


def kind_of(path: Path) -> RawFile | None:
    """The kind of a file by its name, and by its folder where a name alone does not decide."""
    sides: tuple[Side, ...] = ("host", "device", "framework")
    folder = next((side for one in path.parents[:2] if (side := _side(one))), None)
    order = sides if folder is None else (folder[0],)
    kinds = (raw_catalog().file_of(path.name, side) for side in order)
    return next((one for one in kinds if one is not None), None)


def _order(folder: RawFolder) -> tuple[str, int, int]:
    sides = ("host", "device", "framework")
    return str(folder.path.parent), sides.index(folder.side), folder.device or 0


def _side(path: Path) -> tuple[Side, int | None] | None:
    if path.name == HOST:
        return "host", None
    if path.name == FRAMEWORK:
        return "framework", None
    device = _DEVICE.fullmatch(path.name)
    return ("device", int(device[1])) if device else None


def _folders(path: Path, depth: int) -> Iterator[RawFolder]:
    side = _side(path)
    if side is not None:
        yield _read(path, *side)
    elif depth:
        for entry in sorted(_entries(path), key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _folders(Path(entry.path), depth - 1)


def _entries(path: Path) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, in any order. Raises :class:`Unreadable`."""
    try:
        with os.scandir(path) as entries:
            yield from entries
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error


def _read(path: Path, side: Side, device: int | None) -> RawFolder:
    places = [path] if side == "framework" else [path, path / DATA]
    files: dict[str, Gathered] = {}
    unknown: list[str] = []
    for place in places:
        if place.is_dir() and not place.is_symlink():
            unknown += sorted(_sort_in(place, side, files))
    ordered = {kind: slices.ordered() for kind, slices in sorted(files.items())}
    return RawFolder(side, path, device, ordered, tuple(unknown))


def _sort_in(place: Path, side: Side, files: dict[str, Gathered]) -> Iterator[str]:
    """Put the files of a folder to those of their kind; the names of no kind."""
    folder = str(place)
    # A kind has as many slices as it likes, all of one name but for the number.
    kinds: dict[str, tuple[str, Parts]] = {}
    for entry in _entries(place):
        name = entry.name
        if name.endswith(MARKS) or not entry.is_file(follow_symlinks=False):
            continue
        stem, number = _cut(name)
        first = f"{stem}0" if number else name
        found = kinds.get(first) or _named(first, side)
        if found is None:
            yield name
            continue
        kinds[first] = found
        kind, parts = found
        files.setdefault(kind, Gathered()).add(folder, stem, number, parts)


def _cut(name: str) -> tuple[str, str]:
    """The name of a file without the number of its slice, and that as a text."""
    part = raw_catalog().parts["slice"]
    stem, mark, number = name.rpartition(part.before)
    if re.fullmatch(part.expression, f"{mark}{number}"):
        return f"{stem}{mark}", number
    return name, ""


def _named(name: str, side: Side) -> tuple[str, Parts] | None:
    """The kind of a file, and the changing parts of its name but for the slice."""
    kind = raw_catalog().file_of(name, side)
    if kind is None:
        return None
    parts = kind.named(name) or {}
    return kind.file, tuple((part, text) for part, text in parts.items() if part != "slice")
