"""Two sides of one recording in different media: compared in what both show of it.

The agreements of the rules state which views of two deliverables show the same, and by what their
rows belong together. Of each that has one view on either side the outcome is a difference. So a
database is compared with CSV files, a timeline or documents, and these with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb

from ascend_ref.recorded.tables import DatabaseFile
from ascend_spec import catalog

from ..compare.agreement import WHICH, Agreement, Which
from ..compare.sql import quoted
from ..engine.candidate import Candidate
from ..engine.failure import reason
from ..engine.work import NoAnswer
from ..finding import Finding, Skipped
from ..media.text.agreeing import ShownOutcome, concerns
from ..media.text.database import open_facts
from ..media.text.deliverables import COMPANIONS, Deliverable
from ..media.text.findings import Fault, finding_of, with_places
from ..media.text.folder import Folder, load_database, read_folder
from ..media.text.judge import TOO_LARGE
from ..media.text.layers import layers_by_table
from ..media.text.rules import TextRule, load_text_rules
from ..media.text.selecting import Absent, reading_of
from ..media.text.sources import DOCUMENTS, Sources, base_tables
from ..options import Options
from .answer import Answer
from .files import tables_of
from .pairing import Difference, broken_file
from .stating import SIDES, rule_of


@dataclass
class _Sides:
    """Whose the tables of the facts are. ``features``: by side the files and kinds that it has."""

    database: int | None
    features: tuple[set[str], set[str]]

    def of(self, table: str) -> int | None:
        """The side that a base table is of; ``None`` where it is of none, or of both."""
        schema, _, name = table.partition(".")
        if schema == "db":
            return self.database
        feature = {"raw": name, "trace": "timeline", "doc": DOCUMENTS.get(name, name)}.get(schema)
        having = [number for number, known in enumerate(self.features) if feature in known]
        return having[0] if len(having) == 1 else None


@dataclass
class _Seen:
    """What has been compared, by its tables, and why some was not."""

    tables: set[str] = field(default_factory=set)
    reasons: dict[str, str] = field(default_factory=dict)


def differences_across(
    left: Sequence[Candidate], right: Sequence[Candidate], options: Options
) -> Answer:
    """What databases or texts of one side and texts or databases of the other do not agree in."""
    sides = [_texts_of(some) for some in (left, right)]
    stored = [_database_of(some) for some in (left, right)]
    number = next((at for at, path in enumerate(stored) if path is not None), None)
    features = tuple(
        {one.name for one in some} | ({"timeline"} if _draws(some) else set()) for some in sides
    )
    known = _Sides(number, (features[0], features[1]))
    rules = [one for one in load_text_rules().values() if one.search.agreement is not None]
    answer, seen = Answer(), _Seen()
    try:
        with open_facts() as facts:
            folder = read_folder(facts, [*sides[0], *sides[1]], alone=True)
            if number is not None:
                load_database(folder, stored[number] or Path(), rules)
            answer.differences = list(_damaged(folder))
            found = _compared(folder, known, rules, options, seen)
            answer.findings = with_places(folder, list(found))
            files = [one.path for some in (left, right) for one in some if one.medium == "db"]
            answer.skipped = list(_skipped(folder, files, known, seen))
            refused = ((folder.files[at].label, why) for at, why in folder.unreadable.items())
            answer.unreadable = next((f"{file}: {why}" for file, why in refused), None)
    except duckdb.OutOfMemoryException:
        answer.unreadable = TOO_LARGE
    answer.places = len(seen.tables)
    if not seen.tables and answer.unreadable is None:
        answer.unreadable = "no table, file or layer of one side shows what the other side shows"
    return answer


def _damaged(folder: Folder) -> Iterator[Difference]:
    """The texts of which a part cannot be read; what stands before it is compared."""
    select = "SELECT file, arg_min(reason, row) FROM unit.damage GROUP BY file ORDER BY file"
    for number, why in folder.facts.rows(select):
        file = folder.files[number]
        yield broken_file(file.name, file.place, f"{file.label}: {why}")


def _texts_of(some: Sequence[Candidate]) -> list[Deliverable]:
    """The texts, but for those about the capture, which are of the other medium as well."""
    return [
        one
        for candidate in some
        if candidate.medium == "text"
        for one in candidate.details.deliverables
        if one.name not in COMPANIONS
    ]


def _draws(some: Sequence[Deliverable]) -> bool:
    return any(one.kind == "timeline" for one in some)


def _database_of(some: Sequence[Candidate]) -> Path | None:
    """The database of a profiler among some; an analysis.db is read with it."""
    paths = [one.path for one in some if one.medium == "db"]
    return next((one for one in paths if DatabaseFile(one).carrier != "analysis"), None)


def _compared(
    folder: Folder, sides: _Sides, rules: Sequence[TextRule], options: Options, seen: _Seen
) -> Iterator[Finding]:
    sources = Sources(folder.facts)
    for rule in rules:
        if rule.search.agreement is None or not concerns(folder, rule):
            continue
        for agreement in rule.search.agreement.instances:
            owners = _owners(agreement, sides)
            if owners is not None:
                yield from _of_agreement(folder, sources, agreement, owners, options, seen)


def _owners(agreement: Agreement, sides: _Sides) -> Mapping[Which, int] | None:
    """The side that each view is of; ``None`` where not one is of A and the other of B."""
    found: dict[Which, int] = {}
    for which in WHICH:
        read = {
            table
            for reading in agreement.read_as
            for source in reading.side(which).sources
            for table in base_tables(source)
            if not table.startswith(("unit.", "lean."))
        }
        owners = {sides.of(table) for table in read}
        if len(owners) != 1 or (owner := owners.pop()) is None:
            return None
        found[which] = owner
    return found if found["left"] != found["right"] else None


def _of_agreement(
    folder: Folder,
    sources: Sources,
    agreement: Agreement,
    owners: Mapping[Which, int],
    options: Options,
    seen: _Seen,
) -> Iterator[Finding]:
    tables = {
        table
        for which in WHICH
        for source in agreement.side(which).sources
        for table in base_tables(source)
    }
    try:
        found = reading_of(sources, agreement)
    except Absent:
        return  # of one of the views there is nothing
    except (NoAnswer, duckdb.Error) as problem:
        seen.reasons |= dict.fromkeys(tables, reason(problem))
        return
    if not all(found.rows.values()) and agreement.one_sided != "both":
        return
    seen.tables |= tables
    view = ShownOutcome(folder, found)
    for name, count in found.differing.items():
        if count:
            yield _finding(folder, "value", view.differing(name, count, options))
    for which in WHICH:
        if (count := found.alone[which]) and agreement.counts(which):
            what = ("absent row", "added row")[owners[which]]
            yield _finding(folder, what, view.alone(which, count, options))


def _finding(folder: Folder, what: str, fault: Fault) -> Finding:
    return finding_of(folder, rule_of(what), replace(fault, of=None))


def _skipped(
    folder: Folder, databases: Sequence[Path], sides: _Sides, seen: _Seen
) -> Iterator[Skipped]:
    """What only one side shows, and what could not be compared, each by its name."""
    rules = [rule_of(one).id for one in ("absent file", "added file")]
    for table, name in _held(folder, databases):
        owner = sides.of(table)
        if owner is not None and table not in seen.tables:
            nothing = f"not compared, as nothing of {SIDES[1 - owner]} is known to show the same"
            why = seen.reasons.get(table, nothing)
            yield Skipped(rules[owner], name, f"{name} of {SIDES[owner]}: {why}")


def _held(folder: Folder, databases: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """The tables of the facts that both sides fill, and what users call them; with rows only."""
    stored = dict.fromkeys(name for path in databases for name in tables_of(path))
    yield from ((f"db.{name}", name) for name in stored if name not in catalog().enums)
    there = folder.facts.tables()
    layers = {f"trace.{name}": one.name for name, one in layers_by_table().items()}
    documents = {f"doc.{name}": f"{file}.json" for name, file in DOCUMENTS.items()}
    for table in sorted(there):
        schema, _, name = table.partition(".")
        if schema == "raw":
            words = f"{name}.csv"
        elif table in layers:
            words = f"{layers[table]} of the timeline"
        elif table in documents:
            words = f"{documents[table]}, of each {name}"
        else:
            continue
        if folder.facts.value(f"SELECT EXISTS (FROM {schema}.{quoted(name)})"):
            yield table, words
