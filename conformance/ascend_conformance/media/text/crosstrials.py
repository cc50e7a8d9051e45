"""Self-test of agreements: the rule reports each change of one value and each removed row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...compare.agreement import WHICH, Agreement
from ...compare.match import Outcome, tells_of
from ...engine.trials import Trial
from .disagreement import Mutation, broken, mutations
from .folder import Folder
from .rules import TextRule
from .selecting import Absent, reading_of, sums_of
from .sources import Sources


def try_agreement(subject: str, folder: Folder, rule: TextRule) -> Iterator[Trial]:
    """Break an agreement in every way that a clean folder gives occasion for.

    A change that its side does not show, such as that of the only part of a total, does not count.
    Other rules see no cell that they do not read.
    """
    sources = Sources(folder.facts)
    if rule.search.agreement is None:
        return
    for place, agreement in zip(
        rule.search.agreement.each, rule.search.agreement.instances, strict=True
    ):
        instance, tried = ", ".join(place.values()), False
        try:
            found = mutations(sources, agreement)
        except Absent:
            found = []
        for mutation, caught in _tried(sources, agreement, found):
            tried = True
            fired = (rule.id,) if caught else ()
            yield Trial(subject, rule.id, instance, fired, changed=mutation.words)
        if not tried:
            yield Trial(subject, rule.id, instance, not_broken="there are not both sides")


def _tried(
    sources: Sources, agreement: Agreement, found: Sequence[Mutation]
) -> Iterator[tuple[Mutation, bool]]:
    """Each mutation, and whether it was reported.

    Those of one side that concern different rows come all at once, and again one by one where they
    hide each other.
    """
    together = [one for one in found if one.pair]
    caught: list[Mutation] = []
    for which in WHICH:
        own = [one for one in together if one.which == which]
        if own:
            with broken(sources, own):
                outcome = reading_of(sources, agreement)
                caught += [one for one in own if _is_told(sources, outcome, one)]
    for mutation in found:
        if mutation in caught:
            yield mutation, True
            continue
        with broken(sources, [mutation]):
            outcome = reading_of(sources, agreement)
            is_told = (
                any(outcome.differing.get(name) for name in mutation.columns)
                if mutation.columns
                else outcome.faults > 0
            )
            reading = outcome.compared.agreement
            told = None if is_told else sums_of(sources, reading, mutation.which)
        if is_told or told != sums_of(sources, reading, mutation.which):
            yield mutation, is_told


def _is_told(sources: Sources, found: Outcome, mutation: Mutation) -> bool:
    """Whether the rows of a mutation, or those that they were paired with, are reported."""
    if mutation.pair is None or not found.faults:
        return False
    return tells_of(sources.facts, found, mutation.pair, mutation.columns)
