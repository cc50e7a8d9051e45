"""The verdict on one ``visualize_data.bin``: ``judge_bin(path) -> FileReport``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ascend_ref.bin import BinFile, Unreadable, open_file, read_blocks
from ascend_ref.db.display import show_path
from ascend_spec import bin_catalog

from ...engine.asking import Asked, At, Question
from ...engine.progress import Progress
from ...finding import BLOCK_FILE, Coverage, FileReport, Finding, Seen, Skipped
from ...options import Options
from .facts import Facts, add_spec_tables, open_facts
from .gather import gather
from .places import Locator, block_label
from .queries import questions
from .records import record_findings
from .rules import BinRule, in_force, load_bin_rules
from .structure import Structure, schema_findings, schema_skips


def judge_bin(
    path: Path,
    options: Options | None = None,
    label: str | None = None,
    progress: Progress | None = None,
) -> FileReport:
    """The verdict on a file; what cannot be read is part of it (``FileReport.unreadable``)."""
    named = label or show_path(path)
    started = time.monotonic()
    try:
        with open_file(path) as file:
            report = judge_blocks(replace(file, label=named), options, progress)
    except Unreadable as problem:
        return FileReport(named, None, (), unreadable=str(problem))
    return replace(report, seconds=time.monotonic() - started)


def judge_content(content: bytes, label: str, options: Options | None = None) -> FileReport:
    """The verdict on a file that is in memory."""
    try:
        return judge_blocks(read_blocks(content, label), options)
    except Unreadable as problem:
        return FileReport(label, None, (), unreadable=str(problem))


def judge_blocks(
    file: BinFile, options: Options | None = None, progress: Progress | None = None
) -> FileReport:
    """The verdict on a file whose blocks have been found."""
    chosen = options or Options()
    with open_facts() as facts:
        epoch, structure = collect(file, facts, progress, chosen.judged_by("epoch"))
        rules = [rule for rule in load_bin_rules().values() if chosen.selection.wants(rule)]
        ran = [rule for rule in rules if in_force(rule, epoch)]
        locator = Locator(file)
        asked = Asked[Finding]()
        asked.ask(questions(locator, facts, ran, chosen))
        asked.ask(
            Question((At(rule),), lambda _: schema_findings(locator, structure, epoch, ran))
            for rule in [one for one in ran if one.search.schema][:1]
        )
        asked.ask(
            Question((At(rule),), lambda _: record_findings(file, ran))
            for rule in [one for one in ran if one.search.records][:1]
        )
        findings = (*asked.found, *asked.failures.findings(file.label))
        skipped = (
            *_unread_blocks(file, ran),
            *asked.skipped,
            *schema_skips(structure, epoch, ran),
        )
        return FileReport(
            file=file.label,
            seen=_seen(file, facts, structure),
            findings=tuple(sorted(findings, key=lambda finding: (finding.rule, finding.place))),
            skipped=skipped,
            rules_run=len(ran) - len({one.rule for one in skipped}),
            places_checked=len(ran),
        )


def collect(
    file: BinFile,
    facts: Facts,
    progress: Progress | None = None,
    judged_by: str | None = None,
) -> tuple[str, Structure]:
    """Fill the facts from a file; its epoch, and what its schemas have to say."""
    structure = Structure(judged_by)
    gather(file, facts, structure, progress)
    facts.add("file", [(None, None, None, 0, file.size, structure.epoch)])
    add_spec_tables(facts, structure.epoch)
    return structure.epoch, structure


def _unread_blocks(file: BinFile, rules: Sequence[BinRule]) -> Iterator[Skipped]:
    """A word on the blocks behind the last one that was read."""
    for damage in file.damage:
        if damage.code == "too-many-blocks" and rules:
            yield Skipped(rules[0].id, "", damage.message)


def _seen(file: BinFile, facts: Facts, structure: Structure) -> Seen:
    counts = Counter(entry.type for entry in file.entries)
    blocks = {block_label(code): counts[code] for code in sorted(counts)}
    produced = [known for known in bin_catalog().blocks.values() if known.written]
    missing = [known for known in produced if block_label(known.code) not in blocks]
    basic = facts.rows("SELECT soc FROM basic LIMIT 1")
    return Seen(
        carrier=BLOCK_FILE,
        revision=structure.epoch,
        own=None if structure.own == structure.epoch else structure.own,
        product=basic[0][0] if basic else None,
        rows=blocks,
        coverage=Coverage(
            exercised=len(produced) - len(missing),
            producible=len(produced),
            missing_tables=tuple(block_label(known.code) for known in missing),
        ),
    )
