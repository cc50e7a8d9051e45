"""The verdict on the files of one folder: ``judge_files(path) -> FileReport``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ascend_ref.db.display import show_path
from ascend_spec import mindspore_catalog

from ...engine.asking import Asked
from ...engine.file_rules import questions, report_of
from ...engine.progress import Progress
from ...engine.relations.rule import load_relations
from ...finding import MINDSPORE, Coverage, FileReport, Finding, Seen, Skipped
from ...options import Options
from .facts import open_facts
from .gather import Folder, devices_of, read_folder
from .rules import FileRule, in_force, load_file_rules
from .shown import ask_relations


def judge_files(
    path: Path,
    options: Options | None = None,
    label: str | None = None,
    progress: Progress | None = None,
) -> FileReport:
    """The verdict on a folder, or on a single file; what the system refuses is part of it."""
    named = label or show_path(path)
    started = time.monotonic()
    reports = []
    devices: Sequence[str | None] = devices_of(path)
    for device in devices or (None,):
        with open_facts() as facts:
            folder = read_folder(facts, path, named, progress, device)
            reports.append(judge_folder(folder, options or Options()))
    return replace(_of_devices(reports), seconds=time.monotonic() - started)


def _of_devices(reports: Sequence[FileReport]) -> FileReport:
    """One report of those of devices: what they say of files that are of none comes once."""
    first = reports[0]
    if len(reports) == 1:
        return first
    seen = [one.seen for one in reports if one.seen is not None]
    rows: dict[str, int] = {}
    for one in seen:
        for kind, count in one.rows.items():
            rows[kind] = rows.get(kind, 0) + count
    known = seen[0].coverage.producible if seen[0].coverage else 0
    found = {
        (one.rule, one.place, one.file, one.line, one.offset): one
        for report in reports
        for one in report.findings
    }
    return replace(
        first,
        seen=replace(
            seen[0],
            devices=tuple(sorted({device for one in seen for device in one.devices})),
            rows=rows,
            coverage=Coverage(len(rows), known),
        ),
        findings=tuple(sorted(found.values(), key=lambda one: (one.rule, one.place, one.file))),
        skipped=_skipped_by_all(reports),
        rules_run=max(one.rules_run for one in reports),
        places_checked=sum(one.places_checked for one in reports),
        unreadable=next((one.unreadable for one in reports if one.unreadable), None),
        members=tuple(dict.fromkeys(path for one in reports for path in one.members)),
    )


def _skipped_by_all(reports: Sequence[FileReport]) -> tuple[Skipped, ...]:
    """What was skipped of each device."""
    others = [set(one.skipped) for one in reports[1:]]
    return tuple(one for one in reports[0].skipped if all(one in some for some in others))


def judge_folder(folder: Folder, options: Options) -> FileReport:
    """The verdict on a folder that has been read."""
    rules = [one for one in load_file_rules().values() if options.selection.wants(one)]
    ran = [rule for rule in rules if in_force(rule, folder.day)]
    asked = Asked[Finding]()
    asked.ask(questions(folder, ran, options))
    relations = [one for one in load_relations().values() if options.selection.wants(one)]
    asked.add(ask_relations(folder, relations, options))
    return report_of(folder, asked, _seen(folder), _not_compared(folder, ran))


def _not_compared(folder: Folder, rules: Sequence[FileRule]) -> Iterator[Skipped]:
    """A word on intermediate files that were not compared with raw ones."""
    of_all = next((one.id for one in rules if one.search.table == "remade"), None)
    if of_all is None:
        return
    for path, reason in folder.compared.reasons.items():
        yield Skipped(of_all, path.name, reason)


def _seen(folder: Folder) -> Seen:
    rows = dict(
        folder.facts.rows("SELECT kind, count(*) FROM file WHERE role <> 'mark' GROUP BY kind")
    )
    catalog = mindspore_catalog()
    known = len(catalog.files) + len(catalog.tables)
    stated = [one.device for one in folder.captures] + [one.device for one in folder.tables]
    devices = {int(one) for one in stated if one.isdecimal()}
    return Seen(
        carrier=MINDSPORE,
        revision=folder.generation.id,
        devices=tuple(sorted(devices)),
        rows=rows,
        coverage=Coverage(len(rows), known),
        reasons=folder.reasons,
    )
