"""A whole profile at another revision: databases are migrated, all other files copied."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ascend_ref.atomic import staged
from ascend_ref.below import mirrored
from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import show_path
from ascend_ref.db.header import UnreadableDatabase
from ascend_spec import catalog, layout_catalog
from ascend_spec.db.model import Revision

from .account import Account, Migrated
from .database import migrate_database

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is called with the bytes done, those of all files, and what is being done."""

ACCOUNT = "migration.json"
SIDE_FILES = ("-wal", "-shm", "-journal")
STATES = {
    "csv": "a CSV file, whose form is its writer's",
    "timeline": "a timeline, whose form is its writer's",
    "document": "a document, whose form is its writer's",
    "blocks": "a file of blocks, whose form is its epoch's",
}
"""Kinds of files that have a state and are copied as they are, in words."""


class NotMigrated(Exception):
    """Nothing of a profile can be migrated; the text is one clear line."""


def migrate_profile(
    profile: Path, revision: Revision, folder: Path, progress: Progress | None = None
) -> Account:
    """Write a profile, a database or a folder, as one of another revision into a new folder.

    It keeps its name there; ``migration.json`` next to it is the account. The folder appears only
    when all is written. A database that cannot be migrated is copied as it is, which the account
    states. Raises :class:`NotMigrated`, ``FileExistsError``, ``OSError``.
    """
    name = profile.resolve().name
    with staged(folder) as draft:
        files = mirrored(profile, draft / name)
        below = profile if profile.is_dir() else profile.parent
        found = list(_each(files, below, revision, progress))
        if not any(one.fate == "migrated" for one in found):
            raise NotMigrated(_reason(profile, found))
        account = Account(name, revision.id, tuple(sorted(found, key=lambda one: one.file)))
        text = json.dumps(account.document(), indent=2, ensure_ascii=False) + "\n"
        (draft / ACCOUNT).write_text(text, encoding="utf-8", errors="backslashreplace")
    return account


def _reason(profile: Path, found: Iterable[Migrated]) -> str:
    why = next((f"{one.file}: {one.why}" for one in found if one.why), None)
    return f"{show_path(profile)}: {why or 'no database of a profile; expected one'}"


def _each(
    files: Mapping[Path, Path], below: Path, revision: Revision, progress: Progress | None
) -> Iterator[Migrated]:
    """Migrate or copy each file, the profilers' databases before what is made of them."""
    sizes = {source: source.stat().st_size for source in files}
    done, total = 0, sum(sizes.values())
    beside: dict[Path, Revision] = {}
    for source in sorted(files, key=lambda one: carrier_of_name(one.name)[0] == "analysis"):

        def within(
            part: int, parts: int, what: str, source: Path = source, done: int = done
        ) -> None:
            if progress:
                progress(done + sizes[source] * part // parts, total, f"{source.name} {what}")

        made = _one(source, files, revision, beside, within)
        yield replace(made, file=show_path(source.relative_to(below)))
        done += sizes[source]
        if progress:
            progress(done, total, source.name)


def _one(
    source: Path,
    files: Mapping[Path, Path],
    revision: Revision,
    beside: dict[Path, Revision],
    progress: Progress,
) -> Migrated:
    owner = _owner(source)
    if owner != source and owner in files and _is_database(owner, files):
        return Migrated(source.name, "left-out", why=f"it belongs to the old {owner.name}")
    if not _is_database(source, files):
        shutil.copyfile(source, files[source])
        return Migrated(source.name, "copied", why=_state(source))
    try:
        made = migrate_database(
            source, revision, files[source], beside.get(source.parent), progress
        )
    except UnreadableDatabase as problem:
        files[source].unlink(missing_ok=True)
        shutil.copyfile(source, files[source])
        return Migrated(source.name, "copied", why=problem.reason)
    if carrier_of_name(source.name)[0] != "analysis":
        beside[source.parent] = catalog().revision(made.before or "")
    return made


def _state(path: Path) -> str:
    """What gives a file its form, in words; documents about a capture have one at all times."""
    match = layout_catalog().match(path.name)
    if match is None or (match.file.kind == "document" and match.file.below != "output"):
        return ""
    return STATES.get(match.file.kind or "", "")


def _owner(path: Path) -> Path:
    """The database that a file of an unfinished writer belongs to; a path itself for any other."""
    found = next((one for one in SIDE_FILES if path.name.endswith(one)), "")
    return path.with_name(path.name.removesuffix(found)) if path.name != found else path


def _is_database(path: Path, files: Mapping[Path, Path]) -> bool:
    """By its name; a file that is the whole profile by itself is taken for one."""
    return carrier_of_name(path.name)[0] is not None or len(files) == 1
