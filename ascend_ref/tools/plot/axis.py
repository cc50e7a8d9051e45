"""The axis of time below the lanes, and what stands behind and on them because of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from matplotlib.ticker import MaxNLocator

from .blocks import Window
from .canvas import Canvas
from .measures import (
    BADGE,
    BAND,
    BODY,
    COLUMNS,
    INK,
    LEFT,
    MARGIN,
    QUIET,
    RIGHT,
    RULE,
    across,
    badge,
)
from .step import Gap, Step
from .units import Unit, unit_of

TICKS: Final = 8
ROUND: Final = (1, 2, 2.5, 5, 10)
LEAST_GAP: Final = 2
"""Points that a gap fills at least to be marked."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Time since the first operator of the step."""

    step: Step
    window: Window

    height = 20

    def draw(self, canvas: Canvas, top: float) -> None:
        """Draw it, ``top`` being its upper edge."""
        unit = self._unit()
        canvas.text(MARGIN, top + 10, f"time in {unit.name}", size=BODY, colour=QUIET)
        canvas.lines([(LEFT, top + 1, RIGHT, top + 1)], QUIET, 0.6)
        for x, label in self._ticks(unit):
            canvas.lines([(x, top + 1, x, top + 4)], QUIET, 0.6)
            canvas.text(x, top + 11, label, size=BODY, colour=INK, align="center")

    def draw_behind(self, canvas: Canvas, top: float, bottom: float) -> None:
        """Lines for reading off times."""
        lines = [(x, top, x, bottom) for x, _ in self._ticks(self._unit())]
        canvas.lines(lines, RULE, 0.4)

    def marked(self) -> tuple[tuple[int, Gap], ...]:
        """The gaps that are wide enough to be seen and far enough from longer ones, numbered."""
        found: list[tuple[int, Gap]] = []
        for number, gap in enumerate(self.step.gaps, 1):
            wide = (gap.end - gap.start) * COLUMNS >= LEAST_GAP * self._span()
            middle = self._middle(gap)
            if wide and all(abs(middle - self._middle(one)) >= 2 * BADGE for _, one in found):
                found.append((number, gap))
        return tuple(found)

    def draw_gaps(self, canvas: Canvas, top: float, bottom: float) -> None:
        """Bands behind the lanes where the device was idle for longest."""
        for _, gap in self.marked():
            left, right = across(self.window, gap.start), across(self.window, gap.end)
            canvas.box(left, top, right - left, bottom - top, BAND)

    def draw_badges(self, canvas: Canvas, y: float) -> None:
        """The numbers of these gaps."""
        for number, gap in self.marked():
            badge(canvas, self._middle(gap), y, number)

    def _middle(self, gap: Gap) -> float:
        return (across(self.window, gap.start) + across(self.window, gap.end)) / 2

    def _span(self) -> int:
        return self.window.end - self.window.start

    def _unit(self) -> Unit:
        """The unit in which the header shows the length."""
        return unit_of(self._span())

    def _ticks(self, unit: Unit) -> Iterator[tuple[float, str]]:
        low = (self.window.start - self.step.start) / unit.length
        high = (self.window.end - self.step.start) / unit.length
        for value in map(float, MaxNLocator(nbins=TICKS, steps=list(ROUND)).tick_values(low, high)):
            if low <= value <= high:
                share = (value - low) / (high - low)
                yield LEFT + share * (RIGHT - LEFT), f"{value:,.10g}"
