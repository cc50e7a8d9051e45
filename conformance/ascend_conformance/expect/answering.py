"""Findings where a recording does not hold what is expected of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from ascend_spec import layout_catalog

from ..engine.failure import rule_that_finds
from ..engine.folders import framework_of, is_collection
from ..finding import FileReport, Finding
from ..held import Held, together
from .model import Expectation

_ADDED = re.compile(r"(_slice)?(_\d+)+$")
OF_EXPORTS = (".csv", ".json", ".db", ".bin")


def answer(expectation: Expectation, reports: Sequence[FileReport]) -> list[FileReport]:
    """The reports, the first one of each profile with what that does not meet."""
    judged = [one for one in reports if one.seen is not None]
    found: dict[str, list[Finding]] = {}
    profiles: dict[str, list[FileReport]] = {}
    for report in judged:
        profiles.setdefault(_profile(report.file), []).append(report)
    recordings = [files for files in profiles.values() if any(one.held for one in files)]
    # A file about one operator has neither steps nor ranks; alone it is not what is expected.
    for files in recordings or profiles.values():
        found.setdefault(files[0].file, []).extend(_unmet(expectation, files))
    missing = sorted({*expectation.numbers} - {rank for one in judged for rank in _ranks(one)})
    if missing and judged:
        words = f"{len(missing)} of {len(expectation.numbers)} ranks, first {missing[0]}"
        found[judged[0].file].append(_finding("ranks", judged[0].file, words, "rank", len(missing)))
    return [replace(one, findings=one.findings + tuple(found.pop(one.file, ()))) for one in reports]


def _ranks(report: FileReport) -> Sequence[int]:
    return () if report.seen is None else [one for one in report.seen.ranks if one >= 0]


def _profile(file: str) -> str:
    """The folder of a profile that a file belongs to: the one that a profiler named, or its own."""
    path = PurePath(file)
    for folder in (path, *path.parents):
        if framework_of(folder.name) or is_collection(folder.name):
            return str(folder)
    folder = path.parent if path.suffix in OF_EXPORTS else path
    return str(folder.parent if layout_catalog().is_folder("output", folder.name) else folder)


def _unmet(expectation: Expectation, reports: Sequence[FileReport]) -> Iterator[Finding]:
    """What one profile lacks; its findings stand with the first of its files."""
    file = reports[0].file
    held = together(one.held for one in reports if one.held is not None)
    for content in dict.fromkeys((*expectation.contents, *expectation.every_step)):
        if content not in held.contents:
            yield _finding(content, file, f"no {content}", content)
    if len(held.steps) < expectation.steps:
        words = f"{len(held.steps):,} of {expectation.steps:,} steps"
        yield _finding("steps", file, words, "step", expectation.steps - len(held.steps))
    for content in expectation.every_step:
        if content in held.contents:
            yield from _of_steps(expectation, content, file, held)
    there = {_plain(name) for one in reports for name in _files(one)}
    for name in expectation.files:
        if name not in there:
            yield _finding("files", file, f"no {name}", name)


def _of_steps(expectation: Expectation, content: str, file: str, held: Held) -> Iterator[Finding]:
    """The steps in which nothing begins of what is expected of each."""
    if not held.steps and "steps" in expectation.contents:
        return  # that is said already
    if not held.steps:
        yield _finding("steps", file, f"no step, and {content} in each are expected", content)
        return
    starts = held.starts[content]
    bounds = sorted(held.steps.items())
    first, behind = (np.searchsorted(starts, [one[at] for one in bounds]) for at in (0, 1))
    empty = np.flatnonzero(first == behind)
    if empty.size:
        words = f"no {content} in {empty.size:,} of {len(bounds):,} steps"
        which = f"{words}, first in number {int(empty[0]) + 1:,} of them"
        yield _finding(content, file, which, content, int(empty.size))


def _files(report: FileReport) -> Sequence[str]:
    return [PurePath(one).name for one in report.members or (report.file,)]


def _plain(name: str) -> str:
    """The name of a file without what exporters add: times, slices, ranks."""
    stem, _, suffix = name.rpartition(".")
    return f"{_ADDED.sub('', stem)}.{suffix}"


def _finding(what: str, file: str, words: str, expected: str, count: int = 1) -> Finding:
    """That an expectation is not met."""
    rule = rule_that_finds(f"no {what}")
    found = rule.finding(file, f"{rule.summary.rstrip('.')}: {words}", count)
    found = replace(found, expected=expected, context={"count": count})
    return rule.loss.explained(found) if rule.loss else found
