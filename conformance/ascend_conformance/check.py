"""Judge profiles: ``check([path, …]) -> Report``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import apsw

from ascend_ref import __version__
from ascend_ref.db.display import printable, show_path
from ascend_ref.db.open import (
    NoDatabase,
    UnreadableDatabase,
    attach_readonly,
    open_readonly,
    quick_check,
    read_examples,
)
from ascend_ref.execution import Executor, InProcess, Processes

from .discover import GIVEN, Candidate, discover
from .engine.failure import Failures, file_failure
from .engine.work import TooMuchWork, limited
from .finding import TEXT_SUFFIXES, FileReport, Report
from .media.db.checks import Fault
from .media.db.checks.ranks import RankFacts, judge_ranks, rank_facts, rank_rule
from .media.db.findings import from_fault, make_findings
from .media.db.functions import register
from .media.db.judge import PARALLEL_BYTES, Progress, judge
from .media.db.relations import judge_relations
from .media.db.seen import make_seen
from .media.db.session import Session, read_profiler_info, start
from .options import Options

FileProgress = Callable[[Path], Progress]
EXPECTED = f"expected {GIVEN}, or a folder of these"
NO_DELIVERABLE = (
    "its first bytes are those of no known deliverable; expected the header of a CSV file, the "
    "first event of a timeline or a document of a profiler"
)

Judged: TypeAlias = tuple[FileReport, Sequence[RankFacts]]

GENERATED_COLUMNS = (
    "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c "
    "WHERE s.type = 'table' AND s.sql LIKE '%AS%(%' AND s.sql NOT LIKE 'CREATE VIRTUAL%' "
    "AND c.hidden IN (2, 3)"
)


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
    chosen = options or Options()
    candidates = _candidates(paths)
    judged: Iterator[Judged]
    if executor is None or isinstance(executor, InProcess):
        judged = (judge_file(candidate, chosen, progress) for candidate in candidates)
    else:
        judged = _spread(candidates, chosen, executor, progress)
    reports: list[FileReport] = []
    facts: list[RankFacts] = []
    for report, seen in judged:
        reports.append(report)
        facts.extend(seen)
    return Report(tuple(_with_rank_faults(reports, facts, chosen)), __version__, chosen.reading)


def fitting_executor(paths: Iterable[Path | str], options: Options) -> Executor:
    """Processes where the files keep all workers busy, else this one, whose threads share a file.

    The module that asks for it must be one that other processes can import. Raises as
    :func:`check`.
    """
    sizes = [_size_of(candidate) for candidate in _candidates(paths)]
    share = max([PARALLEL_BYTES, *sizes])
    if options.workers > 1 and sum(sizes) >= options.workers * share:
        return Processes(options.workers)
    return InProcess()


def _size_of(candidate: Candidate) -> int:
    if candidate.deliverables:
        return sum(_size(file.path) for file in candidate.deliverables)
    return _size(candidate.path)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


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
    with closing(executor.map(_judge_alone, alone, items)) as results:
        for place, result in enumerate(results):
            if advance:
                advance(place + 1, len(items), candidates[place].path.name)
            yield result


def _judge_alone(options: Options, candidate: Candidate) -> Judged:
    return judge_file(candidate, options)


def _candidates(paths: Iterable[Path | str]) -> list[Candidate]:
    """Every database once, however many of the paths lead to it, in the order of the paths."""
    found = [candidate for path in paths for candidate in discover(Path(path))]
    return list({candidate.path: candidate for candidate in found}.values())


def judge_file(
    candidate: Candidate, options: Options, progress: FileProgress | None = None
) -> Judged:
    """The verdict on one file, and what the comparison between ranks needs of a database.

    Where the checker fails on the file, that is the verdict.
    """
    try:
        return _judge_file(candidate, options, progress)
    except Exception as problem:
        failed = file_failure(candidate.label, problem)
        return FileReport(candidate.label, None, (failed,)), ()


def _judge_file(candidate: Candidate, options: Options, progress: FileProgress | None) -> Judged:
    label = candidate.label
    started = time.monotonic()
    if candidate.deliverables:
        from .media.text.judge import judge_text  # slow: duckdb, pyarrow

        return judge_text(
            candidate.deliverables,
            label,
            options,
            alone=candidate.alone,
            database=candidate.database,
            progress=progress and progress(candidate.path),
        ), ()
    if candidate.blocks:
        from .media.bin.judge import judge_bin  # slow: jsonschema-rs

        return judge_bin(candidate.path, options, label, progress and progress(candidate.path)), ()
    try:
        with open_session(candidate, options) as session:
            report = judge_session(session, options, progress and progress(candidate.path))
            facts = _facts(session)
    except UnreadableDatabase as problem:
        # Not str(problem): its path may be one for other machines than the reader's.
        reason = problem.reason
        if isinstance(problem, NoDatabase):
            strange = _is_strange_text(candidate.path)
            reason = NO_DELIVERABLE if strange else f"{problem.found}; {EXPECTED}"
        return FileReport(label, None, (), unreadable=f"{label}: {reason}"), ()
    except (apsw.Error, UnicodeDecodeError) as problem:
        reason = f"{label}: {printable(str(problem))}; expected a readable database"
        return FileReport(label, None, (), unreadable=reason), ()
    return replace(report, seconds=time.monotonic() - started), facts


def _is_strange_text(path: Path) -> bool:
    """Whether a file is called like a text deliverable, although its first bytes are of none."""
    return path.suffix in TEXT_SUFFIXES and path.is_file() and path.stat().st_size > 0


@contextmanager
def open_session(candidate: Candidate, options: Options) -> Iterator[Session]:
    """The database, its pages checked, opened with the databases that lie beside it."""
    with ExitStack() as stack:
        connection = stack.enter_context(closing(open_readonly(candidate.path)))
        register(connection)
        _require_sound(connection, candidate.path)
        info = read_profiler_info(candidate.profiler_info) if candidate.profiler_info else None
        profiler = _profiler_beside(candidate, connection, options, stack)
        yield start(candidate.label, candidate.path, connection, options.reading, info, profiler)


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
    related = judge_relations(session, outcome, options)
    found = make_findings(session, outcome, options.max_examples, options.with_sql)
    return FileReport(
        file=session.label,
        seen=make_seen(session),
        findings=tuple(sorted((*found, *related.findings), key=lambda one: (one.rule, one.place))),
        skipped=(*outcome.skipped, *related.skipped),
        rules_run=outcome.plan.rules + len(related.ran),
        places_checked=outcome.plan.places + len(related.ran),
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
    failures = Failures()
    further: Mapping[str, Sequence[Fault]] = {}
    with failures.of_rule(rank_rule()):
        further = judge_ranks(facts, options.selection)
    for report in reports:
        added = tuple(from_fault(report.file, fault) for fault in further.get(report.file, ()))
        if report.file in {one.file for one in facts}:
            added += tuple(failures.findings(report.file))
        yield replace(report, findings=report.findings + added)
