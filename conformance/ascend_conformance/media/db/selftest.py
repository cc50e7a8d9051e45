"""Every rule meets its own defect, at every place where it applies, and only its own.

For a clean specimen of each carrier and revision: no finding at all; then, one at a time, every
mutation of every instance: exactly that rule fires at exactly that place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from ascend_ref.db.writer import write_database
from ascend_simulator.specimen import Shape, build
from ascend_spec import catalog, layout_catalog, per_spec
from ascend_spec.db.model import CARRIERS, Carrier

from ...engine.relations.edits import Editable
from ...engine.relations.looking import Looks
from ...engine.relations.selftest import Bench
from ...engine.trials import NotBreakable, Rows, Trial, Trials, try_all, try_changes, wrong_rows
from ...finding import Finding
from ...options import Options
from ...ruleset import Selection, fill
from .batches import Batch, batches
from .edits import EditableDatabase
from .filetrials import file_trials
from .findings import make_findings
from .judge import judge
from .mutation import statements
from .places import Instance
from .plan import all_instances, schema_key
from .relations import judge_relations, looks_at
from .session import Session, start
from .sql import register, single_row

READING = {apsw.SQLITE_READ, apsw.SQLITE_SELECT, apsw.SQLITE_FUNCTION, apsw.SQLITE_RECURSIVE}
"""Actions of SQLite's authorizer that change nothing."""

WRITING_ROWS = {apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE}
"""Actions that change rows of the table that they name first."""

MARKS_OF_REVISIONS = {"table-of-another-revision", "column-of-another-revision", "missing-column"}
"""Checks of what distinguishes neighbouring revisions: the defect may turn one into the other."""


def file_name(carrier: Carrier, rank: int = 0) -> str:
    """What the exporters call a database of a carrier."""
    if carrier == "msprof":
        return layout_catalog().file("msprof", "database", timestamp="20260721120000")
    if carrier == "pytorch":
        return layout_catalog().file("pytorch", "database", rank=rank)
    return layout_catalog().file("pytorch", "analysis")


@dataclass(frozen=True, slots=True)
class Specimen:
    """A clean profile as bytes, with the profiler database next to an analysis.db."""

    carrier: Carrier
    revision: str
    content: bytes
    profiler: bytes | None = None


@per_spec
def make_specimen(carrier: Carrier, revision: str, shape: Shape | None = None) -> Specimen:
    """A clean profile of this carrier and revision, written by the reference encoder."""
    return Specimen(
        carrier,
        revision,
        _encode(carrier, revision, shape),
        _encode("pytorch", revision, shape) if carrier == "analysis" else None,
    )


def _encode(carrier: Carrier, revision: str, shape: Shape | None) -> bytes:
    schema = catalog().at(revision, carrier)
    with TemporaryDirectory(prefix=".ascend-ref-") as folder:
        path = Path(folder) / file_name(carrier)
        write_database(path, schema, build(revision, carrier, shape or Shape()))
        return path.read_bytes()


def open_specimen(specimen: Specimen, changes: Iterable[str] = ()) -> Session:
    """The specimen in memory, after the changes."""
    return open_changed(specimen, changes)[0]


def open_changed(
    specimen: Specimen, changes: Iterable[str], clean: Session | None = None
) -> tuple[Session, set[str]]:
    """The specimen in memory after the changes, and the names of what they wrote to.

    ``clean``: the specimen as it is, whose tables are those of the changed one where the changes
    are of rows alone.
    """
    connection = _in_memory(specimen.content)
    profiler = None
    if specimen.profiler is not None:
        opened = _in_memory(specimen.profiler)
        profiler = start(file_name("pytorch"), None, opened, "observed")
        connection.execute("ATTACH ':memory:' AS profiler")
        connection.deserialize("profiler", specimen.profiler)
    written: set[str] = set()
    others: set[int] = set()

    def note(action: int, *names: str | None) -> int:
        if action in WRITING_ROWS:
            written.add(names[0] or "")
        elif action not in READING:
            written.update(filter(None, names))
            others.add(action)
        return apsw.SQLITE_OK

    connection.authorizer = note
    for change in changes:
        connection.execute(change)
    connection.authorizer = None
    label = file_name(specimen.carrier)
    physical = clean.physical if clean is not None and not others else None
    session = start(label, None, connection, "observed", profiler=profiler, physical=physical)
    return session, written - {"main"}


def changed_tables(clean: Session, session: Session, written: set[str]) -> set[str] | None:
    """The tables that can differ from the clean ones; ``None`` stands for all."""
    if session.schema != clean.schema:
        return None
    before, now = clean.physical.tables, session.physical.tables
    return written | {
        name for name in before.keys() | now.keys() if before.get(name) != now.get(name)
    }


def _in_memory(content: bytes) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", content)
    register(connection)
    return connection


@contextmanager
def open_bench(carrier: Carrier) -> Iterator[Bench]:
    """The newest specimen of a carrier, for relations."""
    specimen = make_specimen(carrier, catalog().revisions[-1].id)

    @contextmanager
    def changing() -> Iterator[Editable]:
        session = open_specimen(specimen)
        try:
            yield EditableDatabase(session, session.connection)
        finally:
            session.connection.close()

    clean = open_specimen(specimen)

    def others(shown: Any) -> set[str]:
        session = start(file_name(carrier), None, shown.connection, "observed")
        changed = changed_tables(clean, session, shown.written) if shown.written else None
        return {one.rule for one in findings_of(session, changed=changed)}

    def changed(shown: Any) -> set[str]:
        found: set[str] = shown.written
        return found

    with closing(clean.connection):
        yield Bench(f"{carrier} {specimen.revision}", changing, others, changed)


