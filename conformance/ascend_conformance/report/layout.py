"""Lines of the reports for people: wrapped to a terminal, coloured on demand.

Plain ASCII decoration, so that it survives pipes, logs and old terminals. Texts out of the judged
file never reach rich as markup: they go through :func:`escape.visible` into
:class:`rich.text.Text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO

from rich.console import Console
from rich.text import Text

from ascend_conformance.finding import Verdict

from .phrases import Conformity

_NARROWEST = 40
STYLE: Mapping[Verdict, str] = {
    "failure": "bold magenta",
    "violation": "bold red",
    "advice": "yellow",
    "note": "cyan",
}
CONCLUSION_STYLE: Mapping[Conformity, str] = {
    "conforms": "bold green",
    "does not conform": "bold red",
    "not judged": "bold yellow",
}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Texts and (text, style) pairs after a lead.

    Continued lines stand under the first character after ``lead``, ``hang`` columns further.
    """

    lead: str
    parts: tuple[str | tuple[str, str], ...]
    hang: int = 0


BLANK = Paragraph("", ())


class Layout:
    """Paragraphs as wrapped lines without trailing spaces."""

    def __init__(self, width: int | None, colour: bool) -> None:
        self._width = None if width is None else max(width, _NARROWEST)
        self._colour = colour
        self._out = StringIO()
        self._console = Console(
            file=self._out,
            width=self._width,
            color_system="standard" if colour else None,
            force_terminal=colour,
            legacy_windows=False,
            no_color=not colour,
            _environ={},
        )

    def lines(self, paragraph: Paragraph) -> str:
        """The paragraph, each of its lines ended."""
        lead, hang = paragraph.lead, paragraph.hang
        whole = Text.assemble(*paragraph.parts)
        if self._width is None:
            wrapped = whole.split("\n", allow_blank=True)
        else:
            wrapped = whole.wrap(self._console, self._width - len(lead) - hang)
        margins = [lead, *[" " * (len(lead) + hang)] * (len(wrapped) - 1)]
        return "".join(map(self._line, margins, wrapped)) or "\n"

    def _line(self, margin: str, text: Text) -> str:
        text.rstrip()
        if not self._colour:
            return f"{margin}{text.plain}".rstrip() + "\n"
        self._out.seek(0)
        self._out.truncate()
        self._console.print(Text(margin) + text, soft_wrap=True, highlight=False, emoji=False)
        return self._out.getvalue()
