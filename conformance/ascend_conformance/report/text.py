"""The report for people: what was seen in each file, the findings, one line of conclusion.

Plain ASCII decoration, so that it survives pipes, logs and old terminals; colour only on demand.
Texts out of the judged file never reach rich as markup: they go through :func:`escape.visible`
into :class:`rich.text.Text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import StringIO
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ascend_conformance.finding import FileReport, Finding, Report, Verdict

from .card import RuleCard
from .collapse import collapse, shown
from .detail import FULL, Detail
from .escape import visible
from .phrases import Conformity, conclusion, conformity, counted, how_much, listed, tally
from .seen_lines import seen_lines
from .sentences import elsewhere, examples, place, sql
from .skips import group_skipped

PIPE_WIDTH = 100
_NARROWEST = 40
_LABEL_WIDTH = 10
_STYLE: Mapping[Verdict, str] = {"violation": "bold red", "advice": "yellow", "note": "cyan"}
_CONCLUSION_STYLE: Mapping[Conformity, str] = {
    "conforms": "bold green",
    "does not conform": "bold red",
    "not judged": "bold yellow",
}


def render(
    report: Report,
    cards: Mapping[str, RuleCard],
    detail: Detail = FULL,
    *,
    width: int = PIPE_WIDTH,
    colour: bool = False,
) -> str:
    """The whole report, ``width`` columns wide; ANSI colours only when ``colour`` is set."""
    page = _Page(width, colour)
    for file in collapse(report, detail.findings).files:
        _write_file(page, file, cards, detail)
        page.blank()
    page.write("", (conclusion(report), _CONCLUSION_STYLE[conformity(report.files)]))
    return page.text()


class _Page:
    """Lines of text, wrapped with a hanging indent and never padded."""

    def __init__(self, width: int, colour: bool) -> None:
        self._width = max(width, _NARROWEST)
        self._out = StringIO()
        self._console = Console(
            file=self._out,
            width=self._width,
            color_system="standard" if colour else None,
            force_terminal=colour,
            legacy_windows=False,
            no_color=not colour,
            highlight=False,
            markup=False,
            emoji=False,
            _environ={},
        )

    def write(self, lead: str, *parts: str | tuple[str, str], hang: int = 0) -> None:
        """A paragraph of texts and (text, style) pairs after ``lead``.

        Continued lines stand under the first character after ``lead``, ``hang`` columns further.
        """
        room = self._width - len(lead) - hang
        margin = lead
        for line in Text.assemble(*parts).wrap(self._console, room):
            line.rstrip()
            self._console.print(Text(margin) + line, soft_wrap=True)
            margin = " " * (len(lead) + hang)

    def blank(self) -> None:
        self._out.write("\n")

    def text(self) -> str:
        return self._out.getvalue()


def _write_file(
    page: _Page, file: FileReport, cards: Mapping[str, RuleCard], detail: Detail
) -> None:
    page.write("", (visible(file.file, detail.path), "bold"))
    for label, value in seen_lines(file, detail):
        page.write(f"  {label:<{_LABEL_WIDTH}}", value)
    if file.unreadable is not None:
        page.write("  ", ("cannot be judged: ", "bold red"), visible(file.unreadable, detail.prose))
    _write_findings(page, file, cards, detail)
    _write_skipped(page, file, detail)


def _write_findings(
    page: _Page, file: FileReport, cards: Mapping[str, RuleCard], detail: Detail
) -> None:
    counts = tally((file,))
    listing = shown(file, detail)
    for verdict, findings in groupby(listing.findings, key=lambda finding: finding.verdict):
        page.blank()
        page.write("  ", (f"{counted(counts[verdict], verdict)}:", _STYLE[verdict]))
        for _, same_rule in groupby(findings, key=lambda finding: finding.rule):
            _write_rule(page, tuple(same_rule), cards, detail)
    if listing.left_out:
        page.blank()
        page.write("  ", f"{counted(listing.left_out, 'further finding')} not listed")


def _write_rule(
    page: _Page, findings: tuple[Finding, ...], cards: Mapping[str, RuleCard], detail: Detail
) -> None:
    head = findings[0]
    rule, name = visible(head.rule, detail.name), visible(head.name, detail.name)
    page.write("  ", (rule, _STYLE[head.verdict]), " ", (name, "bold"), hang=2)
    for finding in findings:
        _write_finding(page, finding, detail)
    card = cards.get(head.rule)
    if card and detail.guidance:
        page.write("    fix: ", visible(card.fix, detail.prose))


def _write_finding(page: _Page, finding: Finding, detail: Detail) -> None:
    erratum = f" [erratum {visible(finding.erratum, detail.name)}]" if finding.erratum else ""
    much = how_much(finding)
    where = (place(finding, detail), "bold")
    page.write("    ", where, f": {much}" if much else "", erratum, hang=2)
    page.write("      ", visible(finding.message, detail.prose))
    if finding.expected:
        page.write("      expected: ", visible(finding.expected, detail.prose))
    for example in examples(finding, detail):
        page.write("      - ", example)
    if finding.elsewhere:
        page.write("      also at: ", elsewhere(finding, detail))
    if finding.sql:
        page.write("      sql: ", sql(finding.sql, detail))


def _write_skipped(page: _Page, file: FileReport, detail: Detail) -> None:
    groups = group_skipped(file.skipped)
    if not groups:
        return
    page.blank()
    page.write("  ", f"{counted(len(file.skipped), 'check')} skipped:")
    for group in groups[: detail.entries]:
        rules = _rules(group.rules, detail)
        reason = visible(group.reason, detail.prose)
        page.write("  ", f"{rules} at {counted(group.places, 'place')}: {reason}", hang=2)
    if len(groups) > detail.entries:
        page.write("  ", f"{counted(len(groups) - detail.entries, 'further reason')} not listed")


def _rules(rules: Iterable[str], detail: Detail) -> str:
    every = tuple(rules)
    first = [visible(rule, detail.name) for rule in every[: detail.entries]]
    return listed(first, len(every) - len(first), "rule")
