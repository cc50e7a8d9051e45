"""Two profiles compared: ``diff(a, b)``, as a report whose findings are the differences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ascend_ref import __version__
from ascend_ref.db.open import UnreadableDatabase
from ascend_ref.raw import Unreadable

from ..finding import FileReport, Report, Skipped
from ..media import NO_PROFILE
from ..options import Options
from .answer import Answer
from .comparing import COMPARERS, comparable_across, compare_across
from .exported import alike
from .pairing import Difference
from .sides import Recording, pairs, recordings_of
from .stating import SIDES, findings, rule_of

Progress = Callable[[int, int, str], None]

_ONLY = {"A": "absent file", "B": "added file"}
"""What only one side has, as rules call it."""


def diff(
    left: Path, right: Path, options: Options | None = None, progress: Progress | None = None
) -> Report:
    """Compare two profiles, files or folders, by meaning; every difference is a finding.

    Of several recordings in a folder those of the same rank belong together. The report has a part
    for each medium of each of them; what of it was not compared is skipped there, with the reason,
    and where nothing could be compared it is unreadable. Raises :class:`..discover.NothingToCheck`.
    """
    chosen = options or Options()
    found = list(pairs(recordings_of(left), recordings_of(right)))
    reports: list[FileReport] = []
    for done, (one, other) in enumerate(found):
        if progress and (shown := one or other):
            progress(done, len(found), shown.path.name)
        reports += _compared(one, other, chosen)
    return Report(tuple(reports), __version__, chosen.reading, "difference")


def _compared(
    left: Recording | None, right: Recording | None, options: Options
) -> Iterator[FileReport]:
    if left is None or right is None:
        yield _alone(left, right, options)
        return
    try:
        with alike(left, right) as sides:
            found = list(_of_both(sides.left, sides.right, options))
    except Unreadable as problem:
        yield FileReport(right.label, None, (), unreadable=str(problem))
        return
    lost = (Skipped(rule_of(_ONLY["A"]).id, right.label, one) for one in sides.lost)
    yield replace(found[0], skipped=(*found[0].skipped, *lost))
    yield from found[1:]


def _of_both(left: Recording, right: Recording, options: Options) -> Iterator[FileReport]:
    held = [{one.medium for one in side.candidates} - {NO_PROFILE} for side in (left, right)]
    common = [medium for medium in COMPARERS if all(medium in media for media in held)]
    reports = [_of_medium(medium, left, right, options) for medium in common]
    across = list(comparable_across(left, right, common))
    reports += [_across(pair, left, right, options) for pair in across]
    done = {*common, *(medium for pair in across for medium in pair)}
    unpaired = list(_unpaired(left, right, done))
    if not reports:
        known = (", ".join(_media(side)) or "nothing known" for side in (left, right))
        reasons = " with ".join(known)
        yield FileReport(
            right.label, None, (), unreadable=f"{right.label}: {reasons} cannot be compared"
        )
        return
    yield replace(reports[0], skipped=(*reports[0].skipped, *unpaired))
    yield from reports[1:]


def _media(side: Recording) -> Sequence[str]:
    return sorted({one.medium for one in side.candidates})


def _alone(left: Recording | None, right: Recording | None, options: Options) -> FileReport:
    shown, what, lacking = (left, "absent", "B") if left else (right, "added", "A")
    if shown is None:
        raise ValueError("no recording")
    words = f"{lacking} has no such recording"
    one = Difference(f"{what} file", shown.name, "", None, 1, 1, words)
    return FileReport(shown.label, None, findings(iter([one]), shown.label, options))


def _unpaired(left: Recording, right: Recording, done: set[str]) -> Iterator[Skipped]:
    """What is compared with nothing, each with the reason."""
    for side, one, other in (("A", left, right), ("B", right, left)):
        for candidate in one.candidates:
            if candidate.medium in done:
                continue
            reason = f"{candidate.label} is not compared: "
            if candidate.medium == NO_PROFILE:
                reason += str(candidate.details.words)
            elif other.of(candidate.medium):
                reason += f"what is in {candidate.medium} files cannot be compared"
            else:
                reason += f"nothing of {SIDES[SIDES[0] == side]} shows the same"
            yield Skipped(rule_of(_ONLY[side]).id, candidate.label, reason)


def _label(side: Recording, medium: str) -> str:
    """What reports call the files of a medium: the only one, or the folder of several."""
    some = side.of(medium)
    return some[0].label if len(some) == 1 else side.label


def _of_medium(medium: str, left: Recording, right: Recording, options: Options) -> FileReport:
    label = _label(right, medium)
    return _answered(
        label, options, lambda: COMPARERS[medium](left.of(medium), right.of(medium), options)
    )


def _across(
    pair: tuple[str, str], left: Recording, right: Recording, options: Options
) -> FileReport:
    label = _label(right, pair[1])
    return _answered(
        label,
        options,
        lambda: compare_across(left.of(pair[0]), right.of(pair[1]), options),
    )


def _answered(label: str, options: Options, ask: Callable[[], Answer]) -> FileReport:
    started = time.perf_counter()
    try:
        answer = ask()
    except UnreadableDatabase as problem:
        return FileReport(label, None, (), unreadable=str(problem))
    return FileReport(
        label,
        None,
        (*findings(iter(answer.differences), label, options), *answer.findings),
        skipped=tuple(answer.skipped),
        places_checked=answer.places,
        seconds=time.perf_counter() - started,
        unreadable=answer.unreadable,
    )