def findings_of(
    session: Session,
    with_relations: bool = False,
    changed: Collection[str] | None = None,
    clean: Looks | None = None,
) -> tuple[Finding, ...]:
    """Everything the rules find, or those that look at tables that ``changed``, without
    examples.

    ``clean``: what relations look at before the change.
    """
    outcome = judge(session, Selection(), changed=changed)
    found = make_findings(session, outcome, max_examples=0, with_sql=False)
    if with_relations:
        found += tuple(
            judge_relations(session, outcome, Options(max_examples=0), clean, changed).found
        )
    return found


def key_of(finding: Finding) -> str:
    """The key of the instance that a finding stands for."""
    return f"{finding.rule}@{finding.place}"


def run_batch(batch: Batch) -> Trials:
    """Check the clean specimen, then try the batch's instances one by one."""
    specimen = make_specimen(batch.carrier, batch.revision)
    clean = open_specimen(specimen)
    result = Trials()
    for finding in findings_of(clean):
        here = f"{batch.carrier} {batch.revision}"
        result.unclean.append(f"{here}: {key_of(finding)}: {finding.message}")
    wanted, looks = set(batch.keys), looks_at(clean)
    for instance in all_instances(schema_key(clean.schema)):
        if instance.key in wanted:
            wanted.discard(instance.key)
            result.trials += try_instance(specimen, clean, instance, looks)
    return result


def run(
    carriers: Sequence[Carrier] = CARRIERS,
    revisions: Sequence[str] | None = None,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    rules: Collection[str] | None = None,
) -> Trials:
    """Try every instance, or those of some rules, and sum up, in so many processes."""
    work = batches(carriers, revisions, rules)
    result = try_all(work, run_batch, processes, progress)
    if "pytorch" in carriers:
        result.trials += file_trials((revisions or [catalog().revisions[-1].id])[0], rules)
    return result


def try_instance(
    specimen: Specimen, clean: Session, instance: Instance, looks: Looks | None = None
) -> Iterator[Trial]:
    """Break one instance on a fresh copy and see what fires; then each of its legal cases.

    ``looks``: what relations look at in the clean specimen.
    """
    rule = instance.rule
    trial = Trial(
        f"{specimen.carrier} {specimen.revision}",
        rule.id,
        instance.at,
        also=tuple(rule.also),
        meant=instance.key,
    )

    def make(trial: Trial, change: Sequence[str]) -> tuple[Iterable[str], str | None]:
        with _changed_specimen(specimen, clean, instance, trial, change) as (session, written):
            if rule.search.code in MARKS_OF_REVISIONS and session.schema != clean.schema:
                raise NotBreakable(f"then it is nearer to {session.schema.revision.id}")
            if trial.legal and not _changed(session, specimen):
                raise NotBreakable("it changes nothing here")
            changed = changed_tables(clean, session, written)
            found = findings_of(session, not rule.structural, changed, looks)
            wrong = None if trial.legal else _wrong(specimen, session, instance, found)
            return map(key_of, found), wrong

    yield from try_changes(trial, {"": rule.breaks, **rule.keeps}, make)


@contextmanager
def _changed_specimen(
    specimen: Specimen, clean: Session, instance: Instance, trial: Trial, change: Sequence[str]
) -> Iterator[tuple[Session, set[str]]]:
    try:
        session, written = open_changed(specimen, statements(instance, clean, change), clean)
    except apsw.SQLError as problem:
        if not trial.legal:
            raise
        raise NotBreakable(str(problem)) from problem  # a column that this place does not have
    with closing(session.connection):
        yield session, written


def _wrong(
    specimen: Specimen, session: Session, instance: Instance, found: Iterable[Finding]
) -> str | None:
    """Where SQL finds other rows than those that were broken."""
    if not (instance.row or instance.select):
        return None

    def rows_of(stated: str | None) -> Rows:
        if stated is None:
            _attach_clean(session, specimen)
            table = instance.table
            stated = (
                f"SELECT rowid AS row, * FROM main.{table} "
                f"EXCEPT SELECT rowid AS row, * FROM clean.{table}"
            )
        query = f"SELECT count(*), min(row) FROM ({fill(stated, instance.place)})"
        return Rows(*single_row(session.connection, query))

    meant = [Rows(one.count, one.first_rowid) for one in found if key_of(one) == instance.key]
    return wrong_rows(meant[:1], instance.rule.found, rows_of)


def _changed(session: Session, specimen: Specimen) -> bool:
    """Whether any row is another than in the clean specimen, or in the database next to it."""
    _attach_clean(session, specimen)
    copies = [("main", "clean", session.layout.tables)]
    if session.profiler is not None:
        copies.append(("profiler", "clean_profiler", session.profiler.layout.tables))
    return any(
        single_row(
            session.connection,
            f"SELECT EXISTS (SELECT rowid, * FROM {one}.{name} "
            f"EXCEPT SELECT rowid, * FROM {other}.{name})",
        )[0]
        for now, before, tables in copies
        for name in tables
        for one, other in ((now, before), (before, now))
    )


def _attach_clean(session: Session, specimen: Specimen) -> None:
    attached = {name for _, name, _ in session.connection.execute("PRAGMA database_list")}
    contents = {"clean": specimen.content, "clean_profiler": specimen.profiler}
    for name, content in contents.items():
        if content is not None and name not in attached:
            session.connection.execute(f"ATTACH ':memory:' AS {name}")
            session.connection.deserialize(name, content)
