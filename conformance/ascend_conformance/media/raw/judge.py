"""The verdict on the raw files of one PROF_*: ``judge_raw(path) -> FileReport``."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from ascend_ref.db.display import show_path
from ascend_spec import raw_catalog

from ...engine.asking import Asked
from ...engine.file_rules import questions, report_of
from ...engine.progress import Progress
from ...engine.relations.rule import load_relations
from ...finding import RAW, Coverage, FileReport, Finding, Seen
from ...options import Options
from .facts import open_facts
from .gather import read_folder
from .reading import Folder
from .rules import load_raw_rules


def judge_raw(
    path: Path,
    options: Options | None = None,
    label: str | None = None,
    progress: Progress | None = None,
) -> FileReport:
    """The verdict on a folder; what the system refuses is part of it."""
    options = options or Options()
    started = time.monotonic()
    with open_facts() as facts:
        folder = read_folder(facts, path, label or show_path(path), progress)
        report = judge_folder(folder, options)
    report = _with_relations(report, folder, options)
    return replace(report, seconds=time.monotonic() - started)


def judge_folder(folder: Folder, options: Options) -> FileReport:
    """The verdict on a folder that has been read."""
    rules = [one for one in load_raw_rules().values() if options.selection.wants(one)]
    asked = Asked[Finding]()
    asked.ask(questions(folder, rules, options))
    return report_of(folder, asked, _seen(folder))


def _with_relations(report: FileReport, folder: Folder, options: Options) -> FileReport:
    """With what relations find, which ask what was joined of the records and no facts."""
    relations = [one for one in load_relations().values() if options.selection.wants(one)]
    if not relations:
        return report
    from .relations import ask_relations  # slow: DuckDB

    asked = ask_relations(folder, relations, options)
    found = (*report.findings, *asked.found, *asked.failures.findings(folder.label))
    return replace(
        report,
        findings=tuple(sorted(found, key=lambda one: (one.rule, one.place, one.file))),
        skipped=(*report.skipped, *asked.skipped),
        rules_run=report.rules_run + len(asked.ran),
        places_checked=report.places_checked + asked.places,
    )


def _seen(folder: Folder) -> Seen:
    """``rows`` counts records and lines by kind of file."""
    rows = dict(folder.facts.rows("SELECT kind, sum(records) FROM file GROUP BY kind"))
    devices = (one.folder.device for one in folder.contexts)
    chips = {one.side.chip for one in folder.contexts if one.side.chip is not None}
    known = sum(one.form == "records" for one in raw_catalog().files.values())
    return Seen(
        carrier=RAW,
        revision=" and ".join(f"chip {one}" for one in sorted(chips)) or "chip unknown",
        devices=tuple(sorted(one for one in devices if one is not None)),
        rows=rows,
        coverage=Coverage(len(rows), known),
    )
