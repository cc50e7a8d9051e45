"""Two small tables: the operators that took most time, and the longest gaps of free time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .canvas import Canvas
from .kinds import LOOKS
from .measures import BODY, EDGE, INK, MARGIN, QUIET, RULE, SMALL, badge
from .step import Step
from .units import duration, percent

LINE: Final = 14.5
HEAD: Final = 30
MIDDLE: Final = 500
NAME: Final = MARGIN + 14
RUNS: Final = 270
TOTAL: Final = 340
SHARE: Final = 396
SCALE: Final = 64
"""Points that an operator's share of the step would fill if it were all of it."""


@dataclass(frozen=True, slots=True)
class Tables:
    """marked: numbers of the gaps that have a mark in the lanes."""

    step: Step
    marked: frozenset[int]
    communication: bool

    @property
    def height(self) -> float:
        """How high it is."""
        lines = max(len(self.step.operators), len(self.step.gaps))
        return HEAD + LINE * lines + 18 if lines else 0

    def draw(self, canvas: Canvas, top: float) -> None:
        """Draw it, ``top`` being its upper edge."""
        if self.step.operators:
            self._operators(canvas, top)
        if self.step.gaps:
            self._gaps(canvas, top)

    def _operators(self, canvas: Canvas, top: float) -> None:
        head, y = top + 8, top + HEAD
        canvas.text(
            MARGIN, head, "Operators that took longest", size=SMALL, colour=QUIET, bold=True
        )
        for x, words in ((RUNS, "runs"), (TOTAL, "total"), (SHARE + SCALE, "of the time")):
            canvas.text(x, head, words, size=SMALL, colour=QUIET, align="right")
        canvas.lines([(MARGIN, head + 8, MIDDLE - 24, head + 8)], RULE, 0.6)
        for one in self.step.operators:
            colour = LOOKS[one.kind].colour
            canvas.box(MARGIN, y - 4, 8, 8, colour)
            name = canvas.fitted(one.name, RUNS - NAME - 40, BODY)
            canvas.text(NAME, y, name, size=BODY, colour=INK)
            canvas.text(RUNS, y, f"{one.runs:,}", size=BODY, colour=INK, align="right")
            canvas.text(TOTAL, y, duration(one.total), size=BODY, colour=INK, align="right")
            share = percent(one.total, self.step.length)
            canvas.text(SHARE + SCALE, y, share, size=BODY, colour=INK, align="right")
            y += LINE

    def _gaps(self, canvas: Canvas, top: float) -> None:
        head, y = top + 8, top + HEAD
        words = "Longest free gaps" if self.communication else "Longest gaps without computing"
        canvas.text(MIDDLE, head, words, size=SMALL, colour=QUIET, bold=True)
        canvas.lines([(MIDDLE, head + 8, EDGE, head + 8)], RULE, 0.6)
        for number, gap in enumerate(self.step.gaps, 1):
            if number in self.marked:
                badge(canvas, MIDDLE + 5, y, number)
            length = duration(gap.end - gap.start)
            canvas.text(MIDDLE + 66, y, length, size=BODY, colour=INK, align="right")
            told = f"at {duration(gap.start - self.step.start)}"
            room = EDGE - MIDDLE - 78
            if gap.after and gap.before:
                after, before = (canvas.fitted(name, 0.3 * room, BODY) for name in gap[2:])
                told += f", after {after} and before {before}"
            canvas.text(MIDDLE + 78, y, canvas.fitted(told, room, BODY), size=BODY, colour=QUIET)
            y += LINE
