"""Every rule meets its own damage on clean files, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import apsw

from ascend_ref.bin import BinFile, read_blocks

from ...engine.trials import Trial, Trials, try_all
from ...finding import Finding
from ...options import Options
from .edits import NotEditable, apply_edits
from .facts import Facts, open_facts
from .judge import collect, judge_content
from .rules import BinRule, load_bin_rules
from .specimens import PRESETS, clean_file

WITHOUT_EXAMPLES = Options(max_examples=0)


def run_bin(subjects: Mapping[str, bytes], rules: Iterable[str] | None = None) -> Trials:
    """Try every rule (or those named) on every clean file, given by name."""
    wanted = load_bin_rules() if rules is None else {name: load_bin_rules()[name] for name in rules}
    result = Trials()
    for name, content in subjects.items():
        clean = judge_content(content, name, WITHOUT_EXAMPLES)
        result.unclean += [
            f"{name}: {finding.rule} {finding.message}" for finding in clean.findings
        ]
        result.trials += trials(name, content, wanted.values())
    return result


def run_specimen(subject: str) -> Trials:
    """Try every rule on one of our own clean files; what a worker process does."""
    return run_bin({subject: clean_file(subject)})


def run_specimens(processes: int = 1, progress: Callable[[int, int], None] | None = None) -> Trials:
    """Try every rule on all of our own clean files and sum up."""
    return try_all(PRESETS, run_specimen, processes, progress)


def trials(
    subject: str, content: bytes, rules: Iterable[BinRule], known: Iterable[Finding] = ()
) -> Iterator[Trial]:
    """Damage a file for each rule that says how; ``known`` findings of the file do not count."""
    before = {(finding.rule, finding.place) for finding in known}
    file = read_blocks(content, subject)
    with open_facts() as facts:
        epoch, _ = collect(file, facts)
        for rule in rules:
            if rule.edits and rule.in_force(epoch):
                yield _trial(subject, file, facts, rule, before)


def _trial(
    subject: str, file: BinFile, facts: Facts, rule: BinRule, before: set[tuple[str, str]]
) -> Trial:
    try:
        damaged = apply_edits(file, rule.edits, victim_of(facts, rule))
    except NotEditable as reason:
        return Trial(subject, rule.id, not_broken=str(reason))
    found = judge_content(damaged, subject, WITHOUT_EXAMPLES).findings
    fired = {finding.rule for finding in found if (finding.rule, finding.place) not in before}
    return Trial(subject, rule.id, fired=tuple(sorted(fired)), also=tuple(rule.also or ()))


def victim_of(facts: Facts, rule: BinRule) -> dict[str, Any]:
    """What the rule's edits refer to by name. Raises :class:`NotEditable` for no such thing."""
    if rule.victim is None:
        return {}
    cursor = facts.connection.execute(rule.victim)
    try:
        names = [entry[0] for entry in cursor.get_description()]
    except apsw.ExecutionCompleteError:
        names = []
    row = cursor.fetchone()
    if row is None or None in row:
        raise NotEditable("the file has nothing that can break so")
    return dict(zip(names, row, strict=True))
