"""The medium of databases."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from ascend_ref.db.carrier import carrier_of_name
from ascend_ref.db.display import printable
from ascend_ref.db.open import NoDatabase, UnreadableDatabase
from ascend_ref.markdown import Style
from ascend_spec.db.model import CARRIERS

from ...engine.candidate import Candidate, Listing
from ...engine.failure import Failures
from ...engine.progress import Progress
from ...engine.relations.selftest import Bench
from ...engine.trials import Trials
from ...engine.work import TooMuchWork, limited
from ...finding import TEXT_SUFFIXES, FileReport, Finding
from ...options import Options
from ...ruleset import Rule
from .. import Judged, Medium, given
from . import pages
from .checks.ranks import RankFacts, judge_ranks, rank_facts, rank_rule
from .findings import from_fault, make_findings
from .judge import judge
from .opening import candidate, open_session
from .relations import judge_relations
from .rules import load_db_rules
from .seen import make_seen
from .session import Session

NO_DELIVERABLE = (
    "its first bytes are those of no known deliverable; expected the header of a CSV file, the "
    "first event of a timeline or a document of a profiler"
)


_EXPECTED = "expected {}, or a folder of these"


class _Databases(Medium):
    name = "db"
    given = ("msprof_*.db", "ascend_pytorch_profiler*.db", "analysis.db")
    specimens = CARRIERS

    def rules(self) -> Mapping[str, Rule[Any]]:
        return load_db_rules()

    def specimens_of(self, rule: Rule[Any]) -> tuple[str, ...]:
        return rule.search.carriers or CARRIERS

    def is_named(self, name: str) -> bool:
        return carrier_of_name(name)[0] is not None

    def recognise(self, path: Path, listing: Listing) -> Candidate | None:
        """Whatever no other medium takes; that it is no database is the verdict then."""
        return candidate(path, listing)

    def judge(self, candidate: Candidate, options: Options, progress: Progress | None) -> Judged:
        started = time.monotonic()
        label = candidate.label
        try:
            with open_session(candidate, options) as session:
                report = judge_session(session, options, progress)
                facts = _facts(session)
        except UnreadableDatabase as problem:
            # Not str(problem): its path may be one for other machines than the reader's.
            reason = problem.reason
            if isinstance(problem, NoDatabase):
                strange = _is_strange_text(candidate.path)
                reason = (
                    NO_DELIVERABLE if strange else f"{problem.found}; {_EXPECTED.format(given())}"
                )
            return FileReport(label, None, (), unreadable=f"{label}: {reason}"), ()
        except (apsw.Error, UnicodeDecodeError) as problem:
            reason = f"{label}: {printable(str(problem))}; expected a readable database"
            return FileReport(label, None, (), unreadable=reason), ()
        return replace(report, seconds=time.monotonic() - started), facts

    def compare(self, facts: Sequence[Any], options: Options) -> Mapping[str, Sequence[Finding]]:
        found: dict[str, list[Finding]] = {}
        failures = Failures()
        with failures.of_rule(rank_rule()):
            for file, faults in judge_ranks(facts, options.selection).items():
                found[file] = [from_fault(file, fault) for fault in faults]
        for fact in facts[:1]:
            found.setdefault(fact.file, []).extend(failures.findings(fact.file))
        return found

    def self_test(
        self,
        specimens: Sequence[str],
        revisions: Sequence[str] | None,
        processes: int,
        progress: Any,
    ) -> Trials:
        from .selftest import run  # slow: the simulator

        carriers = [carrier for carrier in CARRIERS if carrier in specimens]
        return run(carriers, revisions, processes, progress)

    def benches(self, specimen: str) -> Mapping[str, Callable[[], AbstractContextManager[Bench]]]:
        from .selftest import open_bench  # slow: the simulator

        carrier = next((one for one in CARRIERS if one == specimen != "analysis"), None)
        return {} if carrier is None else {specimen: partial(open_bench, carrier)}

    def where(self, rule: Rule[Any], style: Style) -> str:
        return pages.where(rule, style)

    def search(self, rule: Rule[Any]) -> str:
        return pages.search(rule)

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        return pages.mutation(rule)

    def facts(self, rule: Rule[Any], style: Style) -> Iterable[tuple[str, str]]:
        return pages.facts(rule, style)


def _is_strange_text(path: Path) -> bool:
    """Whether a file is called like a text deliverable, although its first bytes are of none."""
    return path.suffix in TEXT_SUFFIXES and path.is_file() and path.stat().st_size > 0


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
        findings=tuple(sorted((*found, *related.found), key=lambda one: (one.rule, one.place))),
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


MEDIUM = _Databases()
