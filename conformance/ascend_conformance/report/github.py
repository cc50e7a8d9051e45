"""Workflow commands of GitHub Actions: one annotation per finding, one notice with the conclusion.

``violation`` becomes an error, ``advice`` a warning, ``note`` a notice. No line is named, because
a database has none. GitHub itself shows only the first annotations of each kind per step.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascend_conformance.finding import FileReport, Finding, Report, Verdict

from .card import RuleCard
from .collapse import collapse, shown, sort_key
from .detail import FULL, Detail
from .escape import visible
from .phrases import conclusion, conformity
from .sentences import paragraph, subject

_COMMAND: Mapping[Verdict, str] = {"violation": "error", "advice": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(report: Report, cards: Mapping[str, RuleCard], detail: Detail = FULL) -> str:
    """One command per line; the most serious findings of all files first."""
    files = collapse(report, detail.findings).files
    listings = [(file, shown(file, detail)) for file in files]
    lines = [_unreadable(file, detail) for file in files if file.unreadable is not None]
    findings = [finding for _, listing in listings for finding in listing.findings]
    lines += [_annotation(finding, cards, detail) for finding in sorted(findings, key=sort_key)]
    lines += [
        _command("notice", file.file, "ascend-ref", f"{listing.left_out:,} further findings", detail)
        for file, listing in listings
        if listing.left_out
    ]
    failed = conformity(report.files) != "conforms"
    lines.append(f"::{'error' if failed else 'notice'} title=ascend-ref::{conclusion(report)}")
    return "\n".join(lines) + "\n"


def _annotation(finding: Finding, cards: Mapping[str, RuleCard], detail: Detail) -> str:
    message = "\n".join(paragraph(finding, cards.get(finding.rule), detail))
    title = subject(finding, detail)
    return _command(_COMMAND[finding.verdict], finding.file, title, message, detail)


def _unreadable(file: FileReport, detail: Detail) -> str:
    reason = visible(file.unreadable or "", detail.prose)
    return _command("error", file.file, "cannot be judged", reason, detail)


def _command(command: str, file: str, title: str, message: str, detail: Detail) -> str:
    path = visible(file.replace("\\", "/"), detail.path).translate(_PROPERTY)
    return f"::{command} file={path},title={title.translate(_PROPERTY)}::{message.translate(_DATA)}"
