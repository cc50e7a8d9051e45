"""GitHub-flavoured Markdown, for job summaries and issue comments.

Texts out of the judged file are shown as code. What could leave its table cell, open a tag, link,
mention a person or refer to an issue is written as a character reference or broken by a
zero-width space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ascend_conformance.finding import FileReport, Finding, Report

from .collapse import Listed, listed
from .detail import Detail, Rules
from .escape import visible
from .phrases import conclusion, counted
from .seen_lines import seen_lines
from .sentences import fact, not_listed, parts, place, skipped_by_reason, unreadable

_HEAD = ("| verdict | rule | place | finding |", "| --- | --- | --- | --- |")
# ASCII punctuation that starts markup somewhere; as a character reference it starts none.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#+!|~$&@^]")
_PLAIN_CODE = re.compile(r"(?! )[^`|\\]+(?<! )")
# Mentions, issue references and bare links are found in the text after references are resolved.
_LINKING = re.compile(r"&#64;|&#35;|(?<=:)//|(?<=www)\.|\bGH-", re.IGNORECASE)
_BREAK = "&#8203;"


def render(report: Report, rules: Rules, detail: Detail) -> Iterator[str]:
    """The conclusion in bold, then a section per file."""
    yield f"**{conclusion(report)}**\n"
    for one in listed(report, detail):
        yield "\n"
        yield from (f"{line}\n" for line in _section(one, rules, detail))


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


def _section(one: Listed, rules: Rules, detail: Detail) -> Iterator[str]:
    file = one.file
    yield f"## {code(visible(file.file, detail.path))}"
    yield ""
    if file.unreadable is not None:
        yield f"- cannot be judged: {_prose(unreadable(file, detail))}"
    for label, value in seen_lines(file, detail):
        yield f"- {label}: {_prose(value)}"
    if one.findings:
        yield ""
        yield from _HEAD
        yield from (_row(finding, detail) for finding in one.findings)
    if one.left_out:
        yield ""
        yield f"{not_listed(one)}."
    if detail.guidance:
        yield from _remedies(one.findings, rules, detail)
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
    for label, text in parts(finding, None, detail):
        yield f"{label}: {_prose(text) if label == 'also at' else code(text)}"


def _remedies(findings: tuple[Finding, ...], rules: Rules, detail: Detail) -> Iterator[str]:
    found = dict.fromkeys(finding.rule for finding in findings if finding.rule in rules)
    if found:
        yield ""
        yield "How to fix:"
        yield ""
    for name in found:
        fix = _prose(visible(rules[name].fix, detail.prose))
        yield f"- {_prose(visible(name, detail.name))}: {fix}"


def _skipped(file: FileReport, detail: Detail) -> Iterator[str]:
    if not file.skipped:
        return
    groups, further = skipped_by_reason(file, detail)
    yield ""
    yield f"{counted(len(file.skipped), 'check')} skipped:"
    yield ""
    for rules, reason in groups:
        yield f"- {_prose(rules)}: {_prose(reason)}"
    if further:
        yield f"- {counted(further, 'further reason')} not listed"
