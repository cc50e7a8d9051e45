"""How readers put the slices of a thread into each other: one walk in the order in which they
begin, with the slices that are still open on a stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

DEEPEST = 512
"""Open slices from which Perfetto's trace processor puts no further one inside (kMaxDepth)."""


class Slice(NamedTuple):
    """A slice as a reader reads it, and its exact times in ns."""

    process: int
    thread: int
    row: int
    begin: int
    length: int
    exact_begin: int
    exact_end: int


class Open(NamedTuple):
    """A slice that is open on a stack."""

    row: int
    end: int
    is_instant: bool
    exact_begin: int
    exact_end: int


def crosses(stack: list[Open], begin: int, end: int) -> bool:
    """Whether a slice crosses an open one; those that have ended before are taken off.

    As MaybeCloseStack of Perfetto: what ends is taken off the top, wherever it stands.
    """
    for place in range(len(stack) - 1, -1, -1):
        above = stack[place]
        if above.end < begin or (above.end == begin and not (above.is_instant and end == begin)):
            stack.pop()
        elif begin < above.end < end:
            return True
    return False


@dataclass
class Nesting:
    """A walk. ``keeps``: whether slices that cross an open one are put inside all the same.

    What was found: how many ``crossing`` slices, ``deep`` and ``misplaced`` ones (inside a slice
    that they are not inside of), and the least row of each.
    """

    keeps: bool = False
    crossing: int = 0
    deep: int = 0
    misplaced: int = 0
    first: dict[str, int] = field(default_factory=dict)
    _stack: list[Open] = field(default_factory=list)
    _track: tuple[int, int] | None = None

    def walk(self, slices: Sequence[Slice]) -> Iterator[tuple[int, int]]:
        """Take further slices, by thread and in the order of a reader; gives for each crossing one
        its row and that of the slice which is open then.
        """
        stack = self._stack
        for one in slices:
            process, thread, row, begin, length, exact_begin, exact_end = one
            if (process, thread) != self._track:
                self._track = process, thread
                stack.clear()
            end = begin + length
            if crosses(stack, begin, end):
                self.crossing += 1
                self._note("crossing", row)
                yield row, stack[-1].row
                if not self.keeps:
                    continue
            elif stack and not (
                stack[-1].exact_begin <= exact_begin and exact_end <= stack[-1].exact_end
            ):
                self.misplaced += 1
                self._note("misplaced", row)
            if len(stack) >= DEEPEST:
                self.deep += 1
                self._note("deep", row)
            else:
                stack.append(Open(row, end, length == 0, exact_begin, exact_end))

    def _note(self, what: str, row: int) -> None:
        self.first[what] = min(row, self.first.get(what, row))
