"""The fewest of some items for which something holds, by delta debugging (ddmin)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeAlias, TypeVar

AnyItem = TypeVar("AnyItem")
Items: TypeAlias = tuple[AnyItem, ...]


def fewest_of(items: Items[AnyItem], holds: Callable[[Items[AnyItem]], bool]) -> Items[AnyItem]:
    """The fewest of some items for which something holds, as it does for all of them together.

    Parts of them are tried alone, then all but a part; parts become smaller until they are single
    items (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
    """
    parts = 2
    while len(items) > 1:
        for some, parts_of_these in _some(items, parts):
            if holds(some):
                items, parts = some, parts_of_these
                break
        else:
            if parts >= len(items):
                break
            parts = min(len(items), 2 * parts)
    return items


def _some(items: Items[AnyItem], parts: int) -> Iterator[tuple[Items[AnyItem], int]]:
    """Each part alone, then all but each; and the number of parts to go on with."""
    bounds = [len(items) * place // parts for place in range(parts + 1)]
    slices = list(pairwise(bounds))
    yield from ((items[first:end], 2) for first, end in slices)
    if parts > 2:
        yield from ((items[:first] + items[end:], parts - 1) for first, end in slices)
