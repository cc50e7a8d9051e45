"""The boundary campaign on databases: each comparison of each semantic rule flipped, one at a time.

A flipped rule is noticed where it finds another number of rows, or another first row, than the rule
itself: on a clean specimen, after the rule's own break, after one of its keeps, or in a real file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

import apsw
from boundary_tokens import flips

from ascend_conformance.engine.trials import NotBreakable
from ascend_conformance.media import load_rules
from ascend_conformance.media.db.judge import bad_row, count_select, obstacle
from ascend_conformance.media.db.mutation import statements
from ascend_conformance.media.db.places import Instance, instances
from ascend_conformance.media.db.references import References
from ascend_conformance.media.db.rows import RowCheck, count
from ascend_conformance.media.db.selftest import (
    Specimen,
    findings_of,
    key_of,
    make_specimen,
    open_specimen,
)
from ascend_conformance.media.db.session import Session
from ascend_conformance.ruleset import Rule
from ascend_spec import catalog
from ascend_spec.db.model import CARRIERS

Seen = tuple[int, int | None]


_NUMBERS = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT {most} - {rows})"
_LATER = "(SELECT max(endNs) FROM profiler.TASK) + 1000000000 * i"
LIMITS: Mapping[str, tuple[str, ...]] = {
    "DB951": (
        _NUMBERS.format(most=10_000, rows="(SELECT count(*) FROM profiler.STEP_TIME)")
        + f" INSERT INTO profiler.STEP_TIME (id, startNs, endNs) SELECT 1000 + i, {_LATER}, "
        f"{_LATER} FROM n",
        _NUMBERS.format(most=20_000, rows="(SELECT count(*) FROM profiler.TASK)")
        + " INSERT INTO profiler.TASK (startNs, endNs, deviceId) "
        f"SELECT {_LATER}, {_LATER}, (SELECT min(deviceId) FROM profiler.TASK) FROM n",
    )
}
"""Statements after which a rule has just as much work as it takes on.

Only flips of what a rule is skipped for are asked there: others would take as long as the rule.
"""


MOST = "most work"
"""The kind of these cases."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule with one comparison flipped."""

    rule: Rule
    flipped: Rule
    at: str

    @property
    def name(self) -> str:
        """The rule's id and the comparison with its surroundings."""
        return f"{self.rule.id}: {self.at}"


def mutants(prefix: str = "") -> Iterator[Mutant]:
    """Every flip of every semantic rule of databases."""
    for rule in load_rules().values():
        if rule.medium == "db" and not rule.structural and rule.id.startswith(prefix):
            for field in ("row", "select"):
                for at, after in flips(getattr(rule, field) or ""):
                    yield Mutant(rule, replace(rule, **{field: after}), at)
            for reason, holds in rule.search.unless.items():
                for at, after in flips(holds):
                    search = replace(rule.search, unless={**rule.search.unless, reason: after})
                    yield Mutant(rule, replace(rule, search=search), at)


@dataclass(frozen=True, slots=True)
class Case:
    """A database in which a rule is asked, and what it is: clean, broken, kept or real."""

    kind: str
    session: Session
    place: str


def seen(session: Session, instance: Instance) -> Seen:
    """How many rows an instance finds, and the first; -2 where it is skipped."""
    references = References(session.connection, session.targets)
    try:
        if instance.row:
            bad = bad_row(session, instance, references)
            hits = (
                count(session.connection, instance.table or "", [RowCheck(instance, bad)])
                if bad
                else []
            )
        elif obstacle(session.connection, instance):
            return (-2, None)
        else:
            hits = count_select(session.connection, instance, instance.select or "")
    except apsw.Error:
        return (-1, None)
    return (hits[0].count, hits[0].first_rowid) if hits else (0, None)


@cache
def clean(specimen: Specimen) -> Session:
    """The specimen as it is, open as long as the campaign lasts."""
    return open_specimen(specimen)


def specimens(rule: Rule) -> Iterator[tuple[Specimen, Instance]]:
    """Each place of a rule once, in the newest specimen that has it."""
    tried = set()
    for carrier in CARRIERS:
        for revision in reversed(catalog().revisions):
            schema = catalog().at(revision.id, carrier)
            for instance in instances(rule, schema, catalog()):
                key = (carrier, instance.key)
                if key not in tried:
                    tried.add(key)
                    yield make_specimen(carrier, revision.id), instance


