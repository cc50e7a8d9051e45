"""What of a folder is judged together: the raw files of jobs, and intermediate files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ascend_ref.mindspore.folder import (
    DATA,
    HCCL,
    HOST,
    RawCapture,
    RawFiles,
    find_captures,
)
from ascend_ref.raw.damage import Unreadable
from ascend_ref.raw.series import Gathered
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import DatedName, IntermediateFile

from ...engine.candidate import Candidate, Listing
from ...engine.folders import is_collection

MEDIUM = "mindspore"
DONE = ".done"
"""What the mark of a complete raw file ends with."""

SHARED = frozenset({"hwts", "ts_track", "device_start", "host_start", "aicore", "device_info"})
"""Kinds of raw files whose names are those of other profilers' as well; so are those of exports."""

SHARED_TABLES = frozenset({"run_info"})
"""Intermediate files of which the same is true: profiler_info is that of any framework's folder."""

_INSIDE = re.compile(rf"{DATA}|{HOST}|device_[0-9]{{1,9}}|{HCCL.pattern}")


@dataclass(frozen=True, slots=True)
class TableFile:
    """An intermediate file by its name. ``device``: nothing where the name has none."""

    path: Path
    table: IntermediateFile
    dated: DatedName
    device: str


def folders_in(listing: Listing) -> Iterator[Candidate]:
    """The folder itself, where raw or intermediate files of MindSpore's profiler are in it."""
    found = tables_in(listing.paths)
    tables = tuple(one.path for one in found)
    raw = tuple(one for capture in captures_in(listing) for one in files_of(capture))
    if raw or any(one.table.table not in SHARED_TABLES for one in found):
        yield Candidate(MEDIUM, listing.folder, files=tuple(dict.fromkeys((*raw, *tables))))


def file_alone(path: Path) -> Candidate | None:
    """A single file that is one of these by its name."""
    found = table_file(path)
    is_table = found is not None and found.table.table not in SHARED_TABLES
    is_ours = is_table or mindspore_catalog().file_of(path.name) is not None
    return Candidate(MEDIUM, path) if is_ours and path.is_file() else None


def table_file(path: Path) -> TableFile | None:
    """The intermediate file that a path is by its name."""
    found = mindspore_catalog().table_of(path.name)
    if found is None:
        return None
    table, dated, parts = found
    return TableFile(path, table, dated, parts.get("device", ""))


def tables_in(paths: Sequence[Path]) -> list[TableFile]:
    """The intermediate files among paths, but for those that are raw files as well."""
    made = (one for one in paths if mindspore_catalog().file_of(one.name) is None)
    return [found for one in made if (found := table_file(one)) is not None]


def captures_in(listing: Listing) -> list[RawCapture]:
    """What jobs wrote whose folder this is, by job and device.

    The folder ``data`` of a job is that of the job where it is the first one that is searched.
    """
    folder = listing.folder
    names = [one.name for one in listing.paths]
    if not any(_INSIDE.fullmatch(one) or mindspore_catalog().file_of(one) for one in names):
        return []
    is_alone = folder.name == DATA and listing.is_first
    try:
        found = find_captures(folder)
    except Unreadable:
        return []
    own = [one for one in found if one.path == (folder.parent if is_alone else folder)]
    return own if any(_is_sign(one, folder) for one in own) else []


def _is_sign(capture: RawCapture, folder: Path) -> bool:
    """Whether a capture has a file that is not one of what msprof collects."""
    files = mindspore_catalog().files
    kinds = {one for one in capture.files if not files[one].is_exported} - SHARED
    if is_collection(folder.absolute().name):
        kinds -= {"aicpu", "minddata_aicpu"}
    log = capture.files.get("hwts")
    return bool(kinds) or (log is not None and log.bounds.since is None)


def capture_of_file(path: Path) -> RawCapture | None:
    """A single raw file as a capture; ``None`` for a file of no kind."""
    found = mindspore_catalog().file_of(path.name)
    if found is None:
        return None
    kind, dated, parts = found
    gathered = Gathered()
    number = parts.get("slice", "")
    stem = path.name[: len(path.name) - len(number)]
    gathered.add(str(path.parent), stem, number, ())
    device = parts.get("device") or parts.get("digit") or "0"
    files = {kind.file: RawFiles(kind.file, dated, gathered.ordered())}
    return RawCapture(path.parent.name, device, path.parent, files)


def files_of(capture: RawCapture) -> Iterator[Path]:
    """Every file of a capture."""
    for one in capture.files.values():
        for piece in one.slices:
            yield piece.path
