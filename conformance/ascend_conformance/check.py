"""Judge profile databases: ``check([path, …]) -> Report``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import apsw

from ascend_ref import __version__
from ascend_ref.db.display import printable, show_path
from ascend_ref.db.open import (
    UnreadableDatabase,
    attach_readonly,
    open_readonly,
    quick_check,
    read_examples,
)

from .checks.ranks import RankFacts, judge_ranks, rank_facts
from .discover import Candidate, discover
from .engine.findings import from_fault, make_findings
from .engine.functions import register
from .engine.judge import Progress, judge
from .engine.seen import make_seen
from .engine.session import Session, read_profiler_info, start
from .engine.work import TooMuchWork, limited
from .finding import FileReport, Report
from .options import Options

FileProgress = Callable[[Path], Progress]

GENERATED_COLUMNS = (
    "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c "
    "WHERE s.type = 'table' AND s.sql LIKE '%AS%(%' AND s.sql NOT LIKE 'CREATE VIRTUAL%' "
    "AND c.hidden IN (2, 3)"
)


def check(
    paths: Iterable[Path | str],
    options: Options | None = None,
    progress: FileProgress | None = None,
) -> Report:
    """Judge every database that the paths name: files, or folders searched for profiles.

    Files that cannot be read are part of the report (``FileReport.unreadable``). Raises
    ``NothingToCheck`` for a folder without a profile.
    """
    chosen = options or Options()
    reports: list[FileReport] = []
    facts: list[RankFacts] = []
    for candidate in _candidates(paths):
        report, seen = judge_file(candidate, chosen, progress)
        reports.append(report)
        facts.extend(seen)
    return Report(tuple(_with_rank_faults(reports, facts, chosen)), __version__, chosen.reading)


def _candidates(paths: Iterable[Path | str]) -> list[Candidate]:
    """Every database once, however many of the paths lead to it, in the order of the paths."""
    found = [candidate for path in paths for candidate in discover(Path(path))]
    return list({candidate.path: candidate for candidate in found}.values())


def judge_file(
    candidate: Candidate, options: Options, progress: FileProgress | None = None
) -> tuple[FileReport, Sequence[RankFacts]]:
    """The verdict on one database, and what the comparison between ranks needs of it."""
    label = show_path(candidate.path)
    started = time.monotonic()
    try:
        with open_session(candidate, options) as session:
            report = judge_session(session, options, progress and progress(candidate.path))
            facts = _facts(session)
    except UnreadableDatabase as problem:
        return FileReport(label, None, (), unreadable=str(problem)), ()
    except (apsw.Error, UnicodeDecodeError) as problem:
        reason = f"{label}: {printable(str(problem))}; expected a readable database"
        return FileReport(label, None, (), unreadable=reason), ()
    return replace(report, seconds=time.monotonic() - started), facts


@contextmanager
def open_session(candidate: Candidate, options: Options) -> Iterator[Session]:
    """The database, its pages checked, opened with the databases that lie beside it."""
    with ExitStack() as stack:
        connection = stack.enter_context(closing(open_readonly(candidate.path)))
        register(connection)
        _require_sound(connection, candidate.path)
        info = read_profiler_info(candidate.profiler_info) if candidate.profiler_info else None
        profiler = _profiler_beside(candidate, connection, options, stack)
        yield start(
            show_path(candidate.path), candidate.path, connection, options.reading, info, profiler
        )


def _require_sound(connection: apsw.Connection, path: Path) -> None:
    """Raise ``UnreadableDatabase`` for what must not be read further.

    The check of the pages would run the expression of a generated column for every row, whatever
    it costs; no exporter and no viewer has ever declared one.
    """
    computed = read_examples(connection, GENERATED_COLUMNS, columns=2, rows=1)
    if computed:
        place = ".".join(map(str, computed[0]))
        raise UnreadableDatabase(path, f"{place} is a generated column; expected stored columns")
    damage = quick_check(connection)
    if damage:
        raise UnreadableDatabase(path, f"damaged: {damage}; expected sound pages")


def _profiler_beside(
    candidate: Candidate, analysis: apsw.Connection, options: Options, stack: ExitStack
) -> Session | None:
    """The profiler database beside an analysis.db, recognised and attached, if it is sound.

    It is judged on its own as well, and what is wrong with it is said there.
    """
    path = candidate.companions.get("pytorch")
    if path is None or candidate.path.name != "analysis.db":
        return None
    try:
        connection = stack.enter_context(closing(open_readonly(path)))
        register(connection)
        _require_sound(connection, path)
        profiler = start(show_path(path), path, connection, options.reading)
        attach_readonly(analysis, path, "profiler")
    except (UnreadableDatabase, apsw.Error):
        return None
    return profiler


def judge_session(
    session: Session, options: Options, progress: Progress | None = None
) -> FileReport:
    """The verdict on an open database."""
    outcome = judge(session, options.selection, progress, options.workers)
    return FileReport(
        file=session.label,
        seen=make_seen(session),
        findings=make_findings(session, outcome, options.max_examples, options.with_sql),
        skipped=tuple(outcome.skipped),
        rules_run=outcome.plan.rules,
        places_checked=outcome.plan.places,
    )


def _facts(session: Session) -> Sequence[RankFacts]:
    try:
        with limited(session.connection, sum(session.rows.values())):
            return rank_facts(session)
    except TooMuchWork:
        return ()


def _with_rank_faults(
    reports: Sequence[FileReport], facts: Sequence[RankFacts], options: Options
) -> Iterator[FileReport]:
    """The reports, each with the findings that only the comparison with other ranks brings."""
    further = judge_ranks(facts, options.selection)
    for report in reports:
        added = tuple(from_fault(report.file, fault) for fault in further.get(report.file, ()))
        yield replace(report, findings=report.findings + added)
