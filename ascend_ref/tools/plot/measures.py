"""Measures and colours that all parts of the picture share; lengths in points."""

from __future__ import annotations

from typing import Final

from .blocks import Window
from .canvas import Canvas
from .kinds import DARK

WIDTH: Final = 960
MARGIN: Final = 24
LEFT: Final = 190
RIGHT: Final = 884
COLUMNS: Final = RIGHT - LEFT
"""Columns of the lanes, a point each."""
EDGE: Final = WIDTH - MARGIN

INK: Final = DARK
QUIET: Final = "#66717f"
RULE: Final = "#d5dae0"
PAPER: Final = "#ffffff"
BAND: Final = "#fff0c4"
BADGE_INK: Final = "#8a5a00"
BADGE: Final = 5.5
"""Radius of a numbered disc."""

BODY: Final = 8.5
SMALL: Final = 7.5


def across(window: Window, time: int) -> float:
    """Where a moment stands on the sheet."""
    return LEFT + (time - window.start) * COLUMNS / (window.end - window.start)


def badge(canvas: Canvas, x: float, y: float, number: int) -> None:
    """A number in a disc."""
    canvas.disc(x, y, BADGE, BADGE_INK)
    canvas.text(x, y, str(number), size=6.5, colour=PAPER, align="center", bold=True)
