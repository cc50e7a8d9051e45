"""Checks that could not be made, gathered by reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ascend_conformance.finding import Skipped


@dataclass(frozen=True, slots=True)
class SkippedGroup:
    """One reason, the rules that it kept from judging (sorted), and at how many places."""

    reason: str
    rules: tuple[str, ...]
    places: int


def group_skipped(skipped: Iterable[Skipped]) -> tuple[SkippedGroup, ...]:
    """The groups, in the order of their first rule."""
    rules: dict[str, set[str]] = {}
    places: dict[str, int] = {}
    for skip in skipped:
        rules.setdefault(skip.reason, set()).add(skip.rule)
        places[skip.reason] = places.get(skip.reason, 0) + 1
    groups = (
        SkippedGroup(reason, tuple(sorted(names)), places[reason])
        for reason, names in rules.items()
    )
    return tuple(sorted(groups, key=lambda group: (group.rules, group.reason)))
