"""From an open session to the list of hits and faults: the order of the checks.

1. schema and file checks in Python; 2. one pass per table for all row rules, and the SELECT
rules, spread over worker threads; 3. rules that fired on columns in which a lower stage found
bad rows are judged again without those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from queue import Empty, SimpleQueue

import apsw

from ascend_spec.db.model import Column

from ...engine.asking import Asked, Question
from ...engine.progress import Progress
from ...engine.work import NoAnswer, limited
from ...finding import Finding
from ...ruleset import Selection
from . import fusion
from .checks import registry
from .places import Instance
from .plan import PROFILER, Plan, make_plan
from .references import Range, References
from .rows import Hit, RowCheck, count, scan
from .rules import LAST_STAGE
from .session import Session
from .sql import single_row, without


@dataclass(kw_only=True)
class Outcome(Asked[Hit]):
    """Everything that one session's judgement brought to light."""

    plan: Plan
    references: References
    faults: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Task:
    """A unit of work for one connection; ``weight`` is the number of rows that its rules read."""

    weight: int
    what: str
    instances: Sequence[Instance]
    run: Callable[[apsw.Connection, References, Sequence[Instance]], list[Hit]]

    def perform(self, connection: apsw.Connection, references: References) -> Asked[Hit]:
        """What the rules find."""
        asked = Asked[Hit]()
        asked.ask(
            [
                Question(
                    self.instances,
                    partial(self.run, connection, references),
                    partial(limited, connection, self.weight),
                )
            ]
        )
        return asked


