"""The raw files of MindSpore's profiler, sorted by job and device; names decide what a file is.

Nothing is opened. Links are not followed: those of a tree that somebody sent may point anywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ascend_ref.raw.damage import Unreadable
from ascend_ref.raw.series import Gathered, Parts, Slices
from ascend_spec import mindspore_catalog
from ascend_spec.core import DAYS, Bounds
from ascend_spec.mindspore import CaptureFile, DatedName

DATA = "data"
HOST = "host"
HCCL = re.compile(r"hccl_info(?:_([0-9]{1,9}))?")
HCCL_PLACE = "hccl"
STEPS = "step_trace_raw"
"""The intermediate file by which the steps of traces of communication are found."""
OPERATOR = "operator"
"""Part of the names of traces of communication, for which their folder stands."""
DEPTH = 4
"""Folders below the one that is named; a container has container/<device>/data."""

_DEVICE = re.compile(r"device_([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class RawFiles:
    """The slices of one kind, in order of their numbers, and the days on which their name is."""

    kind: str
    bounds: Bounds
    slices: Slices


@dataclass(frozen=True, slots=True)
class RawCapture:
    """What one job wrote of one device.

    ``job``: its folder's name, or the job that the names of its files have in a container.
    ``files`` by kind; of a kind under several names those of the newest, in the folder itself
    before those in ``data`` below it.
    """

    job: str
    device: str
    path: Path
    files: dict[str, RawFiles] = field(hash=False)

    def exports(self, day: str) -> bool:
        """Whether it has what msprof exports, and parsers of a day read that."""
        kinds = (mindspore_catalog().files[one] for one in self.files)
        return any(one.is_exported and DAYS.in_force(one, day) for one in kinds)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file by its name and place. ``rank``: the smaller the better among those of one kind."""

    kind: str
    bounds: Bounds
    job: tuple[Path, str]
    device: str | None
    rank: tuple[int, int]
    folder: str
    stem: str
    number: str
    parts: Parts = ()


def find_captures(path: Path) -> list[RawCapture]:
    """What is in a folder, or below it, by job and device.

    Raises :class:`Unreadable` where there is no such folder, or no raw file in it.
    """
    if not path.is_dir():
        raise Unreadable(f"{path}: no such folder")
    jobs: dict[tuple[Path, str], list[_Found]] = {}
    for one in _files(path, DEPTH):
        jobs.setdefault(one.job, []).append(one)
    found = [capture for job, files in sorted(jobs.items()) for capture in _captures(job, files)]
    if not found:
        raise Unreadable(
            f"{path}: no raw file of MindSpore's profiler in it, or in {DATA} below it"
        )
    return found


def is_of_vm(path: Path) -> bool:
    """Whether text of the framework is of the VM back end, by its name; else it is of GE."""
    return any(part.startswith("vm") for part in path.name.split("."))


def _captures(job: tuple[Path, str], found: list[_Found]) -> Iterator[RawCapture]:
    """One for each device; files without one belong to all of them."""
    path, name = job
    devices = {one.device for one in found if one.device is not None}
    if any(one.device is None and _is_trace(one.kind) for one in found):
        devices |= tables_of(STEPS, path).keys()
    for device in sorted(devices, key=_by_number) or ["0"]:
        own = [one for one in found if one.device in (device, None)]
        kinds = {one.kind: None for one in own}
        files = {kind: _best([one for one in own if one.kind == kind]) for kind in kinds}
        yield RawCapture(name or path.name, device, path, files)


def _is_trace(kind: str) -> bool:
    return HCCL_PLACE in mindspore_catalog().files[kind].places


def tables_of(table: str, folder: Path) -> dict[str, Path]:
    """The intermediate files of one kind in a folder, by their devices."""
    named = ((path, mindspore_catalog().table_of(path.name)) for path in folder.iterdir())
    return {one[2]["device"]: path for path, one in named if one and one[0].table == table}


def _best(found: list[_Found]) -> RawFiles:
    rank = min(one.rank for one in found)
    gathered = Gathered()
    best = [one for one in found if one.rank == rank]
    for one in best:
        gathered.add(one.folder, one.stem, one.number, one.parts)
    return RawFiles(best[0].kind, best[0].bounds, gathered.ordered())


def _by_number(device: str) -> tuple[int, str]:
    return int(device), device


def _files(path: Path, depth: int) -> Iterator[_Found]:
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            found = _found(path, entry.name)
            if found is not None:
                yield found
        elif depth and entry.is_dir(follow_symlinks=False):
            yield from _files(path / entry.name, depth - 1)


def _found(folder: Path, name: str) -> _Found | None:
    named = mindspore_catalog().file_of(name, folder.name)
    if named is None:
        return None
    kind, dated, parts = named
    if _is_trace(kind.file):
        return _trace(folder, name, kind, dated)
    if kind.is_exported:
        return _export(folder, name, kind, dated, parts)
    is_data = folder.name == DATA
    place = folder.parent if is_data else folder
    device = parts.get("device") or parts.get("digit")
    of_device = _DEVICE.fullmatch(place.name)
    if of_device or place.name == HOST:
        device = device or (of_device[1] if of_device else None)
        place = place.parent
    number = parts.get("slice", "")
    stem = name[: len(name) - len(number)]
    newest = -kind.names.index(dated)
    job = (place, parts.get("job", ""))
    return _Found(kind.file, dated, job, device, (newest, int(is_data)), str(folder), stem, number)


def _trace(folder: Path, name: str, kind: CaptureFile, dated: DatedName) -> _Found | None:
    """A trace in the folder of an operator, below that of all of a rank."""
    of_rank = HCCL.fullmatch(folder.parent.name)
    if of_rank is None:
        return None
    parts = ((OPERATOR, folder.name),)
    job = (folder.parent.parent, "")
    return _Found(kind.file, dated, job, of_rank[1], (0, 0), str(folder), name, "", parts)


def _export(
    folder: Path, name: str, kind: CaptureFile, dated: DatedName, parts: Mapping[str, str]
) -> _Found:
    """A file that msprof made, in the folder of a device or next to those of all."""
    place = folder.parent
    of_device = _DEVICE.fullmatch(place.name)
    if of_device:
        place = place.parent
    newest = -kind.names.index(dated)
    device = of_device[1] if of_device else None
    own = tuple(parts.items())
    return _Found(kind.file, dated, (place, ""), device, (newest, 0), str(folder), name, "", own)
