"""The words around the lanes: header, legend, and two small tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from .canvas import Canvas
from .kinds import LOOKS, UNDIVIDED, Kind
from .measures import BODY, EDGE, INK, MARGIN, QUIET, RULE, SMALL, badge
from .recording import Recording
from .step import Step
from .units import duration, percent

TITLE_SIZE = 17
SHARE_SIZE = 11
BAR_TOP, BAR_HEIGHT = 52, 16

LEGEND_LINE: Final = 15
SWATCH: Final = 9
SKYLINE: Final = (
    "A full bar is drawn to scale. Where tasks are too short for that, the height shows which "
    "share of the time was filled."
)

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
class Header:
    """Which step this is, how long it took, and where its time went.

    name: of the profile. source: the file.
    """

    recording: Recording
    step: Step
    name: str
    source: str

    height = 112

    def draw(self, canvas: Canvas, top: float) -> None:
        """Draw it, ``top`` being its upper edge."""
        title = self._title()
        canvas.text(MARGIN, top + 32, title, size=TITLE_SIZE, colour=INK, bold=True)
        room = EDGE - MARGIN - canvas.width(title, TITLE_SIZE, bold=True) - 24
        for y, words, colour in ((25, self.name, INK), (38, self._place(), QUIET)):
            shown = canvas.fitted(words, room, BODY)
            canvas.text(EDGE, top + y, shown, size=BODY, colour=colour, align="right")
        self._shares(canvas, top)
        details = canvas.fitted(" · ".join(self._details()), EDGE - MARGIN, BODY)
        canvas.text(MARGIN, top + 100, details, size=BODY, colour=QUIET)

    def in_words(self) -> str:
        """The same for who cannot see it."""
        shares = (f"{percent(part, self.step.length)} {words}" for _, words, part in self.shares())
        return f"{self._title()}, {', '.join(shares)}"

    def _title(self) -> str:
        which = "Whole capture" if self.step.number is None else f"Step {self.step.number}"
        return f"{which}: {duration(self.step.length)}"

    def _shares(self, canvas: Canvas, top: float) -> None:
        """One bar of the whole length, and its shares below."""
        length = self.step.length
        left, x = float(MARGIN), float(MARGIN)
        for kind, words, part in self.shares():
            look = LOOKS[kind]
            width = (EDGE - MARGIN) * part / length if length else 0.0
            canvas.box(left, top + BAR_TOP, width, BAR_HEIGHT, look.colour)
            left += width
            canvas.box(x, top + 78, 9, 9, look.colour)
            share = percent(part, length)
            canvas.text(x + 14, top + 82.5, share, size=SHARE_SIZE, colour=INK, bold=True)
            x += 19 + canvas.width(share, SHARE_SIZE, bold=True)
            canvas.text(x, top + 82.5, words, size=SHARE_SIZE, colour=INK)
            x += canvas.width(words, SHARE_SIZE) + 28

    def shares(self) -> tuple[tuple[Kind, str, int], ...]:
        """The parts that make up the whole length, with their names, ns."""
        parts = self.step.overlap
        computing = (Kind.COMPUTING, "computing", parts.computing.total)
        if not self.recording.communication:
            return computing, (Kind.FREE, "not computing", parts.free.total)
        exposed = parts.communication_not_overlapped.total
        return (
            computing,
            (Kind.EXPOSED, "exposed communication", exposed),
            (Kind.FREE, "free", parts.free.total),
        )

    def _place(self) -> str:
        found = self.recording
        rank = "" if found.rank is None else f"rank {found.rank}"
        device = "" if found.device is None else f"device {found.device}"
        return " · ".join(one for one in (rank, device, found.chip) if one)

    def _details(self) -> Iterator[str]:
        parts = self.step.overlap
        total = parts.communication.total
        hidden = total - parts.communication_not_overlapped.total
        if not self.recording.communication:
            yield "this file does not state when communication operators ran"
        elif not total:
            yield "no communication"
        else:
            behind = f"{duration(hidden)} of it" if hidden else "none of it"
            yield f"communication {duration(total)}, {behind} behind computing"
        if self.step.prepared is not None and self.step.prepared > 0:
            yield f"the host began {duration(self.step.prepared)} before the first operator"
        yield f"drawn from {self.source}"


@dataclass(frozen=True, slots=True)
class Legend:
    """The colours that occur in the lanes, and how to read a skyline.

    kinds: in order of precedence. divided: whether AI_CORE means the cube cores alone."""

    kinds: Sequence[Kind]
    divided: bool

    height = 2 * LEGEND_LINE + 20

    def draw(self, canvas: Canvas, top: float) -> None:
        """Draw it, ``top`` being its upper edge."""
        x, y = float(MARGIN), top + 14
        for kind in self.kinds:
            look = UNDIVIDED if kind is Kind.CUBE and not self.divided else LOOKS[kind]
            width = SWATCH + 5 + canvas.width(look.label, BODY)
            if x + width > EDGE:
                x, y = float(MARGIN), y + LEGEND_LINE
            canvas.box(x, y - SWATCH / 2, SWATCH, SWATCH, look.colour)
            canvas.text(x + SWATCH + 5, y, look.label, size=BODY, colour=INK)
            x += width + 16
        canvas.text(MARGIN, y + LEGEND_LINE, SKYLINE, size=SMALL, colour=QUIET)


@dataclass(frozen=True, slots=True)
class Tables:
    """The operators that took most time, and the longest gaps of free time.

    marked: numbers of the gaps that have a mark in the lanes."""

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
            caption = f"at {duration(gap.start - self.step.start)}"
            room = EDGE - MIDDLE - 78
            if gap.after and gap.before:
                after, before = (canvas.fitted(name, 0.3 * room, BODY) for name in gap[2:])
                caption += f", after {after} and before {before}"
            canvas.text(MIDDLE + 78, y, canvas.fitted(caption, room, BODY), size=BODY, colour=QUIET)
            y += LINE
