"""A whole profile at another state: what has one is migrated, all other files are copied."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from ascend_ref.atomic import staged
from ascend_ref.below import mirrored
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import show_path
from ascend_ref.db.header import UnreadableDatabase
from ascend_ref.sniff import is_block_file
from ascend_ref.states import AxisName, Target
from ascend_ref.text.headers import Circumstance
from ascend_spec import catalog, layout_catalog
from ascend_spec.db.model import Revision
from ascend_spec.layout import Match

from .account import Account, Migrated
from .blocks import migrate_blocks
from .database import migrate_database
from .documents import migrate_document
from .refusal import Refusal
from .sheets import circumstances_of, is_kin, migrate_sheet
from .timelines.rewrite import Around, migrate_timeline

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is called with the bytes done, those of all files, and what is being done."""

ACCOUNT = "migration.json"
SIDE_FILES = ("-wal", "-shm", "-journal")
STATES: Mapping[str, tuple[AxisName, str]] = {
    "database": ("revision", "a database"),
    "csv": ("writer", "a CSV file"),
    "timeline": ("writer", "a timeline"),
    "document": ("writer", "a document"),
    "blocks": ("epoch", "a file of blocks"),
}
"""Kinds of files that have a state, each with its axis and in words."""


class NotMigrated(Exception):
    """Nothing of a profile can be migrated; the text is one clear line."""


def migrate_profile(
    profile: Path, targets: Collection[Target], folder: Path, progress: Progress | None = None
) -> Account:
    """Write a profile, a file or a folder, as one of other states into a new folder.

    targets: at most one of each axis. The profile keeps its name; ``migration.json`` next to it is
    the account. The folder appears only when all is written. A file that cannot be migrated is
    copied as it is, which the account states. Raises :class:`NotMigrated`, ``FileExistsError``,
    ``OSError``.
    """
    name = profile.resolve().name
    with staged(folder) as draft:
        files = mirrored(profile, draft / name)
        below = profile if profile.is_dir() else profile.parent
        found = list(_Migration(files, targets, progress).each(below))
        if not any(one.fate == "migrated" for one in found):
            raise NotMigrated(_reason(profile, found))
        asked = tuple(one.name for one in targets)
        account = Account(name, asked, tuple(sorted(found, key=lambda one: one.file)))
        text = json.dumps(account.document(), indent=2, ensure_ascii=False) + "\n"
        (draft / ACCOUNT).write_text(text, encoding="utf-8", errors="backslashreplace")
    return account


def _reason(profile: Path, found: Iterable[Migrated]) -> str:
    ordered = sorted(found, key=lambda one: one.fate != "refused")
    why = next((f"{one.file}: {one.why}" for one in ordered if one.why), None)
    return f"{show_path(profile)}: {why or 'no file with a state; expected a profile'}"


