"""The fewest of some items for which something holds, by delta debugging (ddmin)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias, TypeVar

AnyItem = TypeVar("AnyItem")
Items: TypeAlias = tuple[AnyItem, ...]


def fewest_of(items: Items[AnyItem], holds: Callable[[Items[AnyItem]], bool]) -> Items[AnyItem]:
    """The fewest of some items for which something holds, as it does for all of them together.

    Each half is tried alone, then each part is left out that is not needed; parts become smaller
    until they are single items (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
    Input, 2002; smaller parts are not tried alone, since a half that has them was not enough:
    Hodován and Kiss, Practical Improvements to the Minimizing Delta Debugging Algorithm, 2016).
    Without any one of what is left it does not hold.
    """
    parts = 2
    while len(items) > 1:
        bounds = [len(items) * place // parts for place in range(parts + 1)]
        slices = [items[first:end] for first, end in pairwise(bounds)]
        alone = next(filter(holds, slices), None) if parts == 2 else None
        if alone is not None:
            items, parts = alone, 2
            continue
        needed = _needed(slices, holds) if parts > 2 else slices
        if len(needed) < len(slices):
            items, parts = _joined(needed), len(needed)
        elif parts >= len(items):
            break
        else:
            parts = min(len(items), 2 * parts)
    return items


def _needed(
    slices: list[Items[AnyItem]], holds: Callable[[Items[AnyItem]], bool]
) -> list[Items[AnyItem]]:
    """Parts without those that are not needed, each left out for good before the next is tried."""
    place = 0
    while place < len(slices) > 2:
        others = slices[:place] + slices[place + 1 :]
        if holds(_joined(others)):
            slices = others
        else:
            place += 1
    return slices


def _joined(slices: list[Items[AnyItem]]) -> Items[AnyItem]:
    return tuple(item for one in slices for item in one)
