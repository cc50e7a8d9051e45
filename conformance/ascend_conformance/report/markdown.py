"""GitHub-flavoured Markdown, for job summaries and issue comments.

Texts out of the judged file are shown as code. What could leave its table cell, open a tag, link,
mention a person or refer to an issue is written as a character reference or broken by a
zero-width space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ascend_conformance.finding import FileReport, Finding, Report

from .card import RuleCard
from .collapse import collapse, shown
from .detail import FULL, Detail
from .escape import visible
from .phrases import conclusion, counted
from .seen_lines import seen_lines
from .sentences import elsewhere, examples, fact, place, sql, unreadable
from .skips import group_skipped

_HEAD = ("| verdict | rule | place | finding |", "| --- | --- | --- | --- |")
# ASCII punctuation that starts markup somewhere; as a character reference it starts none.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#+!|~$&@^]")
_PLAIN_CODE = re.compile(r"(?! )[^`|\\]+(?<! )")
# Mentions, issue references and bare links are found in the text after references are resolved.
_LINKING = re.compile(r"&#64;|&#35;|(?<=:)//|(?<=www)\.|\bGH-", re.IGNORECASE)
_BREAK = "&#8203;"


def render(report: Report, cards: Mapping[str, RuleCard], detail: Detail = FULL) -> Iterator[str]:
    """The conclusion in bold, then a section per file."""
    yield f"**{conclusion(report)}**\n"
    for file in collapse(report, detail.findings).files:
        yield "\n"
        yield from (f"{line}\n" for line in _section(file, cards, detail))


def code(text: str) -> str:
    """A visible text as code that no content can end, also inside a table cell."""
    if _PLAIN_CODE.fullmatch(text):
        return f"`{text}`"
    return f"<code>{_inert(text)}</code>"


def _prose(text: str) -> str:
    return _LINKING.sub(lambda match: _broken(match.group()), _inert(text))


def _inert(text: str) -> str:
    return _MARKUP.sub(lambda match: f"&#{ord(match.group())};", text)


def _broken(link: str) -> str:
    return _BREAK + link if link in {"//", "."} else link + _BREAK


def _section(file: FileReport, cards: Mapping[str, RuleCard], detail: Detail) -> Iterator[str]:
    yield f"## {code(visible(file.file, detail.path))}"
    yield ""
    if file.unreadable is not None:
        yield f"- cannot be judged: {_prose(unreadable(file, detail))}"
    for label, value in seen_lines(file, detail):
        yield f"- {label}: {_prose(value)}"
    listing = shown(file, detail)
    if listing.findings:
        yield ""
        yield from _HEAD
        yield from (_row(finding, detail) for finding in listing.findings)
    if listing.left_out:
        yield ""
        yield f"{counted(listing.left_out, 'further finding')} not listed."
    if detail.guidance:
        yield from _remedies(listing.findings, cards, detail)
    yield from _skipped(file, detail)


def _row(finding: Finding, detail: Detail) -> str:
    rule = (
        f"{_prose(visible(finding.rule, detail.name))} {code(visible(finding.name, detail.name))}"
    )
    where = code(place(finding, detail)) if finding.place else place(finding, detail)
    cells = (finding.verdict, rule, where, "<br>".join(_facts(finding, detail)))
    return f"| {' | '.join(cells)} |"


def _facts(finding: Finding, detail: Detail) -> Iterator[str]:
    yield _prose(fact(finding, detail))
    if finding.expected:
        yield f"expected: {code(visible(finding.expected, detail.prose))}"
    for example in examples(finding, detail):
        yield f"example: {code(example)}"
    if finding.elsewhere:
        yield f"also at: {_prose(elsewhere(finding, detail))}"
    if finding.sql:
        yield f"sql: {code(sql(finding.sql, detail))}"


def _remedies(
    findings: tuple[Finding, ...], cards: Mapping[str, RuleCard], detail: Detail
) -> Iterator[str]:
    rules = dict.fromkeys(finding.rule for finding in findings if finding.rule in cards)
    if rules:
        yield ""
        yield "How to fix:"
        yield ""
    for rule in rules:
        fix = _prose(visible(cards[rule].fix, detail.prose))
        yield f"- {_prose(visible(rule, detail.name))}: {fix}"


def _skipped(file: FileReport, detail: Detail) -> Iterator[str]:
    groups = group_skipped(file.skipped)
    if not groups:
        return
    yield ""
    yield f"{counted(len(file.skipped), 'check')} skipped:"
    yield ""
    for group in groups[: detail.entries]:
        rules = ", ".join(visible(rule, detail.name) for rule in group.rules[: detail.entries])
        reason = _prose(visible(group.reason, detail.prose))
        yield f"- {_prose(rules)}: {reason}"
    if len(groups) > detail.entries:
        yield f"- {counted(len(groups) - detail.entries, 'further reason')} not listed"
