"""Steps of a training, made of the points that it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

PointKind = Literal["start", "fp", "bp", "end", "reduction"]
FIRST = "-"
"""In place of the end of the step before, where there is none."""


class Point(NamedTuple):
    """A point that a task reached. ``place``: the number of the slice that holds it, ``offset``:
    where its record begins there.

    ``kind``: ``None`` for what has no part in a step.
    """

    kind: PointKind | None
    tag: int
    task: int
    stream: int
    time: int
    place: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Segmentation:
    """How points are cut into steps: the ways of step_opening, step_start and
    reductions_across_slices.
    """

    opening: str
    start: str
    reductions: str


@dataclass(slots=True)
class Step:
    """The times of a step, ``None`` for what was not reached; ``start`` may be :data:`FIRST`.

    ``reductions``: points by stream, in order.
    """

    start: int | str | None
    fp: int | None = None
    bp: int | None = None
    end: int | None = None
    reductions: dict[int, list[Point]] = field(default_factory=dict)

    @property
    def following(self) -> int | str:
        """Where the next one starts."""
        return FIRST if self.end is None else self.end


def steps_of(points: Iterable[Point], ways: Segmentation) -> Iterator[Step]:
    """The steps that end. Each is to be read before the next one is asked for."""
    at_start = ways.opening == "at-start"
    step = Step(None if at_start else FIRST)
    place = None
    for point in points:
        is_first = place != point.place
        place = point.place
        if is_first and ways.reductions == "lost":
            step.reductions = {}
        if ways.start == "forward-start" or (is_first and ways.start == "end-before-in-slice"):
            step.start = step.following
        match point.kind:
            case "start" if at_start:
                step = Step(step.following)
            case "fp":
                step.fp = point.time
            case "bp":
                step.bp = point.time
            case "end":
                step.end = point.time
            case "reduction":
                step.reductions.setdefault(point.stream, []).append(point)
        if step.end:
            yield step
            if not at_start:
                step = Step(step.end)
