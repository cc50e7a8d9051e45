"""Workflow commands of GitHub Actions: one annotation per finding, one notice with the conclusion.

``failure`` and ``violation`` become an error, ``advice`` a warning, ``note`` a notice. A line is
named in text deliverables; a database has none. GitHub itself shows only the first annotations of
each kind per step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ascend_conformance.finding import Report

from .collapse import listed, sort_key
from .detail import Detail, Rules
from .escape import visible
from .phrases import LEVEL, conclusion, conformity
from .sentences import not_listed, paragraph, subject, unreadable

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(report: Report, rules: Rules, detail: Detail) -> Iterator[str]:
    """One command per line: unreadable files, findings of all files by verdict, conclusion."""
    files = listed(report, detail)
    for one in files:
        if one.file.unreadable is not None:
            reason = unreadable(one.file, detail)
            yield _command("error", one.file.file, "cannot be judged", reason, detail)
    findings = [finding for one in files for finding in one.findings]
    for finding in sorted(findings, key=sort_key):
        message = "\n".join(paragraph(finding, rules.get(finding.rule), detail))
        title, level = subject(finding, detail), LEVEL[finding.verdict]
        command = "notice" if level == "note" else level
        yield _command(command, finding.file, title, message, detail, finding.line)
    for one in files:
        if one.left_out:
            yield _command("notice", one.file.file, "ascend-ref", not_listed(one), detail)
    command = "notice" if conformity(report.files) == "conforms" else "error"
    yield f"::{command} title=ascend-ref::{conclusion(report)}\n"


def _command(
    command: str, file: str, title: str, message: str, detail: Detail, line: int | None = None
) -> str:
    path = visible(file.replace(os.sep, "/"), detail.path).translate(_PROPERTY)
    at = "" if line is None else f",line={line}"
    place = f"file={path}{at},title={title.translate(_PROPERTY)}"
    return f"::{command} {place}::{message.translate(_DATA)}\n"
