"""The sentences and numbers that several formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from ascend_conformance.finding import OF_FILES, VERDICTS, FileReport, Question, Report, Verdict

from .collapse import places

Conformity = Literal["conforms", "does not conform", "not judged"]

LEVEL: Mapping[Verdict, str] = {
    "failure": "error",
    "violation": "error",
    "advice": "warning",
    "note": "note",
}
"""How grave a verdict is for services that judge code."""

_IN_WORDS: Mapping[Question, Mapping[str, str]] = {
    "conformity": {},
    "difference": {
        "conforms": "equal",
        "does not conform": "different",
        "not judged": "not compared",
        "violation": "difference",
    },
    "change": {
        "conforms": "nothing breaks unannounced",
        "does not conform": "breaks",
    },
    "source": {
        "conforms": "spec and source agree",
        "does not conform": "spec and source differ",
        "violation": "difference",
    },
}
"""Words for conclusions and verdicts, where they are others than those for conformity."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "us"))


def counted(count: int, noun: str) -> str:
    """``no note``, ``1 note``, ``1,204 notes``; advice has no plural."""
    if count == 0:
        return f"no {noun}"
    plural = noun if noun.endswith("advice") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def tally(files: tuple[FileReport, ...]) -> Mapping[Verdict, int]:
    """Number of places per verdict, of failures only where there is one; folding changes none.

    Findings with a cause do not count: it does.
    """
    counts = Counter[Verdict]()
    for finding in (one for file in files for one in file.findings if one.cause is None):
        counts[finding.verdict] += places(finding)
    return {one: counts[one] for one in VERDICTS if counts[one] or one in OF_FILES}


def conformity(files: tuple[FileReport, ...]) -> Conformity:
    """A violation condemns; without one, what could not be judged leaves the case open."""
    return conformity_by(tally(files), files)


def conformity_by(counts: Mapping[Verdict, int], files: Sequence[FileReport]) -> Conformity:
    """:func:`conformity` where the tally of the files is known."""
    if counts["violation"]:
        return "does not conform"
    if not files or "failure" in counts or any(file.unreadable is not None for file in files):
        return "not judged"
    return "conforms"


def conclusion(report: Report) -> str:
    """The last line of a report: ``conforms: no violation, 3 advice, 2 notes``."""
    if not report.files:
        return f"{in_words(report, 'not judged')}: no file"
    counts = tally(report.files)
    unreadable = sum(file.unreadable is not None for file in report.files)
    skipped = sum(len(file.skipped) for file in report.files)
    named = (counted(count, in_words(report, verdict)) for verdict, count in counts.items())
    remarks = [", ".join(named)]
    follow = sum(places(one) for one in report.findings if one.cause is not None)
    if follow:
        remarks.append(f"{counted(follow, 'further finding')} of the same cause")
    if unreadable:
        remarks.append(
            f"{unreadable:,} of {counted(len(report.files), 'file')} could not be judged"
        )
    if skipped:
        remarks.append(f"{counted(skipped, 'check')} skipped")
    words = in_words(report, conformity_by(counts, report.files))
    return f"{words}: {'; '.join(remarks)}"


def in_words(report: Report, word: Conformity | Verdict) -> str:
    """A conclusion or a verdict, as the question of the report has it."""
    return _IN_WORDS[report.question].get(word, word)


def time_span(start_ns: int | None, end_ns: int | None) -> str | None:
    """Start as a date in UTC and the length in the unit that suits it."""
    if start_ns is None or end_ns is None:
        return None if start_ns is None else f"from {moment(start_ns)}"
    return f"{moment(start_ns)}, {duration(end_ns - start_ns)}"


def moment(ns: int) -> str:
    """Nanoseconds of Unix time as a date, or as they are beyond the calendar's years."""
    seconds, rest = divmod(ns, 10**9)
    try:
        date = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    except OverflowError:
        return f"{ns:,} ns"
    return f"{date.isoformat(sep=' ')}.{rest // 10**6:03d} UTC"


def duration(ns: int) -> str:
    """A length of time with three decimals, in minutes and hours where seconds say little."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    minutes, rest = divmod(ns, 60 * 10**9)
    if minutes >= 120:
        return f"{sign}{minutes // 60:,} h {minutes % 60} min"
    if minutes >= 2:
        return f"{sign}{minutes} min {rest // 10**9} s"
    for size, unit in _UNITS:
        if ns >= size:
            whole, part = divmod(ns, size)
            return f"{sign}{whole}.{part * 1000 // size:03d} {unit}"
    return f"{sign}{ns} ns"


def enumerated(items: list[str], left_out: int, noun: str) -> str:
    """``a, b and 12 further places``."""
    text = ", ".join(items)
    if not left_out:
        return text
    further = counted(left_out, f"further {noun}")
    return f"{text} and {further}" if text else further
