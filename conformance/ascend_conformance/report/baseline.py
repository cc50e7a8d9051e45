"""Findings that are known, and findings that must come: judging a report against a list.

All functions work on the report as the engine made it, or on a folded one; the result is always
unfolded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ascend_conformance.finding import VERDICTS, Finding, Report, Verdict

from .collapse import unfold
from .errors import ReportError
from .escape import visible
from .identity import fingerprint
from .phrases import counted

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Outcome:
    """What remains of a report after the known and the expected findings are taken out.

    ``absent`` are the patterns of the expectation file that no finding answered.
    """

    report: Report
    in_baseline: int = 0
    as_expected: int = 0
    absent: tuple[str, ...] = ()

    def fails(self, fail_on: Verdict | None) -> bool:
        """A remaining finding of ``fail_on`` or graver (``None``: of any), or an absent one."""
        grave = VERDICTS if fail_on is None else VERDICTS[: VERDICTS.index(fail_on) + 1]
        return bool(self.absent) or any(one.verdict in grave for one in self.report.findings)

    def remarks(self) -> tuple[str, ...]:
        """Lines to show after the report."""
        lines: list[str] = []
        if self.in_baseline:
            lines.append(f"{counted(self.in_baseline, 'finding')} in baseline")
        if self.as_expected:
            lines.append(f"{counted(self.as_expected, 'finding')} as expected")
        lines += (f"expected but absent: {visible(pattern, _SHOWN)}" for pattern in self.absent)
        return tuple(lines)


def judge(
    report: Report,
    baseline: frozenset[str] = frozenset(),
    expected: tuple[str, ...] = (),
) -> Outcome:
    """Take out the findings in ``baseline`` first, then those that ``expected`` names."""
    known = without_known(report, baseline)
    outcome = against_expected(known.report, expected)
    return replace(outcome, in_baseline=known.in_baseline)


def without_known(report: Report, baseline: frozenset[str]) -> Outcome:
    """The report without the findings whose fingerprint is in ``baseline``."""
    remaining, dropped = _sieve(report, lambda finding: fingerprint(finding) in baseline)
    return Outcome(remaining, in_baseline=dropped)
