"""Judge profile databases: ``check([path, …]) -> Report``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw

from ascend_ref import __version__
from ascend_ref.db.detect import NotAProfile
from ascend_ref.db.introspect import describe
from ascend_ref.db.open import (
    UnreadableDatabase,
    attach_readonly,
    budget,
    open_readonly,
    quick_check,
)

from .checks.folder import across
from .discover import Candidate, discover
from .engine.findings import make_findings
from .engine.judge import Progress, judge
from .engine.seen import make_seen
from .engine.session import Session, read_profiler_info, start
from .finding import FileReport, Report
from .layout import match_layout
from .options import Options

FileProgress = Callable[[Path], Progress]


def check(
    paths: Iterable[Path | str], options: Options | None = None, progress: FileProgress | None = None
) -> Report:
    """Judge every database that the paths name: files, or folders searched for profiles.

    Files that cannot be read are part of the report (``FileReport.unreadable``). Raises
    ``NothingToCheck`` for a folder without a profile.
    """
    chosen = options or Options()
    candidates = [candidate for path in paths for candidate in discover(Path(path))]
    reports: list[FileReport] = []
    facts = []
    for candidate in candidates:
        report, fact = check_file(candidate, chosen, progress)
        reports.append(report)
        facts.append(fact)
    return Report(tuple(across(reports, facts, chosen)), __version__, chosen.reading)


def check_file(
    candidate: Candidate, options: Options, progress: FileProgress | None = None
) -> tuple[FileReport, object]:
    """Judge one database."""
    label = str(candidate.path)
    started = time.monotonic()
    try:
        with open_session(candidate, options) as session:
            report = judge_session(session, options, progress and progress(candidate.path))
            return replace(report, seconds=time.monotonic() - started), None
    except (UnreadableDatabase, NotAProfile) as problem:
        return FileReport(label, None, (), unreadable=str(problem)), None
    except apsw.Error as problem:
        reason = f"{label}: {problem}"
        return FileReport(label, None, (), unreadable=reason), None


@contextmanager
def open_session(candidate: Candidate, options: Options) -> Iterator[Session]:
    """The database opened read-only with its companions, checked for damaged pages."""
    connection = open_readonly(candidate.path)
    try:
        prepare(connection)
        damage = quick_check(connection)
        if damage:
            raise UnreadableDatabase(candidate.path, f"damaged database: {damage}")
        info = read_profiler_info(candidate.profiler_info) if candidate.profiler_info else None
        session = start(
            str(candidate.path),
            candidate.path,
            connection,
            options.reading,
            candidate.companions,
            info,
        )
        yield session
    finally:
        connection.close()
