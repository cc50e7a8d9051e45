"""The whole report for people: what was seen in each file, the findings, the conclusion."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ascend_conformance.finding import FileReport, Finding, Report

from .collapse import Listed, listed
from .detail import FULL, Detail, Rules
from .escape import visible
from .layout import BLANK, CONCLUSION_STYLE, STYLE, Layout, Paragraph
from .phrases import conclusion, conformity, counted, in_words, tally
from .seen_lines import seen_lines
from .sentences import fact, not_listed, parts, place, skipped_by_reason, unreadable

_LABEL_WIDTH = 10


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
    layout = Layout(width, colour)
    for one in listed(report, detail):
        yield from map(layout.lines, _file(report, one, rules, detail))
        yield layout.lines(BLANK)
    last = conclusion(report), CONCLUSION_STYLE[conformity(report.files)]
    yield layout.lines(Paragraph("", (last,)))


def _file(report: Report, one: Listed, rules: Rules, detail: Detail) -> Iterator[Paragraph]:
    file = one.file
    yield Paragraph("", ((visible(file.file, detail.path), "bold"),))
    for label, value in seen_lines(file, detail):
        yield Paragraph(f"  {label:<{_LABEL_WIDTH}}", (value,))
    if file.unreadable is not None:
        reason = unreadable(file, detail)
        yield Paragraph("  ", (("cannot be judged: ", "bold red"), reason))
    yield from _findings(report, one, rules, detail)
    yield from _skipped(file, detail)


def _findings(report: Report, one: Listed, rules: Rules, detail: Detail) -> Iterator[Paragraph]:
    counts = tally((one.file,))
    for verdict, findings in groupby(one.findings, key=lambda finding: finding.verdict):
        yield BLANK
        number = counted(counts[verdict], in_words(report, verdict))
        yield Paragraph("  ", ((f"{number}:", STYLE[verdict]),))
        for _, same_rule in groupby(findings, key=lambda finding: (finding.rule, finding.cause)):
            yield from _rule(tuple(same_rule), rules, detail)
    if one.left_out:
        yield BLANK
        yield Paragraph("  ", (not_listed(one),))


def _rule(findings: tuple[Finding, ...], rules: Rules, detail: Detail) -> Iterator[Paragraph]:
    head = findings[0]
    rule = visible(head.rule, detail.name), STYLE[head.verdict]
    follows = f", follows from {visible(head.cause, detail.name)}" if head.cause else ""
    yield Paragraph("  ", (rule, " ", (visible(head.name, detail.name), "bold"), follows), hang=2)
    one_expectation = len({finding.expected for finding in findings}) == 1
    for finding in findings:
        yield from _finding(finding, detail)
        if not one_expectation:
            yield from _expected("      ", finding, detail)
    if one_expectation:
        yield from _expected("    ", head, detail)
    if head.rule in rules and detail.guidance:
        yield Paragraph("    fix: ", (visible(rules[head.rule].fix, detail.prose),))


def _finding(finding: Finding, detail: Detail) -> Iterator[Paragraph]:
    where = place(finding, detail), "bold"
    yield Paragraph("    ", (where, ": ", fact(finding, detail)), hang=2)
    for label, text in parts(finding, None, detail):
        if label not in ("expected", "follows from"):
            yield Paragraph("      - " if label == "example" else f"      {label}: ", (text,))


def _expected(indent: str, finding: Finding, detail: Detail) -> Iterator[Paragraph]:
    if finding.expected:
        yield Paragraph(f"{indent}expected: ", (visible(finding.expected, detail.prose),))


def _skipped(file: FileReport, detail: Detail) -> Iterator[Paragraph]:
    groups, further = skipped_by_reason(file, detail)
    if groups:
        yield BLANK
        yield Paragraph("  ", (f"{counted(len(file.skipped), 'check')} skipped:",))
    for rules, reason in groups:
        yield Paragraph("  ", (f"{rules}: {reason}",), hang=2)
    if further:
        yield Paragraph("  ", (f"{counted(further, 'further reason')} not listed",))
