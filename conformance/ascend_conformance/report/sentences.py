"""A finding as plain lines, for the formats that carry text inside a structure of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ascend_conformance.finding import FileReport, Finding, Scalar
from ascend_conformance.ruleset import Rule

from .collapse import Listed
from .detail import Detail
from .escape import scalar_text, visible
from .phrases import counted, enumerated


def subject(finding: Finding, detail: Detail) -> str:
    """``DB401 interval-ends-before-start at TASK.endNs``."""
    rule = f"{visible(finding.rule, detail.name)} {visible(finding.name, detail.name)}"
    return f"{rule} at {place(finding, detail)}" if finding.place else rule


def place(finding: Finding, detail: Detail) -> str:
    """The place, or words for the whole file."""
    return visible(finding.place, 2 * detail.name) or "the file"


def fact(finding: Finding, detail: Detail) -> str:
    """The message, which carries its numbers itself, and the erratum that it rests on."""
    message = visible(finding.message, detail.prose)
    if finding.erratum is None:
        return message
    return f"{message} (erratum {visible(finding.erratum, detail.name)})"


def paragraph(finding: Finding, rule: Rule[Any] | None, detail: Detail) -> Iterator[str]:
    """The fact and its parts, a line each."""
    yield fact(finding, detail)
    yield from (f"{label}: {text}" for label, text in parts(finding, rule, detail))


def parts(finding: Finding, rule: Rule[Any] | None, detail: Detail) -> Iterator[tuple[str, str]]:
    """The cause, the expected, the changes of the schema, the readers that are hurt, the examples,
    the further places, the remedy and the query, each labelled.
    """
    if finding.cause:
        yield "follows from", visible(finding.cause, detail.name)
    if finding.expected:
        yield "expected", visible(finding.expected, detail.prose)
    for change in finding.changes:
        yield "changed", visible(change, detail.prose)
    for reader in finding.hurts:
        yield "hurts", visible(reader, detail.prose)
    for example in examples(finding, detail):
        yield "example", example
    if finding.elsewhere:
        yield "also at", _elsewhere(finding, detail)
    if rule and detail.guidance:
        yield "fix", visible(rule.fix, detail.prose)
    if finding.sql:
        lines = (line.strip() for line in finding.sql.splitlines())
        yield "sql", visible(" ".join(lines), detail.sql)


def examples(finding: Finding, detail: Detail) -> Iterator[str]:
    """Bad rows as ``rowid=88 startNs=2000 endNs=1000``."""
    for row in finding.examples[: detail.examples]:
        first = list(row.items())[: detail.pairs]
        pairs = [_pair(finding, key, value, detail) for key, value in first]
        yield " ".join(pairs) + (" ..." if len(row) > len(first) else "")


def _pair(finding: Finding, key: str, value: Scalar, detail: Detail) -> str:
    """``startNs=2000``; a string id with its text."""
    text = finding.texts.get(f"{key}={value}")
    behind = "" if text is None else f" ({scalar_text(text, detail.name)})"
    return f"{visible(key, detail.name)}={scalar_text(value, detail.name)}{behind}"


def _elsewhere(finding: Finding, detail: Detail) -> str:
    """``OSRT_API.endNs (4), CANN_API.endNs (1) and 12 further places``."""
    first = list(finding.elsewhere.items())[: detail.places]
    names = [f"{visible(where, 2 * detail.name)} ({count:,})" for where, count in first]
    return enumerated(names, len(finding.elsewhere) - len(first), "place")


def unreadable(file: FileReport, detail: Detail) -> str:
    """Why the file cannot be judged, without its own path, which stands next to it anyway."""
    reason = file.unreadable or "no reason given"
    return visible(reason.removeprefix(f"{file.file}: "), detail.prose)


def not_listed(one: Listed) -> str:
    """How many findings of a file are left out."""
    return f"{counted(one.left_out, 'further finding')} not listed"


def skipped_by_reason(file: FileReport, detail: Detail) -> tuple[list[tuple[str, str]], int]:
    """The rules that a reason kept from judging somewhere, and the reason; in the order of their
    first rule, and the number of further reasons.
    """
    by_reason: dict[str, set[str]] = {}
    for skip in file.skipped:
        by_reason.setdefault(skip.reason, set()).add(skip.rule)
    groups = sorted((sorted(rules), reason) for reason, rules in by_reason.items())
    most = detail.entries
    shown = [
        (names(rules, detail, "rule"), visible(reason, detail.prose))
        for rules, reason in groups[:most]
    ]
    return shown, len(groups) - len(shown)


def names(every: Iterable[str], detail: Detail, noun: str) -> str:
    """``TASK, CANN_API and 12 further tables``."""
    texts = tuple(every)
    first = [visible(text, detail.name) for text in texts[: detail.entries]]
    return enumerated(first, len(texts) - len(first), noun)