class _Migration:
    """The files of one profile, each with its place in the new one, on the way to some states."""

    def __init__(
        self,
        files: Mapping[Path, Path],
        targets: Collection[Target],
        progress: Progress | None,
    ) -> None:
        self._files = files
        self._targets = {one.axis: one.name for one in targets}
        self._progress = progress
        self._beside: dict[Path, Revision] = {}
        self._matches = {path: layout_catalog().match(path.name) for path in files}
        self._sheets = dict(self._circumstances()) if "writer" in self._targets else {}

    @cached_property
    def _csv_files(self) -> Mapping[Path, Mapping[Path, str]]:
        """What the CSV files of each folder are called in the spec."""
        found: dict[Path, dict[Path, str]] = {}
        for path, match in self._matches.items():
            if match is not None and match.file.kind == "csv":
                found.setdefault(path.parent, {})[path] = match.called
        return found

    @cached_property
    def _folders_below(self) -> Mapping[Path, Sequence[Path]]:
        """The folders with CSV files that lie in each folder."""
        found: dict[Path, list[Path]] = {}
        for folder in self._csv_files:
            found.setdefault(folder.parent, []).append(folder)
        return found

    def _circumstances(self) -> Iterator[tuple[Path, Circumstance]]:
        """Of the CSV files of each folder."""
        for files in self._csv_files.values():
            yield from circumstances_of(files, self._targets["writer"]).items()

    def each(self, below: Path) -> Iterator[Migrated]:
        """Migrate or copy each file, the profilers' databases before what is made of them."""
        sizes = {source: source.stat().st_size for source in self._files}
        done, total = 0, sum(sizes.values())
        for source in sorted(sizes, key=lambda one: carrier_of_name(one.name)[0] == "analysis"):
            start, size, name = done, sizes[source], source.name

            def within(
                part: int, parts: int, what: str, at: tuple[int, int, str] = (start, size, name)
            ) -> None:
                if self._progress:
                    self._progress(at[0] + at[1] * part // parts, total, f"{at[2]} {what}")

            made = self._one(source, within)
            yield replace(made, file=show_path(source.relative_to(below)))
            done += size
            if self._progress:
                self._progress(done, total, name)

    def _one(self, source: Path, progress: Progress) -> Migrated:
        owner = _owner(source)
        if owner != source and owner in self._files and self._kind(owner) == "database":
            return Migrated(source.name, "left-out", why=f"it belongs to the old {owner.name}")
        target, kind = self._files[source], self._kind(source)
        if kind is None or (reason := self._not_asked(source, kind)):
            shutil.copyfile(source, target)
            return Migrated(source.name, "copied", why=reason if kind else "")
        try:
            made = self._migrated(source, kind, target, progress)
            if made is not None:
                return made
            why = f"{STATES[kind][1]} of no generation of {self._targets['writer']}"
            shutil.copyfile(source, target)
            return Migrated(source.name, "copied", why=why)
        except (Refusal, UnreadableDatabase) as problem:
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target)
            why = problem.reason if isinstance(problem, UnreadableDatabase) else str(problem)
            return Migrated(source.name, "refused", why=why)

    def _not_asked(self, source: Path, kind: str) -> str:
        """Why a file with a state is left as it is, if none was asked for that it can have."""
        axis, words = STATES[kind]
        if axis not in self._targets:
            return f"{words}; --to names no {axis}"
        return ""

    def _migrated(
        self, source: Path, kind: str, target: Path, progress: Progress
    ) -> Migrated | None:
        """Migrate a file; ``None`` where no generation of the writer asked for wrote it."""
        if kind == "database":
            return self._database(source, target, progress)
        if kind == "blocks":
            return migrate_blocks(source, self._targets["epoch"], target)
        if kind == "csv":
            return self._sheet(source, target) if source in self._sheets else None
        writer, around = self._targets["writer"], self._around(source)
        if around is None:
            return None
        match = self._matches[source]
        name = match.called if match else ""
        kin = partial(is_kin, writer)
        if kind == "timeline":
            return migrate_timeline(source, name, writer, kin, around, target, progress)
        return migrate_document(source, name, writer, kin, around.likely, target)

    def _around(self, source: Path) -> Around | None:
        """What the CSV files next to a file show, or in the folders below; ``None`` where they are
        of another program.
        """
        folders = [source.parent, *self._folders_below.get(source.parent, ())]
        near = {
            path: self._sheets.get(path)
            for folder in folders
            for path in self._csv_files.get(folder, ())
        }
        ats = [one for one in near.values() if one is not None]
        if near and not ats:
            return None
        writers = Counter(one.writer for one in ats)
        family = ats[0].family if ats else None
        return Around(tuple(one for one, _ in writers.most_common()), family)

    def _kind(self, path: Path) -> str | None:
        """What has a state, by its name. A file of any name that is the whole profile is one of
        blocks by its first bytes, or else counts as a database.
        """
        match: Match | None = self._matches[path]
        if match is None or match.file.kind is None:
            alone = "blocks" if is_block_file(path) else "database"
            return alone if len(self._files) == 1 else None
        if match.file.kind == "document" and match.file.below != "output":
            # Options of a capture; next to databases, which have revisions, nobody asks for them.
            return "document" if "writer" in self._targets else None
        return match.file.kind

    def _database(self, source: Path, target: Path, progress: Progress) -> Migrated:
        revision = catalog().revision(self._targets["revision"])
        beside = self._beside.get(source.parent)
        made = migrate_database(source, revision, target, beside, progress)
        if carrier_of_name(source.name)[0] != "analysis":
            self._beside[source.parent] = catalog().revision(made.before or "")
        return made

    def _sheet(self, source: Path, target: Path) -> Migrated:
        match = self._matches[source]
        name = match.called if match else ""
        return migrate_sheet(source, name, self._sheets[source], self._targets["writer"], target)


def _owner(path: Path) -> Path:
    """The database that a file of an unfinished writer belongs to; a path itself for any other."""
    found = next((one for one in SIDE_FILES if path.name.endswith(one)), "")
    return path.with_name(path.name.removesuffix(found)) if path.name != found else path
