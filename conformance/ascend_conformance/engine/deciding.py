"""Which facts decided for one of several readings."""

from __future__ import annotations

from collections.abc import Mapping, Set

MOST = 4
"""Facts that are stated."""


def deciding(excluded: Mapping[str, Set[str]]) -> tuple[str, ...]:
    """Few facts that together exclude as many other readings as all of them; most first.

    ``excluded`` are the readings that each fact excludes, in the order in which facts are
    preferred that exclude equally many.
    """
    chosen: list[str] = []
    gone: set[str] = set()
    while excluded and len(chosen) < MOST:
        best = max(excluded, key=lambda fact: len(excluded[fact] - gone))
        if excluded[best] <= gone:
            break
        gone |= excluded[best]
        chosen.append(best)
    return tuple(chosen)
