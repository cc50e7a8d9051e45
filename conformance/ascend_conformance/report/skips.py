"""Checks that could not be made, gathered by reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ascend_conformance.finding import Skipped


@dataclass(frozen=True, slots=True)
class SkippedGroup:
    """One reason and the rules, sorted, that it kept from judging somewhere."""

    reason: str
    rules: tuple[str, ...]


def group_skipped(skipped: Iterable[Skipped]) -> tuple[SkippedGroup, ...]:
    """The groups, in the order of their first rule."""
    rules: dict[str, set[str]] = {}
    for skip in skipped:
        rules.setdefault(skip.reason, set()).add(skip.rule)
    groups = (SkippedGroup(reason, tuple(sorted(names))) for reason, names in rules.items())
    return tuple(sorted(groups, key=lambda group: (group.rules, group.reason)))
