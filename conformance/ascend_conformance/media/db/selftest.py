"""Every rule meets its own defect, at every place where it applies, and only its own.

For a clean specimen of each carrier and revision: no finding at all; then, one at a time, every
mutation of every instance: exactly that rule fires at exactly that place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from ascend_ref.db.writer import write_database
from ascend_simulator.specimen import Shape, build
from ascend_spec import catalog, per_spec
from ascend_spec.db.model import CARRIERS, Carrier
from ascend_spec.layout import layout

from ...engine.trials import Sums
from ...finding import Finding
from .filetrials import run_file_trials
from .findings import make_findings
from .functions import register
from .judge import judge
from .mutation import NotBreakable, statements
from .places import Instance
from .plan import Selection, all_instances, schema_key
from .session import Session, start

BATCH = 150
"""Instances per batch: large enough to pay for the specimen, small enough to spread evenly."""

TELLS_REVISIONS = {"table-of-another-revision", "column-of-another-revision", "missing-column"}
"""Checks of what tells neighbouring revisions apart: the defect may make the file the other one."""


def file_name(carrier: Carrier, rank: int = 0) -> str:
    """What the exporters call a database of a carrier."""
    if carrier == "msprof":
        return layout().file("msprof", "database", timestamp="20260721120000")
    if carrier == "pytorch":
        return layout().file("pytorch", "database", rank=rank)
    return layout().file("pytorch", "analysis")


@dataclass(frozen=True, slots=True)
class Specimen:
    """A clean profile as bytes, with the profiler database beside an analysis.db."""

    carrier: Carrier
    revision: str
    content: bytes
    profiler: bytes | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutation: what should have fired (``key`` of the instance) and what did."""

    carrier: Carrier
    revision: str
    key: str
    rule: str
    fired: tuple[str, ...] = ()
    not_broken: str | None = None

    @property
    def caught(self) -> bool:
        """Whether the broken rule fired at its place."""
        return any(self._is_meant(name) for name in self.fired)

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Keys of everything else that fired."""
        return tuple(name for name in self.fired if not self._is_meant(name))

    def _is_meant(self, name: str) -> bool:
        """The same rule at the same place; a rule of whole tables may name a column of it."""
        return name == self.key or name.startswith(
            self.key if self.key[-1] == "@" else f"{self.key}."
        )


@dataclass
class SelfTest(Sums[Trial]):
    """The sums over all trials of databases."""

    @property
    def rules_tried(self) -> set[str]:
        """Ids of the rules that were broken at least once."""
        return {trial.rule for trial in self.mutations}


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
    with TemporaryDirectory() as folder:
        path = Path(folder) / file_name(carrier)
        write_database(path, schema, build(revision, carrier, shape or Shape()))
        return path.read_bytes()


def open_specimen(specimen: Specimen, changes: Iterable[str] = ()) -> Session:
    """The specimen in memory, after the changes."""
    connection = _in_memory(specimen.content)
    profiler = None
    if specimen.profiler is not None:
        beside = _in_memory(specimen.profiler)
        profiler = start(file_name("pytorch"), None, beside, "observed")
        connection.execute("ATTACH ':memory:' AS profiler")
        connection.deserialize("profiler", specimen.profiler)
    for change in changes:
        connection.execute(change)
    return start(file_name(specimen.carrier), None, connection, "observed", profiler=profiler)


def _in_memory(content: bytes) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", content)
    register(connection)
    return connection


def findings_of(session: Session) -> tuple[Finding, ...]:
    """Everything the rules find, without examples."""
    outcome = judge(session, Selection())
    return make_findings(session, outcome, max_examples=0, with_sql=False)


def key_of(finding: Finding) -> str:
    """The key of the instance that a finding stands for."""
    return f"{finding.rule}@{finding.place}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some instances of one carrier and revision, by key; the unit that a worker process takes."""

    carrier: Carrier
    revision: str
    keys: tuple[str, ...]


def batches(carriers: Sequence[Carrier], revisions: Sequence[str] | None = None) -> list[Batch]:
    """All instances of the revisions; by default each instance once, at its newest revision."""
    every = [revision.id for revision in reversed(catalog().revisions)]
    found: list[Batch] = []
    for carrier in carriers:
        tried: set[str] = set()
        for revision in revisions or every:
            if revisions:
                tried.clear()
            keys = [instance.key for instance in all_instances((carrier, revision, "observed"))]
            fresh = [key for key in dict.fromkeys(keys) if key not in tried]
            tried.update(fresh)
            parts = range(0, max(len(fresh), 1), BATCH)
            found.extend(Batch(carrier, revision, tuple(fresh[at : at + BATCH])) for at in parts)
    return found


def run_batch(batch: Batch) -> SelfTest:
    """Check the clean specimen, then try the batch's instances one by one."""
    specimen = make_specimen(batch.carrier, batch.revision)
    clean = open_specimen(specimen)
    result = SelfTest()
    for finding in findings_of(clean):
        here = f"{batch.carrier} {batch.revision}"
        result.unclean.append(f"{here}: {key_of(finding)}: {finding.message}")
    wanted = set(batch.keys)
    for instance in all_instances(schema_key(clean.schema)):
        if instance.key in wanted:
            wanted.discard(instance.key)
            result.trials.append(try_instance(specimen, clean, instance))
    return result


def run(
    carriers: Sequence[Carrier] = CARRIERS,
    revisions: Sequence[str] | None = None,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> SelfTest:
    """Try every instance and sum up. ``processes`` above 1 spread the batches."""
    work = batches(carriers, revisions)
    result = SelfTest()
    with ExitStack() as stack:
        if processes > 1:
            results = stack.enter_context(ProcessPoolExecutor(processes)).map(run_batch, work)
        else:
            results = map(run_batch, work)
        for done, part in enumerate(results, start=1):
            result.trials.extend(part.trials)
            result.unclean.extend(text for text in part.unclean if text not in result.unclean)
            if progress:
                progress(done, len(work))
    if "pytorch" in carriers:
        revision = (revisions or [catalog().revisions[-1].id])[0]
        for rule, (place, fired) in run_file_trials(revision).items():
            result.trials.append(Trial("pytorch", revision, f"{rule}@{place}", rule, fired))
    return result


def try_instance(specimen: Specimen, clean: Session, instance: Instance) -> Trial:
    """Break one instance on a fresh copy and see what fires."""
    place = (specimen.carrier, specimen.revision, instance.key, instance.rule.id)
    try:
        changes = statements(instance, clean)
    except NotBreakable as reason:
        return Trial(*place, not_broken=str(reason))
    session = open_specimen(specimen, changes)
    try:
        if instance.rule.code in TELLS_REVISIONS and session.schema != clean.schema:
            return Trial(*place, not_broken=f"then it is nearer to {session.schema.revision.id}")
        fired = tuple(sorted({key_of(finding) for finding in findings_of(session)}))
    finally:
        session.connection.close()
    return Trial(*place, fired=fired)
