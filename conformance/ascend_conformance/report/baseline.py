"""Findings that are known, and findings that must come: judging a report against a list.

These functions want the report as the engine made it; one that was folded is unfolded first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ascend_conformance.finding import OF_FILES, VERDICTS, Finding, Report, Verdict

from .collapse import sort_key, unfold
from .errors import ReportError, named
from .escape import visible
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

    def fails(self, fail_on: Verdict) -> bool:
        """Whether a finding as grave as ``fail_on`` remains, or an expected one is absent."""
        grave = VERDICTS[: VERDICTS.index(fail_on) + 1]
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
    """Take out the findings in ``baseline``, then those of the rest that ``expected`` names.

    A pattern of ``expected`` is ``rule@place``; ``rule`` is an id or a name, ``place`` is
    ``TABLE.column``, ``TABLE`` or nothing for the whole file, and ``*`` stands for any part of
    either.
    """
    known = 0
    answers: list[set[str]] = []
    files = []
    for file in report.files:
        kept = []
        for one in (one for finding in file.findings for one in unfold(finding)):
            if one.fingerprint in baseline:
                known += 1
            elif patterns := _patterns_of(one, expected):
                answers.append(patterns)
            else:
                kept.append(one)
        files.append(replace(file, findings=tuple(sorted(kept, key=sort_key))))
    answered = {pattern for patterns in answers for pattern in patterns}
    absent = dict.fromkeys(pattern for pattern in expected if pattern not in answered)
    return Outcome(replace(report, files=tuple(files)), known, len(answers), tuple(absent))


def _patterns_of(finding: Finding, patterns: tuple[str, ...]) -> set[str]:
    """Those that name the finding."""
    spellings = [f"{rule}@{finding.place}" for rule in (finding.rule, finding.name)]
    return {one for one in patterns if any(fnmatchcase(spelling, one) for spelling in spellings)}


def baseline_document(report: Report) -> str:
    """A baseline file of all findings on the files: a JSON list of fingerprints, sorted."""
    prints = {
        one.fingerprint
        for finding in report.findings
        if finding.verdict in OF_FILES
        for one in unfold(finding)
    }
    return json.dumps(sorted(prints), indent=1) + "\n"


def read_baseline(path: str | Path) -> frozenset[str]:
    """The fingerprints in a JSON report or in a JSON list of fingerprints.

    Raises :class:`ReportError` when the file is neither, or is a report that leaves findings out.
    """
    text = _read(path, "baseline")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: a number of too many digits
        raise ReportError(f"baseline {named(path)} is not JSON: {error}") from error
    if isinstance(document, list):
        return frozenset(_listed_prints(document, path))
    if isinstance(document, dict) and isinstance(document.get("files"), list):
        return frozenset(_reported_prints(document["files"], path))
    raise ReportError(f"baseline {named(path)} is neither a JSON report nor a list of fingerprints")


def read_expected(path: str | Path) -> tuple[str, ...]:
    """The patterns of an expectation file: one per line, ``#`` starts a comment line."""
    patterns = []
    for number, line in enumerate(_read(path, "expectation file").splitlines(), start=1):
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        if "@" not in pattern:
            found = visible(pattern, _SHOWN)
            raise ReportError(f"{named(path)}, line {number}: want rule@place, found {found!r}")
        patterns.append(pattern)
    return tuple(patterns)


def _read(path: str | Path, role: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReportError(f"{role} {named(path)} is not UTF-8") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ReportError(f"cannot read {role} {named(path)}: {reason}") from error


def _listed_prints(entries: list[Any], path: str | Path) -> Iterator[str]:
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, str) or not _FINGERPRINT.fullmatch(entry):
            raise ReportError(
                f"baseline {named(path)}: entry {number} is no fingerprint of 16 hex digits"
            )
        yield entry


def _reported_prints(files: list[Any], path: str | Path) -> Iterator[str]:
    try:
        for file in files:
            for finding in file["findings"]:
                yield from _listed_prints([finding["fingerprint"]], path)
                yield from _folded_prints(file["file"], finding)
            if _lacks_findings(file):
                raise ReportError(
                    f"baseline {named(path)} is a report that leaves findings out: "
                    "give a list of fingerprints instead"
                )
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"baseline {named(path)} has another shape than a JSON report") from error


def _folded_prints(file: str, finding: dict[str, Any]) -> Iterator[str]:
    head = Finding(finding["rule"], finding["name"], "note", file, message="", expected="")
    places = dict.fromkeys(finding.get("elsewhere", ()), 1)
    _, *folded = unfold(replace(head, elsewhere=places))
    yield from (one.fingerprint for one in folded)


def _lacks_findings(file: dict[str, Any]) -> bool:
    counts = [file.get("left_out", {}).get("findings", 0)]
    counts += (one.get("left_out", {}).get("elsewhere", 0) for one in file["findings"])
    return any(counts)
