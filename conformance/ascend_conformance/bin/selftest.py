"""Every rule meets its own damage on clean files, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import apsw

from ascend_ref.bin import BinFile, read_blocks

from ..finding import Finding
from ..options import Options
from .edits import NotEditable, apply_edits
from .facts import Facts, open_facts
from .judge import collect, judge_content
from .rules import BinRule, load_bin_rules
from .specimens import PRESETS, clean_file

WITHOUT_EXAMPLES = Options(max_examples=0)


@dataclass(frozen=True, slots=True)
class BinTrial:
    """One rule's damage on one clean file: the rules that fired, or why nothing was damaged."""

    subject: str
    rule: str
    fired: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    not_broken: str | None = None

    @property
    def caught(self) -> bool:
        """Whether the rule saw the damage."""
        return self.rule in self.fired

    @property
    def false_alarms(self) -> tuple[str, ...]:
        """Every other rule that fired, but for those that the rule names itself."""
        return tuple(rule for rule in self.fired if rule != self.rule and rule not in self.also)


@dataclass
class BinSelfTest:
    """The sums over all trials. ``unclean`` are findings on the clean files."""

    trials: list[BinTrial] = field(default_factory=list)
    unclean: list[str] = field(default_factory=list)

    @property
    def mutations(self) -> list[BinTrial]:
        """Trials whose file could be damaged."""
        return [trial for trial in self.trials if trial.not_broken is None]

    @property
    def missed(self) -> list[BinTrial]:
        """Damage that its rule did not see."""
        return [trial for trial in self.mutations if not trial.caught]

    @property
    def false_alarms(self) -> list[BinTrial]:
        """Damage that woke another rule as well."""
        return [trial for trial in self.mutations if trial.false_alarms]

    @property
    def never_broken(self) -> list[str]:
        """Rules in force for some of the files, with damage that none of them gave occasion for."""
        tried = {trial.rule for trial in self.mutations}
        return sorted({trial.rule for trial in self.trials} - tried)

    @property
    def passed(self) -> bool:
        """All caught, none false, each rule tried, clean files clean."""
        return not (self.missed or self.false_alarms or self.unclean or self.never_broken)


def run_bin(subjects: Mapping[str, bytes], rules: Iterable[str] | None = None) -> BinSelfTest:
    """Try every rule (or those named) on every clean file, given by name."""
    wanted = load_bin_rules() if rules is None else {name: load_bin_rules()[name] for name in rules}
    result = BinSelfTest()
    for name, content in subjects.items():
        clean = judge_content(content, name, WITHOUT_EXAMPLES)
        result.unclean += [
            f"{name}: {finding.rule} {finding.message}" for finding in clean.findings
        ]
        result.trials += trials(name, content, wanted.values())
    return result


def run_specimen(subject: str) -> BinSelfTest:
    """Try every rule on one of our own clean files; what a worker process does."""
    return run_bin({subject: clean_file(subject)})


def run_specimens(
    processes: int = 1, progress: Callable[[int, int], None] | None = None
) -> BinSelfTest:
    """Try every rule on all of our own clean files and sum up."""
    result = BinSelfTest()
    with ExitStack() as stack:
        if processes > 1:
            pool = stack.enter_context(ProcessPoolExecutor(min(processes, len(PRESETS))))
            parts = pool.map(run_specimen, PRESETS)
        else:
            parts = map(run_specimen, PRESETS)
        for done, part in enumerate(parts, start=1):
            result.trials += part.trials
            result.unclean += part.unclean
            if progress:
                progress(done, len(PRESETS))
    return result


def trials(
    subject: str, content: bytes, rules: Iterable[BinRule], known: Iterable[Finding] = ()
) -> Iterator[BinTrial]:
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
) -> BinTrial:
    try:
        damaged = apply_edits(file, rule.edits, victim_of(facts, rule))
    except NotEditable as reason:
        return BinTrial(subject, rule.id, not_broken=str(reason))
    found = judge_content(damaged, subject, WITHOUT_EXAMPLES).findings
    fired = {finding.rule for finding in found if (finding.rule, finding.place) not in before}
    return BinTrial(subject, rule.id, tuple(sorted(fired)), tuple(rule.also or ()))


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
