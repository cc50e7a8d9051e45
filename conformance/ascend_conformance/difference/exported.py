"""Raw files of one side as what exporters make of them, where the other side has that."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.raw import Unreadable
from ascend_ref.recorded.tables import DatabaseFile

from ..discover import NothingToCheck
from ..media import NO_PROFILE
from .sides import Recording, recordings_of

MADE_OF_RAW = ("db", "text")
"""Media that exporters make of raw files."""
KINDS = {"csv": "csv", "timeline": "timeline", "document": "documents"}
"""What an export of raw files calls texts, by their kind."""
RAW, MINDSPORE, ANALYSIS = "raw", "mindspore", "analysis"


@dataclass(frozen=True, slots=True)
class Alike:
    """Two sides, and what of the raw files of one could not be read or shown, a line each."""

    left: Recording
    right: Recording
    lost: Sequence[str] = ()


@contextmanager
def alike(left: Recording, right: Recording) -> Iterator[Alike]:
    """Both sides, with the raw files of one exported in the media of the other as long as it lasts.

    They are those of ``PROF_*``, of the framework's profiler, or of an older MindSpore. Sides that
    both have raw files, or none of which has what is made of them, stay as they are. Raises
    ``Unreadable`` for raw files of which nothing can be made, ``OSError``.
    """
    with tempfile.TemporaryDirectory() as folder:
        if _is_made_of(left, right):
            made, lost = _exported(left, right, Path(folder) / "made")
            yield Alike(made, right, lost)
        elif _is_made_of(right, left):
            made, lost = _exported(right, left, Path(folder) / "made")
            yield Alike(left, made, lost)
        else:
            yield Alike(left, right)


def _media(side: Recording) -> set[str]:
    return {one.medium for one in side.candidates} - {NO_PROFILE}


def _is_made_of(side: Recording, other: Recording) -> bool:
    """Whether a side has raw files alone, and the other what is made of them."""
    held, wanted = _media(side), _media(other)
    # A profile of today may hold intermediate files of MindSpore, too.
    is_raw = held == {MINDSPORE} or (held == {RAW} and RAW not in wanted)
    return is_raw and not wanted.isdisjoint(MADE_OF_RAW) and side.path.is_dir()


def _exported(raw: Recording, other: Recording, folder: Path) -> tuple[Recording, Sequence[str]]:
    """What is made of the raw files, under their name, as far as the other side has the like."""
    forms = [one for one in MADE_OF_RAW if other.of(one)]
    lost = _convert(raw, forms, folder) if raw.of(MINDSPORE) else _export(raw, other, folder)
    try:
        found = recordings_of(folder)
    except NothingToCheck:
        words = "nothing is made of it; expected raw files of what the other side has"
        raise Unreadable(f"{raw.label}: {words}") from None
    some = tuple(
        replace(one, named=raw.path) for recording in found for one in recording.candidates
    )
    return replace(raw, candidates=some), lost


def _convert(raw: Recording, forms: Collection[str], folder: Path) -> Sequence[str]:
    from ascend_ref.mindspore.convert.convert import convert  # slow: the spec

    done = convert(raw.path, folder, forms)
    return [line for one in done for line in (*one.lost, *one.damage)]


def _export(raw: Recording, other: Recording, folder: Path) -> Sequence[str]:
    from ascend_ref.profile.raw import PROFILE_KINDS, RAW_KINDS, export_raw  # slow: the spec
    from ascend_ref.raw.framework.read import find_profiles

    known = PROFILE_KINDS if find_profiles(raw.path) else RAW_KINDS
    texts = (text.kind for one in other.of("text") for text in one.details.deliverables)
    wanted = {KINDS[kind] for kind in texts} | ({"db"} if other.of("db") else set())
    kinds = [kind for kind in known if kind in wanted]
    return export_raw(raw.path, folder, kinds, _revision(other)).damage


def _revision(side: Recording) -> str | None:
    """The revision of the profiler's database of a side, if there is one that can be read."""
    for one in side.of("db"):
        if carrier_of_name(one.path.name)[0] == ANALYSIS:
            continue  # it shows hardly which revision it is of
        try:
            return DatabaseFile(one.path).revision
        except UnreadableDatabase:
            continue
    return None
