"""Two profiles compared: ``diff(a, b)``, as a report whose findings are the differences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from ascend_ref import __version__
from ascend_ref.db.open import UnreadableDatabase

from ..compare.agreement import WHICH, Which
from ..engine.failure import rule_that_finds
from ..finding import FileReport, Finding, Report, Scalar
from ..options import Options
from . import databases, texts
from .files import DatabaseTable, tables_of
from .pairing import Difference, Example
from .private import private_differences
from .sides import Recording, pairs, recordings_of

SIDES = ("A", "B")
"""What words call the sides."""

Progress = Callable[[int, int, str], None]


def diff(
    left: Path, right: Path, options: Options | None = None, progress: Progress | None = None
) -> Report:
    """Compare two profiles, files or folders, by meaning; every difference is a finding.

    Of several recordings in a folder those of the same rank belong together. What cannot be read is
    part of the report (``FileReport.unreadable``). Raises :class:`..discover.NothingToCheck`.
    """
    chosen = options or Options()
    found = list(pairs(recordings_of(left), recordings_of(right)))
    reports: list[FileReport] = []
    for done, (one, other) in enumerate(found):
        if progress and (shown := one or other):
            progress(done, len(found), shown.path.name)
        reports.append(_compared(one, other, chosen))
    return Report(tuple(reports), __version__, chosen.reading, "difference")


def _compared(left: Recording | None, right: Recording | None, options: Options) -> FileReport:
    started = time.perf_counter()
    shown = right or left
    if shown is None:
        raise ValueError("no recording")
    found: list[Difference] = []
    unreadable: str | None = None
    if left is None or right is None:
        what, lacking = ("absent", "B") if right is None else ("added", "A")
        words = f"{lacking} has no such recording"
        found = [Difference(f"{what} file", shown.name, "", None, 1, 1, words)]
    else:
        try:
            found = [*_of_databases(left, right, options), *_of_texts(left, right, options)]
        except UnreadableDatabase as problem:
            unreadable = str(problem)
    findings = [_finding(one, shown.label, options) for one in found]
    return FileReport(
        shown.label,
        None,
        tuple(one for one in findings if one is not None),
        places_checked=len(found),
        seconds=time.perf_counter() - started,
        unreadable=unreadable,
    )


def _finding(one: Difference, label: str, options: Options) -> Finding | None:
    """A difference as a finding; ``None`` for one that nobody asked for."""
    rule = rule_that_finds(f"{one.what} of two profiles")
    if not options.selection.wants(rule):
        return None
    first = one.examples[0].places if one.examples else {}
    places = ", ".join(f"{first[which]} of {side}" for which, side in _sides() if which in first)
    at = f" ({'first: ' if one.count > 1 else ''}{places})" if places else ""
    message = f"{rule.counted(one.count, one.total)}; {one.words}{at}"
    return replace(
        rule.finding(label, message, one.count, one.total),
        table=one.place or None,
        column=one.column,
        examples=tuple(map(_shown, one.examples[: options.max_examples])),
        context={"count": one.count, "rows": one.total},
    )


def _sides() -> Iterator[tuple[Which, str]]:
    return zip(WHICH, SIDES, strict=True)


def _shown(one: Example) -> Mapping[str, Scalar]:
    """The values of an example by side and column, and the places of its rows."""
    found: dict[str, Scalar] = {}
    for which, side in _sides():
        if which in one.places:
            found[side] = one.places[which]
        found |= {f"{side} {name}": _scalar(it) for name, it in one.values.get(which, {}).items()}
    return found


def _scalar(value: Any) -> Scalar:
    return value if value is None or isinstance(value, int | float | str) else str(value)


def _of_databases(left: Recording, right: Recording, options: Options) -> Iterator[Difference]:
    ours, theirs = ([one.path for one in some.of("db")] for some in (left, right))
    if not ours or not theirs:
        return
    examples = max(options.max_examples, 1)
    found = databases.differences(
        [*_tables(ours)],
        [*_tables(theirs)],
        sides=SIDES,
        output=databases.output_of([*ours, *theirs]),
        examples=examples,
        clocks=True,
    )
    for one in found:
        yield replace(one, place=one.feature)
    yield from private_differences(ours, theirs, SIDES, examples)


def _tables(paths: Sequence[Path]) -> Iterator[DatabaseTable]:
    for path in paths:
        try:
            yield from [DatabaseTable(path, name) for name in tables_of(path)]
        except apsw.Error as problem:
            raise UnreadableDatabase(path, f"{problem}; expected a database") from problem


def _of_texts(left: Recording, right: Recording, options: Options) -> Iterator[Difference]:
    ours, theirs = (
        [one for candidate in some.of("text") for one in candidate.details.deliverables]
        for some in (left, right)
    )
    if ours and theirs:
        yield from texts.differences(
            ours,
            theirs,
            sides=SIDES,
            numbered=("connection_id",),
            examples=max(options.max_examples, 1),
            clocks=True,
        )
