"""What exporters make of raw files: the deliverables of CANN's profiler or of the framework's."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from ascend_ref.atomic import staged
from ascend_ref.raw import Damage, find_folders
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_ref.raw.framework.read import find_profiles, read_profile
from ascend_spec import catalog

from .write import write_msprof_outputs, write_pytorch_outputs

RAW_KINDS = ("db", "csv", "timeline")
"""What is made of ``PROF_*``."""
PROFILE_KINDS = (*RAW_KINDS, "documents")
"""What is made of a profile of the framework."""
INCOMPLETE = "incomplete.txt"
"""File next to what was made of raw files that could not all be read: what is missing."""

Progress = Callable[[int, int, str], None]


class RawExported(NamedTuple):
    """files: what was written. damage: what of the raw files cannot be read, a line each."""

    files: list[Path]
    damage: list[str]


def export_raw(
    source: Path,
    folder: Path,
    kinds: Collection[str] | None = None,
    revision: str | None = None,
    progress: Progress | None = None,
) -> RawExported:
    """Write what the raw files below ``source`` show into the new ``folder``.

    kinds: of :data:`RAW_KINDS`, or of :data:`PROFILE_KINDS` where the framework's profiler
    recorded; by default all. revision: of the database's schema, by default the newest. Of several
    profiles, or ``PROF_*`` without one, each gets a folder of its own. What cannot be read is left
    out and stated in :data:`INCOMPLETE`. ``folder`` appears complete or not at all.

    Raises ``Unreadable`` where there are no raw files, or nothing states when they were taken,
    ``FileExistsError`` for a folder that exists, ``OSError``.
    """
    as_of = catalog().revision(revision).id if revision else catalog().revisions[-1].id
    profiles = find_profiles(source)
    if profiles:
        return _export_profiles(source, profiles, folder, kinds or PROFILE_KINDS, as_of, progress)
    found = read_raw(source, progress)
    damage: list[str] = []
    with staged(folder) as draft:
        for done, one in enumerate(found):
            if progress:
                progress(done, len(found), f"writing {one.folder.name}")
            target = draft / one.folder.name if len(found) > 1 else draft
            target.mkdir(exist_ok=True)
            write_msprof_outputs(target, one.capture, as_of, kinds or RAW_KINDS)
            damage += _state(one, target)
        names = sorted(one.relative_to(draft) for one in draft.rglob("*.*"))
    return RawExported([folder / name for name in names], damage)


def _export_profiles(
    source: Path,
    profiles: list[Path],
    folder: Path,
    kinds: Collection[str],
    as_of: str,
    progress: Progress | None,
) -> RawExported:
    damage: list[str] = []
    with staged(folder) as draft:
        for done, profile in enumerate(profiles):
            if progress:
                progress(done, len(profiles), f"exporting {profile.name}")
            target = draft / profile.relative_to(source) if len(profiles) > 1 else draft
            target.mkdir(parents=True, exist_ok=True)
            one = read_profile(profile)
            write_pytorch_outputs(target, one.capture, as_of, kinds)
            damage += _state(one, target)
        names = sorted(one.relative_to(draft) for one in draft.rglob("*.*"))
    return RawExported([folder / name for name in names], damage + _left_out(source, profiles))


def _left_out(source: Path, profiles: list[Path]) -> list[str]:
    """``PROF_*`` that no profile of the framework holds."""
    own = [one.path.parent for one in find_folders(source) if one.side != "framework"]
    return [
        str(Damage(one, "in no profile of the framework; export it by itself"))
        for one in dict.fromkeys(own)
        if one.parent not in profiles
    ]


def _state(one: RawCapture, target: Path) -> list[str]:
    lines = [str(problem) for problem in one.damage]
    if lines:
        text = "".join(f"{line}\n" for line in lines)
        (target / INCOMPLETE).write_text(text, encoding="utf-8", errors="backslashreplace")
    return lines
