"""The legend: the colours that occur in the lanes, and how to read a skyline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .canvas import Canvas
from .kinds import LOOKS, UNDIVIDED, Kind
from .measures import BODY, EDGE, INK, MARGIN, QUIET, SMALL

LINE: Final = 15
SWATCH: Final = 9
SKYLINE: Final = (
    "A full bar is drawn to scale. Where tasks are too short for that, the height tells which "
    "share of the time was filled."
)


@dataclass(frozen=True, slots=True)
class Legend:
    """kinds: in order of precedence. divided: whether AI_CORE means the cube cores alone."""

    kinds: Sequence[Kind]
    divided: bool

    height = 2 * LINE + 20

    def draw(self, canvas: Canvas, top: float) -> None:
        """Draw it, ``top`` being its upper edge."""
        x, y = float(MARGIN), top + 14
        for kind in self.kinds:
            look = UNDIVIDED if kind is Kind.CUBE and not self.divided else LOOKS[kind]
            width = SWATCH + 5 + canvas.width(look.label, BODY)
            if x + width > EDGE:
                x, y = float(MARGIN), y + LINE
            canvas.box(x, y - SWATCH / 2, SWATCH, SWATCH, look.colour)
            canvas.text(x + SWATCH + 5, y, look.label, size=BODY, colour=INK)
            x += width + 16
        canvas.text(MARGIN, y + LINE, SKYLINE, size=SMALL, colour=QUIET)
