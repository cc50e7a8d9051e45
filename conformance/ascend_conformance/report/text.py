"""The report for people: what was seen in each file, the findings, one line of conclusion.

Plain ASCII decoration, so that it survives pipes, logs and old terminals; colour only on demand.
Texts out of the judged file never reach rich as markup: they go through :func:`escape.visible`
into :class:`rich.text.Text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ascend_conformance.finding import FileReport, Finding, Report, Verdict

from .collapse import Listed, listed
from .detail import FULL, Detail, Rules
from .escape import visible
from .phrases import Conformity, conclusion, conformity, counted, tally
from .seen_lines import seen_lines
from .sentences import fact, not_listed, parts, place, skipped_by_reason, unreadable

_NARROWEST = 40
_LABEL_WIDTH = 10
_STYLE: Mapping[Verdict, str] = {
    "failure": "bold magenta",
    "violation": "bold red",
    "advice": "yellow",
    "note": "cyan",
}
_CONCLUSION_STYLE: Mapping[Conformity, str] = {
    "conforms": "bold green",
    "does not conform": "bold red",
    "not judged": "bold yellow",
}


def render(
    report: Report,
    rules: Rules,
    detail: Detail = FULL,
    *,
    width: int | None = None,
    colour: bool = False,
) -> Iterator[str]:
    """The whole report, ``width`` columns wide if there is a width; ANSI colours only when
    ``colour`` is set.
    """
    layout = _Layout(width, colour)
    for one in listed(report, detail):
        yield from map(layout.lines, _file(one, rules, detail))
        yield layout.lines(_BLANK)
    last = conclusion(report), _CONCLUSION_STYLE[conformity(report.files)]
    yield layout.lines(_Paragraph("", (last,)))


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Texts and (text, style) pairs after a lead.

    Continued lines stand under the first character after ``lead``, ``hang`` columns further.
    """

    lead: str
    parts: tuple[str | tuple[str, str], ...]
    hang: int = 0


_BLANK = _Paragraph("", ())


class _Layout:
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

    def lines(self, paragraph: _Paragraph) -> str:
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


def _file(one: Listed, rules: Rules, detail: Detail) -> Iterator[_Paragraph]:
    file = one.file
    yield _Paragraph("", ((visible(file.file, detail.path), "bold"),))
    for label, value in seen_lines(file, detail):
        yield _Paragraph(f"  {label:<{_LABEL_WIDTH}}", (value,))
    if file.unreadable is not None:
        reason = unreadable(file, detail)
        yield _Paragraph("  ", (("cannot be judged: ", "bold red"), reason))
    yield from _findings(one, rules, detail)
    yield from _skipped(file, detail)


def _findings(one: Listed, rules: Rules, detail: Detail) -> Iterator[_Paragraph]:
    counts = tally((one.file,))
    for verdict, findings in groupby(one.findings, key=lambda finding: finding.verdict):
        yield _BLANK
        yield _Paragraph("  ", ((f"{counted(counts[verdict], verdict)}:", _STYLE[verdict]),))
        for _, same_rule in groupby(findings, key=lambda finding: finding.rule):
            yield from _rule(tuple(same_rule), rules, detail)
    if one.left_out:
        yield _BLANK
        yield _Paragraph("  ", (not_listed(one),))


def _rule(findings: tuple[Finding, ...], rules: Rules, detail: Detail) -> Iterator[_Paragraph]:
    head = findings[0]
    rule = visible(head.rule, detail.name), _STYLE[head.verdict]
    yield _Paragraph("  ", (rule, " ", (visible(head.name, detail.name), "bold")), hang=2)
    one_expectation = len({finding.expected for finding in findings}) == 1
    for finding in findings:
        yield from _finding(finding, detail)
        if not one_expectation:
            yield from _expected("      ", finding, detail)
    if one_expectation:
        yield from _expected("    ", head, detail)
    if head.rule in rules and detail.guidance:
        yield _Paragraph("    fix: ", (visible(rules[head.rule].fix, detail.prose),))


def _finding(finding: Finding, detail: Detail) -> Iterator[_Paragraph]:
    where = place(finding, detail), "bold"
    yield _Paragraph("    ", (where, ": ", fact(finding, detail)), hang=2)
    for label, text in parts(finding, None, detail):
        if label != "expected":
            yield _Paragraph("      - " if label == "example" else f"      {label}: ", (text,))


def _expected(indent: str, finding: Finding, detail: Detail) -> Iterator[_Paragraph]:
    if finding.expected:
        yield _Paragraph(f"{indent}expected: ", (visible(finding.expected, detail.prose),))


def _skipped(file: FileReport, detail: Detail) -> Iterator[_Paragraph]:
    groups, further = skipped_by_reason(file, detail)
    if groups:
        yield _BLANK
        yield _Paragraph("  ", (f"{counted(len(file.skipped), 'check')} skipped:",))
    for rules, reason in groups:
        yield _Paragraph("  ", (f"{rules}: {reason}",), hang=2)
    if further:
        yield _Paragraph("  ", (f"{counted(further, 'further reason')} not listed",))
