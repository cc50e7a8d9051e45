"""The lanes under one heading, drawn to the scale of the axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from .blocks import LEVELS, Shown, Window, blocks
from .canvas import Canvas
from .kinds import LOOKS
from .layout import Row, Rows
from .measures import BODY, EDGE, INK, LEFT, MARGIN, PAPER, QUIET, RIGHT, RULE, SMALL
from .recording import Bars
from .units import duration

HEADING: Final = 24
THICK: Final = 16
THIN: Final = 6
GAP: Final = 5
THIN_GAP: Final = 1.5
NAME_SIZE: Final = 6.5
APART: Final = 3
"""Columns that a bar fills at least, to be distinguished from one that it touches."""
LOOKED_AT: Final = 2_000
"""At most so many bars of one kind, the longest, are set apart and may carry their names."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """A heading and its lanes. names: of the recording."""

    rows: Rows
    names: tuple[str, ...]
    window: Window

    @property
    def height(self) -> float:
        """How high it is."""
        return HEADING + sum(pitch for _, pitch in self._pitched())

    def middle_of_last(self, top: float) -> float:
        """Where the middle of the last lane is, ``top`` being the upper edge of all."""
        return top + self.height - GAP - THICK / 2

    def draw(self, canvas: Canvas, top: float) -> None:
        """Draw it, ``top`` being its upper edge."""
        canvas.text(MARGIN, top + 13, self.rows.heading, size=SMALL, colour=QUIET, bold=True)
        canvas.text(EDGE, top + 13, self.rows.measure, size=SMALL, colour=QUIET, align="right")
        top += HEADING
        for row, pitch in self._pitched():
            self._draw_row(canvas, row, top)
            top += pitch

    def _pitched(self) -> Iterator[tuple[Row, float]]:
        """The lanes, and how far below each the next one begins."""
        rows = self.rows.rows
        for row, following in zip(rows, [*rows[1:], None], strict=True):
            ends = following is None or following.thin != row.thin
            gap = THIN_GAP if row.thin and not ends else GAP
            yield row, (THIN if row.thin else THICK) + gap

    def _draw_row(self, canvas: Canvas, row: Row, top: float) -> None:
        height = THIN if row.thin else THICK
        middle, bottom = top + height / 2, top + height
        if row.thin:
            canvas.text(LEFT - 6, middle, row.label, size=5.5, colour=QUIET, align="right")
        else:
            label = canvas.fitted(row.label, LEFT - MARGIN - 6, BODY)
            canvas.text(MARGIN, middle, label, size=BODY, colour=INK)
            canvas.text(EDGE, middle, duration(row.busy), size=SMALL, colour=QUIET, align="right")
        canvas.lines([(LEFT, bottom, RIGHT, bottom)], RULE, 0.4)
        drawn = blocks(row.shown, self.window)
        for skyline in drawn.skylines:
            heights = np.asarray(skyline.level * (height / LEVELS), np.float64)
            canvas.skyline(LEFT, bottom, heights, LOOKS[skyline.kind].colour)
        for kind, intervals in drawn.long:
            left, right = (LEFT + self.window.place(time) for time in intervals)
            canvas.rectangles(left, right, top, bottom, LOOKS[kind].colour)
        if not row.thin:
            self._draw_names(canvas, row, top, bottom)

    def _draw_names(self, canvas: Canvas, row: Row, top: float, bottom: float) -> None:
        """Names in the bars that have room for them, and a line where a bar begins."""
        cuts = []
        for shown in row.shown:
            used = float(LEFT)
            for left, right, name in _long_bars(row.bars, shown, self.window):
                cuts.append((left, top, left, bottom))
                words = self.names[name] if name >= 0 else ""
                begin = max(left, used)
                if words and canvas.width(words, NAME_SIZE) + 4 <= right - begin:
                    ink = LOOKS[shown.kind].ink
                    canvas.text(
                        (begin + right) / 2,
                        (top + bottom) / 2,
                        words,
                        size=NAME_SIZE,
                        colour=ink,
                        align="center",
                    )
                    used = right
        canvas.lines(cuts, PAPER, 0.6)


def _long_bars(bars: Bars, shown: Shown, window: Window) -> list[tuple[float, float, int]]:
    """Bars of a kind that are long enough and are seen in full, in order of start: their edges and
    names.
    """
    if not len(bars) or not len(shown.intervals.start):
        return []
    start, end = np.maximum(bars.start, window.start), np.minimum(bars.end, window.end)
    least = APART * (window.end - window.start) / window.columns
    rows = np.flatnonzero((bars.kind == shown.kind) & (end - start >= least))
    if len(rows) > LOOKED_AT:
        rows = rows[np.argsort(start[rows] - end[rows], kind="stable")[:LOOKED_AT]]
    start, end, name = start[rows], end[rows], bars.name[rows]
    place = np.searchsorted(shown.intervals.start, start, side="right") - 1
    whole = (place >= 0) & (shown.intervals.end[place] >= end)
    order = np.flatnonzero(whole)
    order = order[np.argsort(start[order], kind="stable")]
    columns = (LEFT + window.place(start), LEFT + window.place(end), name)
    return list(zip(*(column[order].tolist() for column in columns), strict=True))
