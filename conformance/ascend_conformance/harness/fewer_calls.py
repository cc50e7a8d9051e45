"""The fewest host calls of a case that still show a failure, by delta debugging (ddmin)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

from ascend_simulator.choices import LOSSES

from .attempts import Sought
from .case import Case
from .writing import count_of_calls

Calls = tuple[int, ...]


def with_fewest_calls(case: Case, sought: Sought) -> Case:
    """A case with only such of its outermost host calls, and what they launched, that one less
    does not show the failure; with more of them where that takes too many exports.

    A case whose faults lose data stays as it is: they are of the whole recording. So does a
    compiled graph that is needed: one call launches all of its operators.
    """
    if any(fault.kind in LOSSES for fault in case.scenario.faults):
        return case

    def shows(calls: Calls) -> bool:
        return sought.shows(replace(case, calls=calls))

    if shows(()):
        return replace(case, calls=())
    if case.scenario.model.graph:
        return case
    calls = case.calls or tuple(range(count_of_calls(case)))
    fewest = fewest_of(calls, shows)
    return replace(case, calls=fewest) if len(fewest) < len(calls) else case


def fewest_of(items: Calls, holds: Callable[[Calls], bool]) -> Calls:
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


def _some(items: Calls, parts: int) -> Iterator[tuple[Calls, int]]:
    """Each part alone, then all but each; and the number of parts to go on with."""
    bounds = [len(items) * place // parts for place in range(parts + 1)]
    slices = list(pairwise(bounds))
    yield from ((items[first:end], 2) for first, end in slices)
    if parts > 2:
        yield from ((items[:first] + items[end:], parts - 1) for first, end in slices)
