"""The smallest profile that still shows a finding: ``shrink(profile, ByRule(rule), folder)``."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ascend_ref.atomic import staged
from ascend_ref.db.display import show_path

from ..discover import discover
from .items import Items
from .search import Advance, Search
from .sought import Sought

WORK = ".copies"
"""Folder of the copies that are judged, gone when the smallest is found."""


class NotShown(Exception):
    """A profile does not show what is looked for; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A profile that was written, and how much smaller it is.

    ``rows`` and ``files``: of the profile, and what is left of them. Rows are those of databases
    and CSV files, and events of timelines; those of tables of enums are none of them.
    ``metadata``: how many of those that are left are texts, rows of other tables that all
    databases have, and metadata of timelines. ``parts``: of what is left, by file, the rows of each
    table or lane that has some. ``checks``: how often a
    copy was judged. ``others``: further rules that it breaks, as the profile itself does, or
    because the search ``is_stopped`` by the number of checks.
    """

    profile: Path
    rows: tuple[int, int]
    files: tuple[int, int]
    metadata: int
    parts: dict[str, dict[str, int]]
    checks: int
    others: Collection[str] = ()
    is_stopped: bool = False


def shrink(
    profile: Path,
    sought: Sought,
    folder: Path,
    advance: Advance | None = None,
    max_checks: int | None = None,
) -> Shrunk:
    """Write the smallest profile found that still shows what is looked for into a new folder.

    The profile is a file or a folder, and only read. The folder appears when all is done.
    max_checks: how many copies are judged, by default as many as it takes; then the
    smallest so far is written. Raises
    :class:`NotShown`, ``NothingToCheck``, ``FileExistsError``, ``OSError``.
    """
    discover(profile)
    with staged(folder) as draft:
        items = Items(profile)
        work = draft / WORK
        work.mkdir()
        search = Search(items, sought, work, max_checks, advance)
        kept = search.smallest()
        if kept is None:
            raise NotShown(f"{show_path(profile)}: {sought.missed}")
        others = search.others_in(kept)
        items.write(draft / items.called, kept)  # of the last copy that was judged
        shutil.rmtree(work)
        parts = {show_path(name): rows for name, rows in items.counted(kept)}
    return Shrunk(
        profile=folder / items.called,
        rows=(int(items.is_row.sum()), int(kept[items.is_row].sum())),
        files=(len(items.files), len(parts)),
        metadata=int(kept[items.metadata].sum()),
        parts=parts,
        checks=search.checks,
        others=sorted(others),
        is_stopped=search.is_stopped,
    )
