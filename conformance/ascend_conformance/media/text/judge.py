"""The verdict on the text deliverables of one folder: ``judge_text(candidate) -> FileReport``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from ...engine.progress import Progress
from ...engine.relations.rule import Relation, load_relations
from ...expect.holding import held_in
from ...finding import FileReport, Skipped
from ...held import Held
from ...options import Options
from .. import Judged
from .asking import ask_all
from .database import MEMORY, open_facts
from .deliverables import Deliverable
from .findings import with_places
from .folder import Folder, load_database, read_folder
from .outsider import outsider, with_cause
from .ranks import rank_profile
from .rules import TextRule, load_text_rules
from .seen import make_seen
from .views import ShownByFiles

TOO_LARGE = (
    f"some values are so long that they do not fit into {MEMORY} together; expected texts of a "
    "few kB, as profilers write them"
)


def judge_text(
    deliverables: Sequence[Deliverable],
    label: str,
    options: Options | None = None,
    *,
    alone: bool = False,
    database: Path | None = None,
    progress: Progress | None = None,
) -> Judged:
    """The verdict on some files of one folder together with the database next to them, and what
    the comparison of ranks needs of it.

    Files that cannot be read are part of it (``FileReport.unreadable``). ``alone``: one file that
    was given by itself, so that nothing is missed next to it.
    """
    chosen = options or Options()
    started = time.monotonic()
    rules = [rule for rule in load_text_rules().values() if chosen.selection.wants(rule)]
    relations = [one for one in load_relations().values() if chosen.selection.wants(one)]
    writer = chosen.judged_by("writer")
    deliverables = [replace(one, judged_by=writer) for one in deliverables]
    try:
        with open_facts(chosen.workers) as facts:
            folder = read_folder(facts, deliverables, alone=alone, kept="lean", progress=progress)
            if database is not None:
                load_database(folder, database, rules)
            facts.settle()
            report = judge_folder(folder, label, chosen, rules, relations)
            # A folder with a file of another rank shows two of them.
            profile = rank_profile(folder, label) if outsider(folder.votes) is None else None
            refused = ((folder.files[at].label, why) for at, why in folder.unreadable.items())
            lines = (f"{file}: {why}; expected a readable file" for file, why in refused)
            unreadable = next(lines, None)  # what the others hold is judged
        if writer is not None and report.findings and report.seen is not None:
            own = _own_writers(deliverables, chosen.workers, progress, alone=alone)
            named = ", ".join(sorted(set(own.values()))) or None
            report = replace(report, seen=replace(report.seen, own=named, own_writers=own))
    except duckdb.OutOfMemoryException:
        return FileReport(label, None, (), unreadable=f"{label}: {TOO_LARGE}"), ()
    report = replace(report, unreadable=unreadable, seconds=time.monotonic() - started)
    return report, [profile] if profile else []


def judge_folder(
    folder: Folder,
    label: str,
    options: Options,
    rules: Sequence[TextRule],
    relations: Sequence[Relation] = (),
) -> FileReport:
    """The verdict on a folder that has been read."""
    asked = ask_all(folder, rules, options, relations)
    found = with_cause(folder, with_places(folder, asked.found), options.selection.wants)
    findings = [*found, *asked.failures.findings(label)]
    return FileReport(
        file=label,
        seen=make_seen(folder),
        findings=tuple(sorted(findings, key=lambda one: (one.rule, one.place, one.file))),
        skipped=(*_unread(folder, rules), *asked.skipped),
        rules_run=len(asked.ran),
        places_checked=asked.places,
        members=tuple(file.label for file in folder.files.values()),
        held=_held(folder, options),
    )


def _own_writers(
    deliverables: Sequence[Deliverable], workers: int, progress: Progress | None, *, alone: bool
) -> Mapping[str, str]:
    """The writers of files that are judged by another one, by labels."""
    given = [replace(one, judged_by=None) for one in deliverables]
    with open_facts(workers) as facts:
        folder = read_folder(facts, given, alone=alone, kept="lean", progress=progress)
        return {folder.files[at].label: writer for at, writer in folder.writers.items()}


def _held(folder: Folder, options: Options) -> Held | None:
    """What the files hold of what is expected."""
    if options.expectation is None:
        return None
    return held_in(ShownByFiles(folder.facts, folder.csv_writers), options.expectation)


def _unread(folder: Folder, rules: Sequence[TextRule]) -> Iterator[Skipped]:
    """A word on what stands behind damage."""
    of_check = {rule.search.check: rule.id for rule in rules if rule.search.check}
    select = (
        'SELECT f.place, f.kind, d.row, d."offset" FROM unit.damage d '
        "JOIN unit.file f USING (file) ORDER BY file"
    )
    for place, kind, row, offset in folder.facts.rows(select):
        rule = of_check.get(f"damaged-{kind}s")
        if rule is not None:
            what = "the document" if row is None else f"events from {row:,} on"
            reason = f"{what} cannot be read behind byte {offset:,} of {place}"
            yield Skipped(rule, place, reason)
    for number, (rows, _) in folder.csv.items():
        rule = of_check.get("malformed-rows")
        if rows.skipped_from is not None and rule is not None:
            place = folder.files[number].place
            reason = f"rows behind byte {rows.skipped_from:,} of {place} cannot be read"
            yield Skipped(rule, place, reason)
