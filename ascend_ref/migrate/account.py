"""What a migration did to each file, and what of it does not come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from ascend_ref import __version__

Effect = Literal[
    "renamed", "converted", "remapped", "defaulted", "added", "gone", "kept", "left-out", "lost"
]
"""renamed, converted, remapped: under another name, in another type, by the id of the target.
defaulted: a column that appears, with what stands for nothing. added: what the target has besides,
such as members of an enum. gone: what the target does not have, and nothing was in it. kept: what
the target does not know. left-out: views and the like, which hold no rows. lost: cells and rows
that do not come back.
"""

Notes: TypeAlias = Counter[tuple[Effect, str, str]]
"""How often something was done, by effect, place and words."""

Fate = Literal["migrated", "copied", "refused", "left-out"]
"""refused: copied as it is, although a state was asked for that files of its kind have."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was done. ``place``: TABLE, TABLE.column, a CSV file and its column; of a
    timeline layer, kind of event and key; of a document or block the place in it.

    ``count``: the cells or events concerned, of a table rows; of what is lost those that are.
    """

    effect: Effect
    place: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class Migrated:
    """What became of one file. ``file``: below the profile. ``before``, ``after``: states of its
    medium, such as revisions. ``why``: for one that has a state and was copied or refused, or that
    is left out.
    """

    file: str
    fate: Fate
    before: str | None = None
    after: str | None = None
    why: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def lost(self) -> int:
        """Cells and rows that do not come back."""
        return sum(one.count for one in self.entries if one.effect == "lost")


@dataclass(frozen=True, slots=True)
class Account:
    """What became of a profile. ``targets``: the states that were asked for."""

    profile: str
    targets: tuple[str, ...]
    files: tuple[Migrated, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all was migrated that was asked for, and all of it comes back."""
        return not any(one.lost or one.fate == "refused" for one in self.files)

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "format": FORMAT,
            "ascend_ref": __version__,
            "profile": self.profile,
            "targets": self.targets,
            "whole": self.is_whole,
            "files": [asdict(one) | {"lost": one.lost} for one in self.files],
        }

    def lines(self) -> Iterator[str]:
        """As text: what was done, over all files of one state at once, what is lost first; then
        each file with a state that was copied, or left out; then how many others were copied.
        """
        groups: dict[tuple[str | None, str | None], list[Migrated]] = {}
        for one in self.files:
            if one.fate == "migrated":
                groups.setdefault((one.before, one.after), []).append(one)
        for (before, after), files in groups.items():
            named = files[0].file if len(files) == 1 else f"{len(files):,} files"
            yield f"{named}: {before} -> {after}, {_verdict(sum(one.lost for one in files))}"
            yield from (f"  {line}" for line in _together(files))
        for one in self.files:
            if one.why:
                words = "left out" if one.fate == "left-out" else "copied as it is"
                yield f"{one.file}: {words}: {one.why}"
        copied = sum(one.fate == "copied" and not one.why for one in self.files)
        if copied:
            yield f"{copied:,} further file{'s' * (copied != 1)} copied, which have no state"


FORMAT = "ascend-ref-migration/1"


def unlike_its(state: str) -> str:
    """Words on a value that has another form than that of the state of its file."""
    return f"another value, or form, than that of its {state}"


def entries_of(notes: Notes) -> Iterator[Entry]:
    """What was done. What is lost at a place is not gone there as well, and is lost for the reason
    for which it is gone.
    """
    gone = {place: words for effect, place, words in notes if effect == "gone"}
    lost = {place for effect, place, _ in notes if effect == "lost"}
    for (effect, place, words), count in notes.items():
        if effect == "gone":
            if place not in lost:
                yield Entry(effect, place, words, 0)
        else:
            yield Entry(effect, place, gone.get(place, words) if effect == "lost" else words, count)


def _verdict(lost: int) -> str:
    return f"{lost:,} cells or rows do not come back" if lost else "all of it comes back"


def _together(files: Iterable[Migrated]) -> Iterator[str]:
    """The entries of several files, with what they have in common added up."""
    counts: Counter[tuple[Effect, str, str]] = Counter()
    for one in files:
        for entry in one.entries:
            counts[entry.effect, entry.place, entry.words] += entry.count
    for effect, place, words in sorted(counts, key=lambda one: one[0] != "lost"):
        yield f"{effect} {place}: {words} ({counts[effect, place, words]:,})"
