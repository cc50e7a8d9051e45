"""Profiles written for one reader: ``fit(profile, "perfetto", folder) -> Fitted``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ascend_ref.atomic import staged
from ascend_ref.cli.progress import Advance
from ascend_ref.db.display import show_path
from ascend_ref.migrate.profile import NotMigrated, migrate_profile
from ascend_ref.profile.export import NoDatabase, databases, export_databases
from ascend_ref.states import Target
from ascend_spec import catalog, consumer_catalog
from ascend_spec.consumers import State

from ...discover import NothingToCheck
from ...media.text.deliverables import Deliverable
from ..answer import ReaderAnswer
from ..asking import timelines_of, who_reads
from ..choosing import states
from .rewriting import MENDED, NotWhole, rewrite_timeline

NEWER_GROUPS = "numbers-groups-at-1-0-0"
"""The one behaviour that a newer schema of databases mends."""


class NotFitted(Exception):
    """Nothing can be written for a reader; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was written. ``refused``: a line for each file that could not be. ``answers``: what the
    reader, at each of its versions, makes of the new files."""

    files: tuple[Path, ...]
    refused: tuple[str, ...]
    answers: tuple[ReaderAnswer, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all was written, and the reader loses nothing of it."""
        return not self.refused and not any(answer.loses for answer in self.answers)


def readers() -> tuple[str, ...]:
    """Those for which files can be written otherwise."""
    return tuple(name for name in consumer_catalog().readers if _mended(states([name])))


def fit(profile: Path, reader: str, folder: Path, progress: Advance | None = None) -> Fitted:
    """Write what a reader shows right of a profile into the new ``folder``.

    reader: of :func:`readers`, at one of its versions behind ``@``, or at all of them. Timelines
    keep their place below the profile; those of a database without any are exported first. For
    MindStudio Insight databases are migrated, and all else is copied. The profile is only read.

    Raises :class:`NotFitted`, ``NoSuchReader``, ``NothingToCheck``, ``UnreadableDatabase``,
    ``FileExistsError``, ``OSError``.
    """
    asked = states([reader])
    mended = _mended(asked)
    if not mended:
        raise NotFitted(
            f"{reader}: no file can be written that it reads better; expected one of "
            f"{', '.join(readers())}"
        )
    if NEWER_GROUPS in mended:
        refused = _migrate(profile, folder, progress)
    else:
        refused = _rewrite(profile, mended, folder, progress)
    written = tuple(sorted(one for one in folder.rglob("*") if one.is_file()))
    return Fitted(written, refused, who_reads([folder], [reader]))


def _mended(asked: Sequence[State]) -> frozenset[str]:
    """Behaviours of the reader for which files are written otherwise."""
    does = {trait.behaviour for one in asked for part in one.parts for trait in one.traits(part)}
    return frozenset(does & (MENDED | {NEWER_GROUPS}))


def _migrate(profile: Path, folder: Path, progress: Advance | None) -> tuple[str, ...]:
    newest = catalog().revisions[-1].id
    try:
        account = migrate_profile(profile, [Target("revision", newest)], folder, progress)
    except NotMigrated as problem:
        raise NotFitted(f"{problem}; other files are shown as they are") from None
    return tuple(f"{one.file}: {one.why}" for one in account.files if one.fate == "refused")


def _rewrite(
    profile: Path, does: frozenset[str], folder: Path, progress: Advance | None
) -> tuple[str, ...]:
    refused: list[str] = []
    with _timelines(profile) as (found, top), staged(folder) as draft:
        for number, one in enumerate(found):
            if progress:
                progress(number, len(found), one.label)
            target = draft / one.path.relative_to(top)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                rewrite_timeline(one, does, target)
            except NotWhole as problem:
                target.unlink(missing_ok=True)
                refused.append(str(problem))
        if len(refused) == len(found):
            raise NotFitted(refused[0])
    return tuple(refused)


@contextmanager
def _timelines(profile: Path) -> Iterator[tuple[Sequence[Deliverable], Path]]:
    """The timelines of a profile, or what is made of its databases, and the folder they are in."""
    try:
        found = timelines_of([profile])
    except NothingToCheck:
        found = ()
    if found:
        yield found, profile if profile.is_dir() else profile.parent
        return
    try:
        of_databases = databases(profile)
    except NoDatabase:
        text = f"{show_path(profile)}: no timeline and no database; expected a profile"
        raise NotFitted(text) from None
    with TemporaryDirectory() as outer:
        made = Path(outer, "exported")
        export_databases(of_databases, profile, made, ("timeline",))
        found = timelines_of([made])
        if not found:
            raise NotFitted(f"{show_path(profile)}: nothing of its databases stands in timelines")
        yield found, made
