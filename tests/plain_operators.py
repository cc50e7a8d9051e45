"""Which operator a block of memory counts as, found row by row as torch_npu's analysis finds it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

AROUND_MEMORY = ("empty_tensor", "malloc_workspace")
"""Operators that only stand around the taking of memory."""


@dataclass(eq=False)
class PlainOperator:
    """An operator of PyTorch; times are ns."""

    start: int
    end: int
    thread: int
    name: str
    parent: PlainOperator | None = None


def nest(operators: Iterable[PlainOperator]) -> list[PlainOperator]:
    """All threads form one tree: an operator lies in the last one that is not over before it."""
    ordered = sorted(operators, key=lambda one: one.start)
    last: PlainOperator | None = None
    for one in ordered:
        while last is not None and one.start > last.end:
            last = last.parent
        one.parent, last = last, one
    return ordered


def names_of(events: Sequence[tuple[int, int]], operators: list[PlainOperator]) -> list[str]:
    """Names for (time, thread) of blocks taken: "" where no operator is around."""
    of_thread: dict[int, list[PlainOperator]] = defaultdict(list)
    for one in nest(operators):
        of_thread[one.thread].append(one)
    return [name_at(time, thread, of_thread[thread]) for time, thread in events]


def name_at(time: int, thread: int, operators: Iterable[PlainOperator]) -> str:
    """The operator of one event; ``operators`` are nested."""
    found: PlainOperator | None = None
    for one in sorted(operators, key=lambda one: one.start):
        if one.thread == thread and one.start <= time and one.name not in AROUND_MEMORY:
            found = one
    while found is not None and found.end < time:
        found = found.parent
    return "" if found is None else found.name