def cases(rule: Rule) -> Iterator[tuple[Case, Instance]]:
    """Every database in which a rule is asked, with the place that is asked there."""
    for specimen, instance in specimens(rule):
        session = clean(specimen)
        yield Case("clean", session, instance.key), instance
        with suppress(NotBreakable, apsw.Error):
            broken = open_specimen(specimen, statements(instance, session, rule.breaks))
            yield Case("break", broken, instance.key), instance
        if rule.id in LIMITS:
            yield Case(MOST, open_specimen(specimen, LIMITS[rule.id]), instance.key), instance
        for words, case in rule.keeps.items():
            with suppress(NotBreakable, apsw.Error):
                kept = open_specimen(specimen, statements(instance, session, case))
                if kept.connection.total_changes():
                    yield Case(f"keep {words}", kept, instance.key), instance


def survivors(rule_id: str) -> tuple[int, list[str], list[str]]:
    """Number of mutants of a rule, those that nothing notices, and keeps that are not legal."""
    rule = load_rules()[rule_id]
    alive = {mutant.at: mutant for mutant in mutants(rule_id)}
    number = len(alive)
    illegal: list[str] = []
    tried: set[str] = set()
    for case, instance in cases(rule):
        expected = seen(case.session, instance)
        if case.kind.startswith("keep"):
            tried.add(case.kind)
            if expected != (0, None):
                illegal.append(f"{rule_id} {case.kind} at {case.place}: finds {expected}")
            found = findings_of(case.session)
            others = sorted({key_of(one) for one in found if one.rule not in rule.also})
            if others:
                illegal.append(f"{rule_id} {case.kind} at {case.place}: wakes {others}")
        for at, mutant in list(alive.items()):
            if case.kind == MOST and mutant.flipped.search == mutant.rule.search:
                continue
            flipped = next(
                (
                    one
                    for one in instances(mutant.flipped, case.session.schema, catalog())
                    if one.key == instance.key
                ),
                None,
            )
            if flipped and seen(case.session, flipped) != expected:
                del alive[at]
        if case.kind != "clean":
            case.session.connection.close()
    illegal += [
        f"{rule_id} keep {words}: possible nowhere"
        for words in rule.keeps
        if f"keep {words}" not in tried
    ]
    return number, sorted(alive), illegal


def noticed_elsewhere(alive: list[Mutant]) -> set[str]:
    """Mutants that fire on the break of another rule, where the rule itself finds nothing."""
    noticed: set[str] = set()
    if not alive:
        return noticed
    read = {
        use.partition(".")[0]
        for rule in {mutant.rule.id: mutant.rule for mutant in alive}.values()
        for _, instance in specimens(rule)
        for use in (*instance.uses, instance.table or "")
    }
    for rule in load_rules().values():
        if rule.medium != "db" or not (rule.breaks or rule.search.code == "row-count"):
            continue
        for specimen, instance in specimens(rule):
            if instance.table not in read or (rule.structural and rule.search.code != "row-count"):
                continue
            try:
                session = open_specimen(
                    specimen, statements(instance, clean(specimen), rule.breaks)
                )
            except (NotBreakable, apsw.Error):
                continue
            for mutant in alive:
                if mutant.name in noticed or mutant.rule.id == rule.id:
                    continue
                for own, flipped in zip(
                    instances(mutant.rule, session.schema, catalog()),
                    instances(mutant.flipped, session.schema, catalog()),
                    strict=True,
                ):
                    if seen(session, own) == (0, None) != seen(session, flipped):
                        noticed.add(mutant.name)
                        break
            session.connection.close()
    return noticed


def campaign(rules: Iterable[str]) -> tuple[int, list[str], list[str]]:
    """Number of flips of some rules, those that nothing notices, and keeps that are not legal."""
    number, illegal, alive = 0, list[str](), list[Mutant]()
    for rule in rules:
        tried, left, wrong = survivors(rule)
        number += tried
        illegal += wrong
        alive += [mutant for mutant in mutants(rule) if mutant.at in left]
    noticed = noticed_elsewhere(alive)
    return number, sorted(mutant.name for mutant in alive if mutant.name not in noticed), illegal
