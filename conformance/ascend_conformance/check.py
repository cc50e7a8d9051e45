"""Judge profiles: ``check([path, …]) -> Report``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from ascend_ref import __version__
from ascend_ref.execution import Executor, InProcess, Processes
from ascend_ref.execution.interrupts import raise_if_dropped

from .discover import discover
from .engine.candidate import Candidate
from .engine.failure import file_failure
from .engine.progress import Progress
from .finding import FileReport, Finding, Report
from .media import Judged, Medium, find_rule, media
from .options import PARALLEL_BYTES, Options
from .schema.explained import with_changes

FileProgress = Callable[[Path], Progress]


def check(
    paths: Iterable[Path | str],
    options: Options | None = None,
    progress: FileProgress | None = None,
    executor: Executor | None = None,
) -> Report:
    """Judge every file that the paths name: files, or folders searched for profiles.

    Files that cannot be read are part of the report (``FileReport.unreadable``). An ``executor``
    that has workers judges several files at the same time, each in one thread, with the same
    report. Raises ``NothingToCheck`` for a folder without a profile.
    """
    return check_candidates(_candidates(paths), options or Options(), progress, executor)


def check_candidates(
    candidates: Sequence[Candidate],
    chosen: Options,
    progress: FileProgress | None = None,
    executor: Executor | None = None,
) -> Report:
    """Judge files, and folders of files, that have been found."""
    judged: Iterator[Judged]
    if executor is None or isinstance(executor, InProcess):
        judged = (judge_file(chosen, candidate, progress) for candidate in candidates)
    else:
        judged = _spread(candidates, chosen, executor, progress)
    reports: list[FileReport] = []
    facts: dict[str, list[Any]] = {}
    for candidate, (report, seen) in zip(candidates, judged, strict=True):
        reports.append(report)
        facts.setdefault(candidate.medium, []).extend(seen)
    compared = tuple(_compared(reports, facts, chosen))
    if chosen.expectation is not None:
        from .expect.answering import answer  # slow: numpy

        compared = tuple(answer(chosen.expectation, compared))
    if chosen.target is not None:
        compared = tuple(with_changes(one, chosen.target, chosen.reading) for one in compared)
    return Report(compared, __version__, chosen.reading)


def fitting_executor(paths: Iterable[Path | str], options: Options) -> Executor:
    """Processes where the files keep all workers busy, else this one, whose threads share a file.

    The module that asks for it must be one that other processes can import. Raises as
    :func:`check`.
    """
    sizes = [candidate.size for candidate in _candidates(paths)]
    share = max([PARALLEL_BYTES, *sizes])
    if options.workers > 1 and sum(sizes) >= options.workers * share:
        return Processes(options.workers)
    return InProcess()


def _spread(
    candidates: Sequence[Candidate],
    options: Options,
    executor: Executor,
    progress: FileProgress | None,
) -> Iterator[Judged]:
    """The verdicts in the order of the candidates; one thread for each file, many files at once."""
    alone = replace(options, workers=1)
    items = [candidate.anywhere() for candidate in candidates]
    advance = progress and progress(Path(os.path.commonpath([item.path for item in items])))
    with closing(executor.map(judge_file, alone, items)) as results:
        for place, result in enumerate(results):
            if advance:
                advance(place + 1, len(items), candidates[place].path.name)
            yield result


def _candidates(paths: Iterable[Path | str]) -> list[Candidate]:
    """Each once for its medium, however many of the paths lead to it, in the order of the paths."""
    found = [candidate for path in paths for candidate in discover(Path(path))]
    return list({(one.medium, one.path, one.files): one for one in found}.values())


def judge_file(
    options: Options, candidate: Candidate, progress: FileProgress | None = None
) -> Judged:
    """The verdict on one candidate, and what the comparison with others needs of it.

    Where the checker fails on it, that is the verdict.
    """
    medium = media()[candidate.medium]
    try:
        report, seen = medium.judge(candidate, options, progress and progress(candidate.path))
        return replace(report, findings=_explained(report.findings, medium)), seen
    except Exception as problem:
        raise_if_dropped(problem)
        failed = file_failure(candidate.label, problem)
        return FileReport(candidate.label, None, (failed,)), ()


def _compared(
    reports: Sequence[FileReport], facts: dict[str, list[Any]], options: Options
) -> Iterator[FileReport]:
    """The reports, each with the findings that only the comparison with others brings."""
    given = [(media()[name], found) for name, found in facts.items() if found]
    further = [(medium, medium.compare(found, options)) for medium, found in given]
    for report in reports:
        added = (_explained(one.get(report.file, ()), medium) for medium, one in further)
        yield replace(report, findings=report.findings + tuple(chain.from_iterable(added)))


def _explained(findings: Sequence[Finding], medium: Medium) -> tuple[Finding, ...]:
    """The findings of a medium, with the likely cause of each that shows a loss."""
    found = ((one, find_rule(one.rule, medium)) for one in findings)
    losses = ((one, rule.loss if rule is not None else None) for one, rule in found)
    return tuple(loss.explained(one) if loss else one for one, loss in losses)
