"""What a report needs to know about a rule beyond the finding itself."""

from __future__ import annotations

from dataclasses import dataclass

from ascend_conformance.finding import Verdict


@dataclass(frozen=True, slots=True)
class RuleCard:
    """The prose of one rule; ``help_uri`` is the absolute address of its page, if it has one."""

    id: str
    name: str
    summary: str
    why: str
    fix: str
    verdict: Verdict
    help_uri: str | None = None
