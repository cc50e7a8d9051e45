"""The verdict on one database, and on those of several ranks together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from ascend_ref.db.carrier import NotAProfile
from ascend_ref.db.display import printable
from ascend_ref.db.open import NoDatabase, UnreadableDatabase

from ...compare.ranks import RankProfile, judge_profiles
from ...engine.candidate import Candidate
from ...engine.failure import Failures
from ...engine.progress import Progress
from ...engine.work import TooMuchWork, limited
from ...expect.holding import held_in
from ...finding import TEXT_SUFFIXES, FileReport, Finding, Seen
from ...held import Held
from ...options import Options
from .. import Judged, given
from ..any.other import other_file
from .checks.ranks import RankFacts, judge_ranks, rank_facts, rank_profile, rank_rule
from .findings import make_findings
from .judge import judge
from .opening import open_session
from .outsider import with_cause
from .relations import judge_relations
from .seen import make_seen
from .session import Session
from .views import ShownByDatabase

NO_DELIVERABLE = (
    "its first bytes are those of no known deliverable; expected the header of a CSV file, the "
    "first event of a timeline or a document of a profiler"
)

_EXPECTED = "expected {}, or a folder of these"


def judge_database(candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
    """The verdict on a file, and what the comparison of ranks needs of it."""
    started = time.monotonic()
    label = candidate.label
    try:
        with open_session(candidate, options, looks_meanwhile=True) as session:
            report = judge_session(session, options, progress)
            facts = _facts(session)
    except UnreadableDatabase as problem:
        # Not str(problem): its path may be one for other machines than the reader's.
        reason = problem.reason
        if isinstance(problem, NoDatabase):
            strange = _is_strange_text(candidate.path)
            reason = NO_DELIVERABLE if strange else f"{problem.found}; {_EXPECTED.format(given())}"
        elif isinstance(problem, NotAProfile):
            reason = other_file(candidate.path) or reason
        return FileReport(label, None, (), unreadable=f"{label}: {reason}"), ()
    except (apsw.Error, UnicodeDecodeError) as problem:
        reason = f"{label}: {printable(str(problem))}; expected a readable database"
        return FileReport(label, None, (), unreadable=reason), ()
    return replace(report, seconds=time.monotonic() - started), facts


def compare_ranks(facts: Sequence[Any], options: Options) -> Mapping[str, Sequence[Finding]]:
    """By file, what only the comparison of ranks finds."""
    found: dict[str, list[Finding]] = {}
    failures = Failures()
    operators = [one for one in facts if isinstance(one, RankFacts)]
    profiles = [one for one in facts if isinstance(one, RankProfile)]
    with failures.of_rule(rank_rule()):
        found.update(judge_ranks(operators, options.selection))
    for file, some in judge_profiles(profiles, options.selection).items():
        found.setdefault(file, []).extend(some)
    for fact in facts[:1]:
        found.setdefault(fact.file, []).extend(failures.findings(fact.file))
    return found


def _is_strange_text(path: Path) -> bool:
    """Whether a file is called like a text deliverable, although its first bytes are of none."""
    return path.suffix in TEXT_SUFFIXES and path.is_file() and path.stat().st_size > 0


def judge_session(
    session: Session, options: Options, progress: Progress | None = None
) -> FileReport:
    """The verdict on an open database."""
    seen: list[Seen] = []
    outcome = judge(
        session,
        options.selection,
        progress,
        options.workers,
        meanwhile=lambda: seen.append(make_seen(session)),
    )
    related = judge_relations(session, outcome, options)
    own = make_findings(session, outcome, options.max_examples, options.with_sql)
    found = with_cause(session, own, options.selection.wants)
    return FileReport(
        file=session.label,
        seen=seen[0],
        findings=tuple(sorted((*found, *related.found), key=lambda one: (one.rule, one.place))),
        skipped=(*outcome.skipped, *related.skipped),
        rules_run=outcome.plan.rules + len(related.ran),
        places_checked=outcome.plan.places + len(related.ran),
        held=_held(session, options),
    )


def _held(session: Session, options: Options) -> Held | None:
    """What the database holds of what is expected."""
    if options.expectation is None:
        return None
    shown = ShownByDatabase(session, session.connection, {}, frozenset())
    with limited(session.connection, sum(session.rows.values())):
        return held_in(shown, options.expectation)


def _facts(session: Session) -> Sequence[RankFacts | RankProfile]:
    try:
        with limited(session.connection, sum(session.rows.values())):
            profile = rank_profile(session)
            return [*rank_facts(session), *([profile] if profile else [])]
    except TooMuchWork:
        return ()
