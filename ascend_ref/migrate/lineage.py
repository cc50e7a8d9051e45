"""Which column of one revision is which of another, and which member of an enum is which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ascend_spec import catalog, per_spec
from ascend_spec.core import DAYS
from ascend_spec.db.model import Column, Enum, Member


@per_spec
def same_columns(table: str, old: str, new: str) -> Mapping[str, str]:
    """Names on the day ``new`` to those on the day ``old``, of the columns that both days have.

    A column is the same under another name where its document says so (``renamed_from``), and in
    another form under its own name where one entry ends as the next begins and both show the same
    of a recording, or have one type. Raises ``KeyError`` for an unknown table.
    """
    entries = catalog().tables[table].columns
    first = _firsts(entries)
    before = {first[key]: one.name for key, one in entries.items() if DAYS.in_force(one, old)}
    return {
        one.name: before[first[key]]
        for key, one in entries.items()
        if DAYS.in_force(one, new) and first[key] in before
    }


def _firsts(entries: Mapping[str, Column]) -> Mapping[str, str]:
    """Of each entry of a table's document the oldest entry that is the same column."""
    before = {key: _before(one, entries) for key, one in entries.items()}
    taken = {before[key] for key, one in entries.items() if one.renamed_from}
    for key, one in entries.items():
        if not one.renamed_from and before[key] in taken:
            before[key] = None  # the name is free again, and another column takes it
    firsts: dict[str, str] = {}
    for key in entries:
        first, seen = key, {key}
        while (older := before[first]) is not None and older not in seen:
            first = older
            seen.add(older)
        firsts[key] = first
    return firsts


def _before(column: Column, entries: Mapping[str, Column]) -> str | None:
    """The entry that a column continues."""
    if column.since is None:
        return None
    name = column.renamed_from or column.name
    ended = {
        key: one
        for key, one in entries.items()
        if one is not column and one.name == name and one.until is not None
    }
    if column.renamed_from:
        earlier = [key for key, one in ended.items() if (one.until or "") <= column.since]
        return max(earlier, key=lambda key: ended[key].until or "", default=None)
    return next(
        (
            key
            for key, one in ended.items()
            if one.until == column.since and (one.shows == column.shows or one.type == column.type)
        ),
        None,
    )


def same_members(
    enum: Enum, old: Mapping[int, str], new: Mapping[int, str]
) -> Mapping[int, int | None]:
    """Ids in ``old`` to those of the same members in ``new``; ``None`` for those that are gone.

    A member is the same where its name is. One whose name is gone goes on under the name that its
    id took on the very day on which its own ended, unless that is the name of another.
    """
    ids = {name: number for number, name in sorted(new.items(), reverse=True)}
    chains = _chains(enum.members)
    names = set(old.values())
    found: dict[int, int | None] = {}
    for number, name in old.items():
        later = new.get(number)
        if name in ids:
            found[number] = number if later == name else ids[name]
        elif later is None or later in names:
            found[number] = None
        else:
            chain = chains.get((number, name))
            goes_on = chain is not None and chain == chains.get((number, later))
            found[number] = number if goes_on else None
    return found


def _chains(members: Iterable[Member]) -> Mapping[tuple[int, str], int]:
    """By id and name the number of a chain of members of one id, each taking over from another."""
    found: dict[tuple[int, str], int] = {}
    ended: dict[tuple[int, str], int] = {}
    for number, one in enumerate(sorted(members, key=lambda one: one.since or "")):
        chain = ended.get((one.id, one.since), number) if one.since else number
        found[one.id, one.name] = chain
        if one.until:
            ended[one.id, one.until] = chain
    return found