def judge(
    session: Session,
    selection: Selection,
    progress: Progress | None = None,
    workers: int = 1,
    changed: Collection[str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run every selected rule on the session, or those that look at the tables that ``changed``.

    ``meanwhile`` is done in this thread while others ask the rules, if any do.
    """
    plan = make_plan(session, selection, changed)
    references = References(session.connection, session.targets)
    outcome = Outcome(plan=plan, references=references, skipped=list(plan.skipped))
    faults = Asked[Finding](failures=outcome.failures)
    faults.ask(_check(session, places) for places in plan.codes.values())
    outcome.faults += faults.found
    outcome.skipped += faults.skipped
    for instances in plan.rows.values():
        for instance in instances:
            with outcome.failures.of_rule(instance.rule, instance.at):
                bad_row(session, instance, references)  # surveys what it needs, in this thread
    tasks = [_table_task(session, table, found) for table, found in plan.rows.items()]
    for instance in plan.selects:
        with outcome.failures.of_rule(instance.rule, instance.at):
            if _can_fire(session, instance):
                tasks.append(_single_task(session, instance))
    tasks.sort(key=lambda task: -task.weight)
    session.require_sound()
    for asked in _run(session, tasks, references, progress, workers, meanwhile):
        outcome.add(asked)
    _judge_again(session, outcome, references)
    return outcome


def _check(session: Session, places: Sequence[Instance]) -> Question[Instance, Finding]:
    """The question that a check in Python answers for all places of its rule."""
    rule = places[0].rule
    check = registry()[rule.search.code or ""]
    return Question(
        places[:1],
        lambda _: (fault.finding(rule, session.label) for fault in check(session, places)),
        partial(limited, session.connection, sum(session.rows.values())),
    )


def reference_targets(session: Session, instance: Instance) -> list[tuple[str, str]]:
    """The targets of a reference instance that can be looked up in this file."""
    places = instance.place.get("targets", "").split()
    return [
        (table, column)
        for table, _, column in (place.partition(".") for place in places)
        if session.layout.holds(f"{table}.{column}") and session.rows[table]
    ]


def _table_task(session: Session, table: str, found: Sequence[Instance]) -> _Task:
    def run(
        connection: apsw.Connection, references: References, instances: Sequence[Instance]
    ) -> list[Hit]:
        checks = [
            RowCheck(instance, bad)
            for instance in instances
            if (bad := bad_row(session, instance, references))
        ]
        if not checks:
            return []
        return scan(connection, table, checks, _fused(session, table, checks, references))

    return _Task(session.rows[table] * len(found), table, found, run)


def bad_row(session: Session, instance: Instance, references: References) -> str | None:
    """The final predicate of a row rule, good for the connection of ``references``.

    ``None`` for other rules, and for a reference whose targets cannot be read.
    """
    known = references.written.get(id(instance))
    if known is None:
        known = references.written[id(instance)] = instance, _written(session, instance, references)
    return known[1]


def _written(session: Session, instance: Instance, references: References) -> str | None:
    bad = instance.row
    if not bad:
        return None
    if "{resolves}" in bad:
        targets = reference_targets(session, instance)
        if not targets:
            return None
        bad = bad.replace("{resolves}", references.resolves(instance.column or "", targets))
    return session.constant_sets.write_out(bad)


def _fused(
    session: Session, table: str, checks: Sequence[RowCheck], references: References
) -> str | None:
    match = session.layout.tables[table]
    declared = {name: column.declared for name, column in match.columns.items()}
    by_column: dict[str, set[str]] = {}
    for check in checks:
        if check.instance.column:
            by_column.setdefault(check.instance.column, set()).add(check.instance.rule.id)
    judged = {
        check.instance.column: check.instance
        for check in checks
        if "targets" in check.instance.place
    }
    columns = [
        column
        for column in fusion.columns_to_fuse(match.table, declared)
        if fusion.FUSED_RULES & by_column.get(column.name, set()) == _expected_rules(column, judged)
    ]

    replaced = {column.name for column in columns}
    further = [
        check.bad
        for check in checks
        if check.instance.rule.id not in fusion.FUSED_RULES or check.instance.column not in replaced
    ]
    sound = fusion.sound(
        [_admissible(session, column, judged.get(column.name), references) for column in columns]
    )
    return fusion.fuse(sound, further)


def _admissible(
    session: Session, column: Column, reference: Instance | None, references: References
) -> tuple[Column, tuple[Range, ...], str | None]:
    """The column with its admissible ranges, or with the look-up that its reference needs."""
    if reference is None:
        return column, fusion.admissible(column, None), None
    targets = reference_targets(session, reference)
    ranges = references.ranges(targets)
    if ranges is not None:
        return column, fusion.admissible(column, ranges), None
    look_up = references.resolves(column.name, targets)
    spare = "".join(f" OR {column.name} = {value}" for value in column.none)
    return column, fusion.admissible(column, None), f"{look_up}{spare}"


def _expected_rules(column: Column, judged: Mapping[str | None, Instance]) -> set[str]:
    """The fused rules that must all be selected for the fused form to be their equal."""
    expected = {
        "DB201": True,
        "DB202": not column.nullable,
        "DB203": column.minimum is not None,
        "DB204": column.maximum is not None,
    }
    of_reference = [judged[column.name].rule.id] if column.name in judged else []
    return {rule for rule, is_due in expected.items() if is_due}.union(of_reference)


def _can_fire(session: Session, instance: Instance) -> bool:
    """False for a rule on repeated values where the column holds every value once."""
    if instance.rule.search.repeats is None:
        return True
    table, _, column = instance.rule.search.repeats.partition(".")
    return session.targets[table, column].repeats


def _single_task(session: Session, instance: Instance) -> _Task:
    select = session.constant_sets.write_out(instance.select or "")

    def run(connection: apsw.Connection, *_: object) -> list[Hit]:
        reason = obstacle(connection, instance)
        if reason:
            raise NoAnswer(reason)
        return count_select(connection, instance, select)

    return _Task(_weight(session, instance), instance.rule.name, (instance,), run)


def _weight(session: Session, instance: Instance) -> int:
    rows = 0
    for name in {use.removeprefix(PROFILER).partition(".")[0] for use in instance.uses}:
        rows += session.rows.get(name, 0)
        rows += session.profiler.rows.get(name, 0) if session.profiler else 0
    return rows


def obstacle(connection: apsw.Connection, instance: Instance) -> str | None:
    """Why the rule cannot be judged on these rows, if it states a reason that holds."""
    unless = instance.rule.search.unless.items()
    return next(
        (one for one, holds in unless if single_row(connection, f"SELECT {holds}")[0]), None
    )


def count_select(connection: apsw.Connection, instance: Instance, select: str) -> list[Hit]:
    """Zero or one hit: the number of result rows, counted only when there is a first one."""
    if connection.execute(f"SELECT 1 FROM ({select}) LIMIT 1").fetchone() is None:
        return []
    number, first = single_row(connection, f"SELECT count(*), min(row) FROM ({select})")
    return [Hit(instance, number, first)]


def _run(
    session: Session,
    tasks: Sequence[_Task],
    references: References,
    progress: Progress | None,
    workers: int,
    meanwhile: Callable[[], None],
) -> Iterator[Asked[Hit]]:
    """Run the tasks, heaviest first, on one connection per worker; results in task order."""
    done: SimpleQueue[int] = SimpleQueue()

    def finished(what: str) -> None:
        done.put(1)
        if progress:
            progress(done.qsize(), len(tasks), what)

    if workers < 2 or session.is_small:
        for task in tasks:
            yield task.perform(session.connection, references)
            finished(task.what)
        meanwhile()
        return
    results = [Asked[Hit]() for _ in tasks]
    waiting: SimpleQueue[int] = SimpleQueue()
    for index in range(len(tasks)):
        waiting.put(index)

    def work(connection: apsw.Connection, _number: int) -> None:
        own_references = References(connection, references.targets)
        while not session.stop.is_set():
            try:
                index = waiting.get_nowait()
            except Empty:
                return
            results[index] = tasks[index].perform(connection, own_references)
            finished(tasks[index].what)

    session.spread(workers, work, meanwhile)
    yield from results


def _judge_again(session: Session, outcome: Outcome, references: References) -> None:
    """Judge rules of a higher stage again without the rows that a lower stage condemned."""
    for stage in range(1, LAST_STAGE + 1):
        condemned = condemned_cells(session, outcome.found, references, stage)
        again = Asked[Hit](failures=outcome.failures)
        for hit in outcome.found:
            guards = {use: condemned[use] for use in hit.instance.uses if use in condemned}
            if hit.instance.rule.search.stage != stage or not guards:
                again.found.append(hit)
            else:
                again.ask([_again(session, hit, guards, references)])
        outcome.found = again.found
        outcome.skipped += again.skipped


def _again(
    session: Session, hit: Hit, guards: Mapping[str, Sequence[str]], references: References
) -> Question[Instance, Hit]:
    left_open = f"bad values in {', '.join(sorted(guards))} leave it open"
    return Question(
        (hit.instance,),
        lambda _: _without(session, hit, guards, references),
        partial(limited, session.connection, _weight(session, hit.instance)),
        left_open if hit.instance.rule.search.fragile else None,
    )


def condemned_cells(
    session: Session, hits: Sequence[Hit], references: References, stage: int = LAST_STAGE
) -> dict[str, list[str]]:
    """``TABLE.column`` to the predicates of lower-stage rules that found bad rows there.

    They are good for the connection of ``references``.
    """
    found: dict[str, list[str]] = {}
    for hit in hits:
        if hit.instance.rule.search.stage < stage:
            bad = bad_row(session, hit.instance, references)
            if bad:
                found.setdefault(hit.instance.at, []).append(bad)
    return found


def resolved_cells(session: Session, outcome: Outcome) -> frozenset[str]:
    """``TABLE.column`` of references that hold nothing but ids of their one target.

    Rules judged it: that the values are integers, that none is NULL, that each has its row.
    """
    skipped = {(one.rule, one.place) for one in outcome.skipped}
    judged = {
        (one.rule.id, one.at): one
        for one in chain(*outcome.plan.rows.values())
        if one.rule.id not in outcome.failures.of and (one.rule.id, one.at) not in skipped
    }
    at_fault = {hit.instance.at for hit in outcome.found}
    return frozenset(
        at
        for (_, at), one in judged.items()
        if len(one.place.get("targets", "").split()) == len(reference_targets(session, one)) == 1
        and {("DB201", at), ("DB202", at)} <= judged.keys()
        and at not in at_fault
        and fusion.fusible(*_declared(session, one))
        and not _holds_sentinels(session, one)
    )


def _holds_sentinels(session: Session, instance: Instance) -> bool:
    """Whether a value of the column means that there is none, and leads to no row."""
    sentinels = ", ".join(map(str, _declared(session, instance)[0].none))
    held = f"SELECT 1 FROM main.{instance.table} WHERE {instance.column} IN ({sentinels}) LIMIT 1"
    return bool(sentinels) and session.connection.execute(held).fetchone() is not None


def _declared(session: Session, instance: Instance) -> tuple[Column, str]:
    """The column of an instance, and its declared type in the file."""
    match, name = session.layout.tables[instance.table or ""], instance.column or ""
    return match.table.columns[name], match.columns[name].declared


def _without(
    session: Session, hit: Hit, guards: Mapping[str, Sequence[str]], references: References
) -> list[Hit]:
    instance = hit.instance
    if instance.row is None:
        select = without_rows(instance.select or "", guards)
        return [
            replace(hit, guards=guards)
            for hit in count_select(session.connection, instance, select)
        ]
    own = {use: found for use, found in guards.items() if use.startswith(f"{instance.table}.")}
    if not own:  # another table's bad rows cannot be left out of a predicate on one row
        return [hit]
    guards = own
    bad = f"(({bad_row(session, instance, references)}) AND {without(chain(*guards.values()))})"
    found = count(session.connection, instance.table or "", [RowCheck(instance, bad)])
    return [replace(hit, guards=guards) for hit in found]


def without_rows(select: str, guards: Mapping[str, Sequence[str]]) -> str:
    """The SELECT with its tables shadowed by themselves minus the condemned rows."""
    by_table: dict[str, list[str]] = {}
    for use, found in guards.items():
        if not use.startswith(PROFILER):
            by_table.setdefault(use.partition(".")[0], []).extend(found)
    shadows = ", ".join(
        f"{table} AS NOT MATERIALIZED (SELECT rowid AS rowid, * FROM main.{table} WHERE "
        + without(found)
        + ")"
        for table, found in sorted(by_table.items())
    )
    return f"WITH {shadows} SELECT * FROM ({select})" if shadows else select
