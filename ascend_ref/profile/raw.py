"""What exporters make of raw files: the database, CSV files and timelines of CANN's profiler."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from ascend_ref.atomic import staged
from ascend_ref.explain import Account, count_made, explain
from ascend_ref.raw.decode.read import RawCapture, read_raw
from ascend_spec import catalog

from .write import write_msprof_outputs

RAW_KINDS = ("db", "csv", "timeline")
INCOMPLETE = "incomplete.txt"
"""File next to what was made of raw files that could not all be read: what is missing."""

Progress = Callable[[int, int, str], None]


class RawExported(NamedTuple):
    """files: what was written. damage: what of the raw files cannot be read, a line each.

    accounts: of each ``PROF_*`` why what could be made of it is there or absent, where asked for.
    """

    files: list[Path]
    damage: list[str]
    accounts: list[Account]


def export_raw(
    source: Path,
    folder: Path,
    kinds: Collection[str] | None = None,
    revision: str | None = None,
    progress: Progress | None = None,
    *,
    explained: bool = False,
) -> RawExported:
    """Write what the raw files below ``source`` show into the new ``folder``.

    kinds: of :data:`RAW_KINDS`, by default all. revision: of the database's schema, by default the
    newest. Of several ``PROF_*`` each gets a folder of its own. explained: with accounts. What
    cannot be read is left out and stated in :data:`INCOMPLETE`. ``folder`` appears complete or not
    at all.

    Raises ``Unreadable`` where there are no raw files, or nothing states when they were taken,
    ``FileExistsError`` for a folder that exists, ``OSError``.
    """
    as_of = catalog().revision(revision).id if revision else catalog().revisions[-1].id
    found = read_raw(source, progress)
    damage: list[str] = []
    accounts: list[Account] = []
    chosen = kinds or RAW_KINDS
    with staged(folder) as draft:
        for done, one in enumerate(found):
            if progress:
                progress(done, len(found), f"writing {one.folder.name}")
            target = draft / one.folder.name if len(found) > 1 else draft
            target.mkdir(exist_ok=True)
            write_msprof_outputs(target, one.capture, as_of, chosen, spill=one.spill)
            damage += _state(one, target)
            if explained:
                made = count_made(target, frozenset(chosen))
                accounts.append(explain(one, made, as_of, chosen, "msprof"))
        names = sorted(one.relative_to(draft) for one in draft.rglob("*.*"))
    return RawExported([folder / name for name in names], damage, accounts)


def _state(one: RawCapture, target: Path) -> list[str]:
    lines = [str(problem) for problem in one.damage]
    if lines:
        text = "".join(f"{line}\n" for line in lines)
        (target / INCOMPLETE).write_text(text, encoding="utf-8", errors="backslashreplace")
    return lines
