"""Self-test of agreements: each change of one value, or removal of a row, is told by its rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .agreement import Agreement
from .disagreement import Mutation, broken, mutations
from .folder import Folder
from .pairing import best_reading, told_by
from .rules import TextRule
from .selecting import Absent
from .sources import Sources


@dataclass(frozen=True, slots=True)
class CrossTrial:
    """One change on one side of an agreement, and whether the agreement told of it."""

    rule: str
    agreement: Agreement
    mutation: Mutation
    caught: bool

    @property
    def place(self) -> str:
        """The cell, or the row, that changed."""
        return self.mutation.words


def try_agreement(folder: Folder, rule: TextRule) -> Iterator[CrossTrial]:
    """Break an agreement in every way that a clean folder gives occasion for.

    A change that its side does not tell, such as of the only part of a total, is none.
    """
    sources = Sources(folder.facts)
    for agreement in rule.agreement.instances() if rule.agreement else ():
        try:
            found = mutations(sources, agreement)
        except Absent:
            continue
        for mutation in found:
            with broken(sources, [mutation]):
                caught = not untold(sources, agreement, [mutation])
                told = None if caught else told_by(sources, agreement, mutation.which)
            if caught or told != told_by(sources, agreement, mutation.which):
                yield CrossTrial(rule.id, agreement, mutation, caught)


def untold(sources: Sources, agreement: Agreement, applied: list[Mutation]) -> list[Mutation]:
    """Those of the mutations in force that the agreement does not tell of."""
    found = best_reading(sources, agreement)
    return [
        one
        for one in applied
        if not (
            any(found.differing.get(name) for name in one.columns) if one.columns else found.faults
        )
    ]
