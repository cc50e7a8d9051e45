"""Steps of a training, made of the points that it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["start", "fp", "bp", "end", "reduction"]
FIRST = "-"
"""In place of the end of the step before, where there is none."""


class Point(NamedTuple):
    """A point that a task reached. ``place``: the number of the slice that holds it.

    ``kind``: ``None`` for what has no part in a step.
    """

    kind: Kind | None
    tag: int
    task: int
    stream: int
    time: int
    place: int


@dataclass(frozen=True, slots=True)
class Segmentation:
    """How points are cut into steps; the fields are changes of the spec without ``steps_``."""

    open_at_starts: bool = False
    forget_their_start: bool = False
    forget_reductions: bool = False
    without_interval: bool = False


@dataclass(slots=True)
class Step:
    """The times of a step, ``None`` for what was not reached; ``start`` may be :data:`FIRST`.

    ``reductions``: points by stream, in order.
    """

    start: int | str | None
    fp: int | None = None
    bp: int | None = None
    end: int | None = None
    reductions: dict[int | str, list[Point]] = field(default_factory=dict)

    @property
    def following(self) -> int | str:
        """Where the next one starts."""
        return FIRST if self.end is None else self.end


def steps_of(points: Iterable[Point], rules: Segmentation) -> Iterator[Step]:
    """The steps that end. Each is to be read before the next one is asked for."""
    step = Step(None if rules.open_at_starts else FIRST)
    place = None
    for point in points:
        if place != point.place:
            place = point.place
            if rules.forget_their_start:
                step.start = step.following
            if rules.forget_reductions:
                step.reductions = {}
        if rules.without_interval:
            step.start = step.following
        match point.kind:
            case "start" if rules.open_at_starts:
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
            if not rules.open_at_starts:
                step = Step(step.end)
