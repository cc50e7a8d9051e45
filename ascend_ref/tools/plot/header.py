"""The header: which step this is, how long it took, and where its time went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .canvas import Canvas
from .kinds import LOOKS, Kind
from .measures import BODY, EDGE, INK, MARGIN, QUIET
from .recording import Recording
from .step import Step
from .units import duration, percent

TITLE_SIZE = 17
SHARE_SIZE = 11
BAR_TOP, BAR_HEIGHT = 52, 16


@dataclass(frozen=True, slots=True)
class Header:
    """name: of the profile. source: the file."""

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
            yield "this file does not tell when communication operators ran"
        elif not total:
            yield "no communication"
        else:
            behind = f"{duration(hidden)} of it" if hidden else "none of it"
            yield f"communication {duration(total)}, {behind} behind computing"
        if self.step.prepared is not None and self.step.prepared > 0:
            yield f"the host began {duration(self.step.prepared)} before the first operator"
        yield f"drawn from {self.source}"
