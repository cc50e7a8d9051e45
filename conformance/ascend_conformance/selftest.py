"""Every rule meets its own defect, at every place where it applies, and only its own.

For a clean specimen of each carrier and revision: no finding at all; then, one at a time, every
mutation of every instance: exactly that rule fires at exactly that place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

from ascend_ref.db.writer import write_database
from ascend_simulator.specimen import Shape, build
from ascend_spec.catalog import catalog
from ascend_spec.model import CARRIERS, Carrier

from .check import prepare
from .engine.findings import make_findings
from .engine.judge import judge
from .engine.plan import Selection, all_instances, schema_key
from .engine.session import Session, start
from .finding import Finding
from .mutation import NotBreakable, statements
from .places import Instance
from .ruleset import load_rules

FILE_NAMES: dict[Carrier, str] = {
    "msprof": "msprof_20260721120000.db",
    "pytorch": "ascend_pytorch_profiler_0.db",
    "analysis": "analysis.db",
}


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
        return self.key in self.fired

    @property
    def false_alarms(self) -> tuple[str, ...]:
        return tuple(name for name in self.fired if name != self.key)


@dataclass
class SelfTest:
    """The sums over all trials. ``unclean`` are findings on the clean specimens."""

    trials: list[Trial] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)

    @property
    def mutations(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.not_broken is None]

    @property
    def missed(self) -> list[Trial]:
        return [trial for trial in self.mutations if not trial.caught]

    @property
    def false_alarms(self) -> list[Trial]:
        return [trial for trial in self.mutations if trial.false_alarms]

    @property
    def rules_tried(self) -> set[str]:
        return {trial.rule for trial in self.mutations}

    @property
    def passed(self) -> bool:
        return not (self.missed or self.false_alarms or self.unclean)


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
        path = Path(folder) / FILE_NAMES[carrier]
        write_database(path, schema, build(revision, carrier, shape or Shape()))
        return path.read_bytes()


def open_specimen(specimen: Specimen, changes: Iterable[str] = ()) -> Session:
    """The specimen in memory, after the changes."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", specimen.content)
    if specimen.profiler is not None:
        connection.execute("ATTACH ':memory:' AS profiler")
        connection.deserialize("profiler", specimen.profiler)
    for change in changes:
        connection.execute(change)
    prepare(connection)
    name = FILE_NAMES[specimen.carrier]
    return start(name, None, connection, "observed", has_profiler=specimen.profiler is not None)


def findings_of(session: Session) -> tuple[Finding, ...]:
    """Everything the rules find, without examples."""
    outcome = judge(session, Selection())
    return make_findings(session, outcome, max_examples=0, with_sql=False)


def key_of(finding: Finding) -> str:
    """The key of the instance that a finding stands for."""
    return f"{finding.rule}@{finding.place}"


def run(
    carriers: Iterable[Carrier] = CARRIERS,
    revisions: Iterable[str] | None = None,
    wants: Callable[[Instance], bool] = lambda instance: True,
) -> Iterator[Trial | str]:
    """Yield each trial, and as text each finding on a clean specimen."""
    chosen = list(revisions or (revision.id for revision in catalog().revisions))
    for revision in chosen:
        for carrier in carriers:
            yield from _run_one(make_specimen(carrier, revision), wants)


def _run_one(specimen: Specimen, wants: Callable[[Instance], bool]) -> Iterator[Trial | str]:
    clean = open_specimen(specimen)
    for finding in findings_of(clean):
        yield f"{specimen.carrier} {specimen.revision}: {key_of(finding)}: {finding.message}"
    for instance in all_instances(schema_key(clean.schema)):
        if wants(instance):
            yield try_instance(specimen, clean, instance)


def try_instance(specimen: Specimen, clean: Session, instance: Instance) -> Trial:
    """Break one instance on a fresh copy and see what fires."""
    place = (specimen.carrier, specimen.revision, instance.key, instance.rule.id)
    try:
        changes = statements(instance, clean)
    except NotBreakable as reason:
        return Trial(*place, not_broken=str(reason))
    session = open_specimen(specimen, changes)
    try:
        fired = tuple(sorted({key_of(finding) for finding in findings_of(session)}))
    finally:
        session.connection.close()
    return Trial(*place, fired=fired)


def collect(trials: Iterable[Trial | str]) -> SelfTest:
    """Sum up what :func:`run` yields."""
    result = SelfTest()
    for trial in trials:
        if isinstance(trial, str):
            result.unclean.append(trial)
        else:
            result.trials.append(trial)
    return result


def untried(result: SelfTest) -> list[str]:
    """Rules that no trial broke; those that judge files and folders have tests of their own."""
    return [name for name in load_rules() if name not in result.rules_tried]
