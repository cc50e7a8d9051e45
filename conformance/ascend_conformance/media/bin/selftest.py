"""Every rule meets its own damage on clean files, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ascend_ref.bin import BinFile, Block, canonical, parse, read_blocks, to_bytes
from ascend_ref.bin.records import cache_payload, read_cache_records
from ascend_simulator.operator import simulate_kernel
from ascend_simulator.operator.scenario import override, preset

from ...engine.trials import Rows, Trial, Trials, try_all, try_changes, wrong_rows
from ...finding import Finding
from ...options import Options
from ...ruleset import fill
from .edits import apply_edits
from .facts import Facts, open_facts
from .judge import collect, judge_content
from .older import OLDER, older_file
from .places import Locator, shown
from .queries import columns_of, where
from .rules import BinRule, in_force, load_bin_rules

PRESETS: Mapping[str, str] = {
    "vector": "vector-add",
    "cube": "matmul",
    "mix": "matmul-leakyrelu",
    "310P": "310p-matmul",
    "950": "950-mix",
    "every-block": "museum",
    "simulator": "simulated-add",
}
"""By the name of the subject, the preset of ``ascend-ref kernel`` that it is a small run of."""

SUBJECTS = (*PRESETS, OLDER)
"""Names of all clean files of our own."""

BLOCK_DIM = 2
CACHE_LINES = 32
"""Cache lines that are kept: a cache has thousands, all alike to the rules."""

WITHOUT_EXAMPLES = Options(max_examples=0)
NOT_COMPARED = {"times", "offset"}
"""Columns that other damage in the file changes as well."""


def run_bin(subjects: Mapping[str, bytes], rules: Iterable[str] | None = None) -> Trials:
    """Try every rule (or those named) on every clean file, given by name."""
    wanted = load_bin_rules() if rules is None else {name: load_bin_rules()[name] for name in rules}
    result = Trials()
    for name, content in subjects.items():
        clean = judge_content(content, name, WITHOUT_EXAMPLES).findings
        aged = [finding for finding in clean if states_age(finding)]
        result.unclean += [
            f"{name}: {finding.rule} {finding.message}" for finding in clean if finding not in aged
        ]
        result.trials += trials(name, content, wanted.values(), aged)
    return result


def states_age(finding: Finding) -> bool:
    """Whether a finding is that a file is of an older epoch, which is nothing unclean."""
    rule = load_bin_rules().get(finding.rule)
    schema = rule.search.schema if rule else None
    return schema is not None and schema.finds == "older"


def run_specimen(subject: str, rules: Iterable[str] | None = None) -> Trials:
    """Try every rule, or those named, on one of our own clean files; what a worker process does."""
    return run_bin({subject: clean_file(subject)}, rules)


def run_specimens(
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    rules: Iterable[str] | None = None,
) -> Trials:
    """Try every rule, or those named, on all of our own clean files and sum up."""
    return try_all(SUBJECTS, partial(run_specimen, rules=rules), processes, progress)


def trials(
    subject: str, content: bytes, rules: Iterable[BinRule], known: Iterable[Finding] = ()
) -> Iterator[Trial]:
    """Damage a file for each rule that says how; ``known`` findings of the file do not count."""
    before = {(finding.rule, finding.place) for finding in known}
    file = read_blocks(content, subject)
    with open_facts() as facts:
        epoch, _ = collect(file, facts)
        for rule in rules:
            stated = {"": rule.breaks, **rule.keeps}
            changes = {legal: edits for legal, edits in stated.items() if edits}
            if in_force(rule, epoch):
                trial = Trial(subject, rule.id, also=tuple(rule.also))
                make = partial(_damage, file, facts, rule, before)
                yield from try_changes(trial, changes, make)


def _damage(
    file: BinFile,
    facts: Facts,
    rule: BinRule,
    before: set[tuple[str, str]],
    trial: Trial,
    edits: Sequence[Mapping[str, Any]],
) -> tuple[Iterable[str], str | None]:
    victim = facts.victim(rule.search.victim)
    damaged = apply_edits(file, edits, victim)
    report = judge_content(damaged, trial.subject, WITHOUT_EXAMPLES)
    found = [one for one in report.findings if (one.rule, one.place) not in before]
    wrong = None if trial.legal else _wrong(facts, rule, damaged, found, victim)
    return (one.rule for one in found), wrong


def _wrong(
    facts: Facts,
    rule: BinRule,
    damaged: bytes,
    found: Iterable[Finding],
    victim: Mapping[str, Any],
) -> str | None:
    """Where SQL finds other facts than those that were broken."""
    here = [one for one in found if one.rule == rule.id]
    if not here or rule.search.table is None:
        return None
    rows: list[tuple[int, int]] = []
    with open_facts() as broken:

        def rows_of(stated: str | None) -> Rows:
            collect(read_blocks(damaged, ""), broken)
            query = stated and fill(stated, {name: str(one) for name, one in victim.items()})
            rows.extend(_found_rows(facts, broken, rule, query))
            return Rows(sum(times for _, times in rows))

        wrong = wrong_rows([Rows(sum(one.count for one in here))], rule.found, rows_of)
        if wrong is None and rows:
            place, offset = where(Locator(read_blocks(damaged, "")), broken, rule, rows[0][0])
            if (offset, shown(place.pointer)) not in {(one.offset, one.pointer) for one in here}:
                return f"found at {here[0].offset} {here[0].pointer} instead of {offset}"
        return wrong


def _found_rows(
    clean: Facts, broken: Facts, rule: BinRule, stated: str | None
) -> list[tuple[int, int]]:
    """Rows of the rule's table that it should find, each with the number of values it stands for.

    Those that the rule states, else those that the damage changed or added.
    """
    columns = columns_of(rule.search.table)
    times = "times" if "times" in columns else "1"
    if stated:
        select = (
            f"SELECT rowid, {times} FROM {rule.search.table} "
            f"WHERE rowid IN (SELECT row FROM ({stated})) ORDER BY rowid"
        )
        return [(row, number) for row, number in broken.rows(select)]
    compared = [name for name in columns if name not in NOT_COMPARED]
    return list(broken.new_rows(clean, rule.search.table or "", compared, times))


def clean_file(subject: str) -> bytes:
    """A small file without a finding, but for its age. Raises ``KeyError`` for an unknown name."""
    if subject == OLDER:
        return older_file()
    scenario = override(preset(PRESETS[subject]), block_dim=BLOCK_DIM)
    return to_bytes(map(_shortened, simulate_kernel(scenario).blocks()))


def _shortened(block: Block) -> Block:
    if block.type == 0x0B:
        records = read_cache_records(block.payload)[:CACHE_LINES]
        return replace(block, payload=bytes(cache_payload(records)))
    if block.type == 0x0E:
        payload: dict[str, Any] = parse(block.payload)
        kept = {key: lines[:CACHE_LINES] for key, lines in payload.items()}
        return replace(block, payload=canonical(kept))
    return block
