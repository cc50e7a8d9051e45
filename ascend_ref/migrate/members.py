"""The rows of an enum table at another revision, and which id becomes which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from ascend_spec.db.model import Enum

from .lineage import same_members


@dataclass(frozen=True, slots=True)
class Members:
    """``read``: how many the file has. ``rows``: id to name, of the new table.

    ``moved``: ids that become others. ``nameless``: ids of cells that no row names and that have to
    move, for the target gives them to a member.
    ``added``, ``gone``, ``kept``: names that the target has besides, those it does not have, and of
    these the ones that stay, for cells use them; under another id where theirs is not free.
    ``renamed``: "IDEDH, now SCC".
    """

    enum: str
    read: int
    rows: Mapping[int, str]
    moved: Mapping[int, int]
    nameless: tuple[int, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    kept: tuple[str, ...]
    renamed: tuple[str, ...]

    @property
    def changes(self) -> bool:
        """Whether the table is another."""
        return bool(self.added or self.gone or self.kept or self.renamed or self.moved)


def migrate_members(
    enum: Enum,
    held: Mapping[int, str],
    old: Mapping[int, str],
    new: Mapping[int, str],
    used: Callable[[Collection[int]], Collection[int]],
) -> Members:
    """``held``: what the file has; ``old``, ``new``: the rows of the revisions. ``used``: which of
    some ids stand in cells.

    What a revision has and the file lacks is not added; what only the file has stays.
    """
    found = same_members(enum, held, new)
    same = {number: to for number, to in found.items() if to is not None}
    lacking = held.keys() - same.keys()
    kept = {number for number in lacking if number not in old}
    kept |= _used(used, lacking - kept)
    came = new.keys() - set(same_members(enum, old, new).values())
    rows = {to: new.get(to, held[number]) for number, to in same.items()}
    rows |= {number: new[number] for number in came}
    nameless = _used(used, rows.keys() - held.keys())
    free = _free({*new, *held, *(one.id for one in enum.members)})
    for number in sorted(kept | nameless):
        same[number] = next(free) if number in new or number in rows else number
    rows |= {same[number]: held[number] for number in kept}
    return Members(
        enum=enum.name,
        read=len(held),
        rows={number: rows[number] for number in sorted(rows)},
        moved={number: to for number, to in sorted(same.items()) if to != number},
        nameless=tuple(sorted(nameless)),
        added=tuple(new[number] for number in sorted(came) if number not in found.values()),
        gone=tuple(held[number] for number in sorted(lacking - kept)),
        kept=tuple(held[number] for number in sorted(kept)),
        renamed=tuple(
            f"{held[number]}, now {rows[to]}"
            for number, to in same.items()
            if number in held and rows[to] != held[number]
        ),
    )


def _used(used: Callable[[Collection[int]], Collection[int]], numbers: Collection[int]) -> set[int]:
    return set(used(numbers)) if numbers else set()


def _free(taken: Collection[int]) -> Iterator[int]:
    """Ids of no member at any revision."""
    return (number for number in count() if number not in taken)
