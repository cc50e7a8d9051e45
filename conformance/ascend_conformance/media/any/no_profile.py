"""What is found where a profile was looked for, and is none."""

from __future__ import annotations

from typing import NamedTuple

from ...engine.candidate import Candidate
from ...engine.failure import rule_that_finds
from ...finding import FileReport
from ...options import Options


class NoProfile(NamedTuple):
    """What it is and what helps, in ``words``.

    finds: what the rule on it finds; ``None`` for a file that was given and cannot be judged.
    helps: what its finding states beyond the summary of the rule.
    """

    words: str
    finds: str | None = None
    helps: str = ""


def judge(candidate: Candidate, options: Options) -> FileReport:
    """The finding on it; it is not read."""
    details: NoProfile = candidate.details
    label = candidate.label
    if details.finds is None:
        return FileReport(label, None, (), unreadable=f"{label}: {details.words}")
    rule = rule_that_finds(details.finds)
    said = f"{rule.summary.rstrip('.')}; {details.helps}" if details.helps else rule.summary
    findings = (rule.finding(label, said),) if options.selection.wants(rule) else ()
    return FileReport(label, None, findings, rules_run=1, places_checked=1)
