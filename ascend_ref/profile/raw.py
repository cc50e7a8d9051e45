"""What exporters make of raw files: the deliverables of CANN's profiler or of the framework's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ascend_ref.atomic import staged
from ascend_ref.execution import Executor, InProcess
from ascend_ref.explain import Account, count_made, explain
from ascend_ref.raw import Damage, find_folders
from ascend_ref.raw.decode.read import read_prof
from ascend_ref.raw.framework.information import copy_information
from ascend_ref.raw.framework.read import find_profiles, read_profile
from ascend_ref.raw.tree import prof_folders
from ascend_spec import catalog
from ascend_spec.db.model import Carrier

from .write import write_msprof_outputs, write_pytorch_outputs

RAW_KINDS = ("db", "csv", "timeline")
"""What is made of ``PROF_*``."""
PROFILE_KINDS = (*RAW_KINDS, "documents")
"""What is made of a profile of the framework."""
INCOMPLETE = "incomplete.txt"
"""File next to what was made of raw files that could not all be read: what is missing."""

Progress: TypeAlias = Callable[[int, int, str], None]


class RawExported(NamedTuple):
    """files: what was written. damage: what of the raw files cannot be read, a line each.

    accounts: of each profile or ``PROF_*`` why what could be made of it is there or absent, where
    asked for.
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
    writer: str | None = None,
    explained: bool = False,
    executor: Executor | None = None,
) -> RawExported:
    """Write what the raw files below ``source`` show into the new ``folder``.

    kinds: of :data:`RAW_KINDS`, or of :data:`PROFILE_KINDS` where the framework's profiler
    recorded; by default all. revision: of the database's schema, by default the newest. Of several
    profiles, or ``PROF_*`` without one, each gets a folder of its own, but for those that lie in
    another one. writer: the generation of exporters that writes the texts of ``PROF_*``, by default
    the current one. explained: with accounts. executor: where each of them is read and written, by
    default one after the other in this process; it does not change a byte. What cannot be read is
    left out and stated in :data:`INCOMPLETE`. ``folder`` appears complete or not at all.

    Raises ``Unreadable`` where there are no raw files, or nothing states when they were taken,
    ``FileExistsError`` for a folder that exists, ``WorkerLost``, ``OSError``.
    """
    profiles, recorded = find_profiles(source), prof_folders(find_folders(source))
    found = dict.fromkeys(profiles or recorded)
    places = [one for one in found if found.keys().isdisjoint(one.parents)]
    wanted = _Wanted(
        "pytorch" if profiles else "msprof",
        catalog().revision(revision).id if revision else catalog().revisions[-1].id,
        kinds or (PROFILE_KINDS if profiles else RAW_KINDS),
        writer,
        explained,
    )
    damage: list[str] = []
    accounts: list[Account] = []
    with staged(folder) as draft:
        items = [(one, draft / one.relative_to(source)) for one in places if len(places) > 1]
        if not items:  # the source may be host or a device of PROF_*, which is read alone then
            items = [(profiles[0] if profiles else source, draft)]
        with closing((executor or InProcess()).map(_export, wanted, items)) as results:
            for done, (lines, account) in enumerate(results, start=1):
                if progress:
                    progress(done, len(items), f"{places[done - 1].name} exported")
                damage += lines
                accounts += account
        names = sorted(one.relative_to(draft) for one in draft.rglob("*") if one.is_file())
    damage += _left_out([one for one in found if one not in places], "in another one")
    if profiles:
        alone = [one for one in recorded if one.parent not in profiles]
        damage += _left_out(alone, "in no profile of the framework")
    return RawExported([folder / name for name in names], damage, accounts)


def _left_out(places: Iterable[Path], reason: str) -> list[str]:
    return [str(Damage(one, f"{reason}; export it by itself")) for one in places]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is made of each profile, or of each ``PROF_*``."""

    carrier: Carrier
    revision: str
    kinds: Collection[str]
    writer: str | None
    explained: bool


def _export(wanted: _Wanted, places: tuple[Path, Path]) -> tuple[list[str], list[Account]]:
    """Export one into a folder; the damage of it, and the account that is asked for."""
    source, target = places
    target.mkdir(parents=True, exist_ok=True)
    if wanted.carrier == "pytorch":
        raw = read_profile(source)
        write_pytorch_outputs(target, raw.capture, wanted.revision, wanted.kinds)
        # Readers take the rank, the level and the activities from what stands by the outputs.
        copy_information(source, target)
    else:
        raw = read_prof(source)
        write_msprof_outputs(
            *(target, raw.capture, wanted.revision, wanted.kinds),
            writer=wanted.writer,
            spill=raw.spill,
        )
    lines = [str(problem) for problem in raw.damage]
    if lines:
        text = "".join(f"{line}\n" for line in lines)
        (target / INCOMPLETE).write_text(text, encoding="utf-8", errors="backslashreplace")
    if not wanted.explained:
        return lines, []
    made = count_made(target, frozenset(wanted.kinds))
    account = explain(raw, made, wanted.revision, wanted.kinds, wanted.carrier, wanted.writer)
    return lines, [account]
