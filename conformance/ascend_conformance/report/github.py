"""Workflow commands of GitHub Actions: one annotation per finding, one notice with the conclusion.

``failure`` and ``violation`` become an error, ``advice`` a warning, ``note`` a notice. A line is
named in text deliverables; a database has none. GitHub itself shows only the first annotations of
each kind per step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ascend_conformance.finding import Finding, Report, Verdict

from .card import RuleCard
from .collapse import collapse, shown, sort_key
from .detail import FULL, Detail
from .escape import visible
from .phrases import conclusion, conformity, counted
from .sentences import paragraph, subject, unreadable

_COMMAND: Mapping[Verdict, str] = {
    "failure": "error",
    "violation": "error",
    "advice": "warning",
    "note": "notice",
}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(report: Report, cards: Mapping[str, RuleCard], detail: Detail = FULL) -> Iterator[str]:
    """One command per line: unreadable files, findings of all files by verdict, conclusion."""
    files = collapse(report, detail.findings).files
    listings = [(file, shown(file, detail)) for file in files]
    for file in files:
        if file.unreadable is not None:
            reason = unreadable(file, detail)
            yield _command("error", file.file, "cannot be judged", reason, detail)
    findings = [finding for _, listing in listings for finding in listing.findings]
    for finding in sorted(findings, key=sort_key):
        yield _annotation(finding, cards, detail)
    for file, listing in listings:
        if listing.left_out:
            message = f"{counted(listing.left_out, 'further finding')} not listed"
            yield _command("notice", file.file, "ascend-ref", message, detail)
    command = "notice" if conformity(report.files) == "conforms" else "error"
    yield f"::{command} title=ascend-ref::{conclusion(report)}\n"


def _annotation(finding: Finding, cards: Mapping[str, RuleCard], detail: Detail) -> str:
    message = "\n".join(paragraph(finding, cards.get(finding.rule), detail))
    title = subject(finding, detail)
    command = _COMMAND[finding.verdict]
    return _command(command, finding.file, title, message, detail, finding.line)


def _command(
    command: str, file: str, title: str, message: str, detail: Detail, line: int | None = None
) -> str:
    path = visible(file.replace(os.sep, "/"), detail.path).translate(_PROPERTY)
    at = "" if line is None else f",line={line}"
    place = f"file={path}{at},title={title.translate(_PROPERTY)}"
    return f"::{command} {place}::{message.translate(_DATA)}\n"
