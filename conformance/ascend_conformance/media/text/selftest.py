"""Every rule meets its own break on clean facts, and only its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from string import digits
from tempfile import TemporaryDirectory
from typing import Any

from ...compare.agreement import WHICH, Agreement
from ...compare.match import Outcome, reports_rows
from ...engine.failure import rule_that_finds
from ...engine.relations.edits import Editable
from ...engine.relations.selftest import Bench
from ...engine.relations.views import View
from ...engine.trials import NotBreakable, Rows, Trial, Trials, try_all, try_changes, wrong_rows
from ...finding import Finding
from ...options import Options
from .asking import find
from .concerned import changed_tables, concerned, events_of, reads_table
from .database import Facts, open_facts
from .disagreement import Mutation, broken, mutations
from .edits import EditableFiles
from .folder import Folder, load_database, read_folder
from .places import column_in_words
from .queries import lacking
from .rules import TextInstance, TextRule, instances, load_text_rules
from .selecting import Absent, reading_of, sums_of
from .sources import Sources
from .specbreaks import structural_breaks
from .specimens import SUBJECTS, write_specimen

WITHOUT_EXAMPLES = Options(max_examples=0)

Case = tuple[str, str, str]
"""A rule, its place, and the words of a legal case, or of a cell; none of its break."""

_Chosen = tuple[Sequence[str], Collection[str] | None, slice]
"""Folders, the rules that are named, and which part of all rules."""

OF_RELATIONS = "adapter-museum"
"""The folder that shows the most of a recording."""


@dataclass(frozen=True, slots=True)
class Clean:
    """A folder before it is changed: the keys of its findings, and the contents of the tables of
    its timelines; without these any of them may differ after a change.
    """

    found: Collection[tuple[str, str]] = ()
    events: Mapping[str, object] = field(default_factory=dict)


def run_subject(
    subject: str, only: Iterable[str] | None = None, done: Collection[Case] = ()
) -> Trials:
    """Try the rules that a clean folder is for, or those named, on it.

    ``done``: cases of rules for which another folder gave occasion.
    """
    rules = load_text_rules()
    result = Trials()
    with open_specimen(subject) as folder:
        clean = find(folder, list(rules.values()), WITHOUT_EXAMPLES)
        before = Clean({_key(one) for one in clean}, events_of(folder.facts))
        result.unclean += [
            f"{subject}: {one.rule} {one.place}: {one.message}"
            for one in clean
            if one.erratum is None
        ]
        for name in _tried_on(subject) if only is None else only:
            result.trials += try_rule(subject, folder, rules[name], before, done)
    return result


def _tried_on(subject: str) -> list[str]:
    return [name for name in load_text_rules() if name.startswith(SUBJECTS[subject].tried or "")]


def run_specimens(
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    rules: Collection[str] | None = None,
) -> Trials:
    """Try every rule on clean folders of all writers, or those named on each of them, and sum up.

    A query is tried on further folders as long as places of it are left that could not be broken,
    an agreement at cells that it has not been broken at, and what is said of files on a folder of
    each writer.
    """
    chosen: list[_Chosen]
    if rules is None:
        parts = max(1, processes)
        chosen = [(tuple(SUBJECTS), rules, slice(part, None, parts)) for part in range(parts)]
    else:
        subjects = [one for one in SUBJECTS if any(name in rules for name in _tried_on(one))]
        chosen = [((one,), rules, slice(None)) for one in subjects]
    result = try_all(chosen, _run_chosen, processes, progress)
    result.trials = _once_broken(result.trials)
    return result


def _run_chosen(chosen: _Chosen) -> Trials:
    """What a worker process does: a part of the rules on some folders, one after the other."""
    subjects, rules, part_of_rules = chosen
    known = load_text_rules()
    own = [one for one in list(known)[part_of_rules] if rules is None or one in rules]
    result = Trials()
    for subject in subjects:
        before = result.trials if rules is None else []
        writer = SUBJECTS[subject].writer
        whole = _wholly_broken([one for one in before if SUBJECTS[one.subject].writer == writer])
        whole |= {one for one in _wholly_broken(before) if known[one].row or known[one].select}
        names = [one for one in _tried_on(subject) if one in own and one not in whole]
        if not names:
            continue
        done = {case for one in before if one.not_broken is None for case in _cases(one)}
        part = run_subject(subject, names, done)
        result.trials += part.trials
        result.unclean += part.unclean
    return result


def _wholly_broken(trials: Sequence[Trial]) -> set[str]:
    """Rules of which no place and no legal case is left."""
    return {one.rule for one in trials} - {
        one.rule for one in _once_broken(trials) if one.not_broken is not None
    }


def _once_broken(trials: Sequence[Trial]) -> list[Trial]:
    """The breaks, and each place that none of the folders could be broken at."""
    broken = [one for one in trials if one.not_broken is None]
    known = {_case(one) for one in broken}
    others = {_case(one): one for one in trials if one.not_broken is not None}
    return broken + [one for place, one in others.items() if place not in known]


def _case(trial: Trial) -> Case:
    return trial.rule, trial.place, trial.legal


def _cases(trial: Trial) -> Iterator[Case]:
    """The case of a trial, and that of the cell that was changed, whichever its row."""
    yield _case(trial)
    if trial.changed:
        yield trial.rule, trial.place, _cell(trial.changed)


def _cell(changed: str) -> str:
    """The words of a change without the number of its row."""
    return changed.rstrip(digits)


@contextmanager
def open_specimen(subject: str) -> Iterator[Folder]:
    """The facts of a clean folder, every layer a table, with the database next to it."""
    with TemporaryDirectory(prefix=".ascend-ref-") as place, open_facts() as facts:
        deliverables, database = write_specimen(subject, Path(place))
        folder = read_folder(facts, deliverables, kept="whole")
        load_database(folder, database, load_text_rules().values())
        facts.settle()
        yield folder


class _Watched(EditableFiles):
    """Facts that may be changed. ``written``: the tables that were, by schema and name."""

    def __init__(self, facts: Facts, writers: Mapping[str, str]) -> None:
        super().__init__(facts, writers)
        self.written: set[tuple[str, str]] = set()

    def write(self, view: View, place: int, values: Mapping[str, Any]) -> None:
        self._note(view)
        super().write(view, place, values)

    def drop(self, view: View, place: int) -> None:
        self._note(view)
        super().drop(view, place)

    def repeat(self, view: View, place: int) -> None:
        self._note(view)
        super().repeat(view, place)

    def _note(self, view: View) -> None:
        events = {("trace", "event"), ("trace", "named")}
        self.written |= {("raw", view.space)} if view.medium == "csv" else events


@contextmanager
def open_bench(kind: str, name: str = OF_RELATIONS) -> Iterator[Bench]:
    """The CSV files or the timeline of the clean folder of a name alone, for relations."""
    rules = [one for one in load_text_rules().values() if one.search.agreement is None]
    with TemporaryDirectory(prefix=".ascend-ref-") as place, open_facts() as facts:
        deliverables, _ = write_specimen(name, Path(place))
        folder = read_folder(facts, [one for one in deliverables if one.kind == kind])
        failing = rule_that_finds("rule").id
        before = {_key(one) for one in find(folder, rules, WITHOUT_EXAMPLES) if one.rule != failing}

        @contextmanager
        def changing() -> Iterator[Editable]:
            with facts.undone():
                yield _Watched(facts, folder.csv_writers)

        def others(shown: Any) -> set[str]:
            written: set[tuple[str, str]] = shown.written
            asked = [
                one for one in rules if any(reads_table(one, *table, None) for table in written)
            ]
            found = find(_part(folder, written), asked, WITHOUT_EXAMPLES) if written else []
            return {one.rule for one in found if _key(one) not in before}

        def changed(shown: Any) -> set[str] | None:
            """The files whose cells were; an event can stand in any layer."""
            return {name for _, name in shown.written} if kind == "csv" else None

        yield Bench(f"{name} {kind}", changing, others, changed)


def try_rule(
    subject: str,
    folder: Folder,
    rule: TextRule,
    before: Clean,
    done: Collection[Case] = (),
) -> Iterator[Trial]:
    """Break the facts for a rule at each of its places, and make each of its legal cases.

    Findings of the folder ``before`` do not count. ``done``: cases that need not be tried.
    """
    if rule.search.outputs and folder.output not in rule.search.outputs:
        yield Trial(subject, rule.id, not_broken="the rule is for other folders")
        return
    if rule.search.agreement is not None:
        yield from try_agreement(subject, folder, rule, done)
        return
    if rule.search.check is not None:
        tried = False
        for place, breaks in structural_breaks(folder, rule):
            tried = True
            trial = Trial(subject, rule.id, place, also=tuple(rule.also))
            yield from try_changes(
                trial, {"": breaks}, partial(_change, folder, rule, before, None)
            )
        if not tried:
            yield Trial(subject, rule.id, "", not_broken="no file gives occasion")
        return
    for given, instance in zip(rule.search.at, instances(rule), strict=True):
        trial = Trial(subject, rule.id, ", ".join(given.values()), also=tuple(rule.also))
        stated = {"": instance.breaks, **instance.keeps}
        changes = {
            legal: change
            for legal, change in stated.items()
            if change and (rule.id, trial.place, legal) not in done
        }
        make = partial(_change, folder, rule, before, instance)
        yield from try_changes(trial, changes, make)


def try_agreement(
    subject: str, folder: Folder, rule: TextRule, done: Collection[Case] = ()
) -> Iterator[Trial]:
    """Break an agreement in every way that a clean folder gives occasion for.

    A change that its side does not show, such as that of the only part of a total, does not count.
    Other rules see no cell that they do not read.
    """
    sources = Sources(folder.facts)
    if rule.search.agreement is None:
        return
    for place, agreement in zip(
        rule.search.agreement.each, rule.search.agreement.instances, strict=True
    ):
        instance, tried = ", ".join(place.values()), False
        try:
            found = mutations(sources, agreement)
        except Absent:
            found = []
        left = [one for one in found if (rule.id, instance, one.words.rstrip(digits)) not in done]
        for mutation, caught in _tried(sources, agreement, left):
            tried = True
            fired = (rule.id,) if caught else ()
            yield Trial(subject, rule.id, instance, fired, changed=mutation.words)
        if not tried and len(left) == len(found):
            yield Trial(subject, rule.id, instance, not_broken="there are not both sides")


def _tried(
    sources: Sources, agreement: Agreement, found: Sequence[Mutation]
) -> Iterator[tuple[Mutation, bool]]:
    """Each mutation, and whether it was reported.

    Those of one side that concern different rows come all at once, and again without those that
    were reported, which may hide others; what is left then comes one by one.
    """
    together = [one for one in found if one.pair]
    caught: list[Mutation] = []
    for which in WHICH:
        left = [one for one in together if one.which == which]
        while left:
            with broken(sources, left):
                outcome = reading_of(sources, agreement)
                reported = [one for one in left if _is_reported(sources, outcome, one)]
            if not reported:
                break
            caught += reported
            left = [one for one in left if one not in reported]
    for mutation in found:
        if mutation in caught:
            yield mutation, True
            continue
        with broken(sources, [mutation]):
            outcome = reading_of(sources, agreement)
            is_reported = (
                any(outcome.differing.get(name) for name in mutation.columns)
                if mutation.columns
                else outcome.faults > 0
            )
            reading = outcome.compared.agreement
            sums = None if is_reported else sums_of(sources, reading, mutation.which)
        if is_reported or sums != sums_of(sources, reading, mutation.which):
            yield mutation, is_reported


def _is_reported(sources: Sources, found: Outcome, mutation: Mutation) -> bool:
    """Whether the rows of a mutation, or those that they were paired with, are reported."""
    if mutation.pair is None or not found.faults:
        return False
    return reports_rows(sources.facts, found, mutation.pair, mutation.columns)


def _change(
    folder: Folder,
    rule: TextRule,
    before: Clean,
    instance: TextInstance | None,
    trial: Trial,
    change: Sequence[str],
) -> tuple[Iterable[str], str | None]:
    if instance is not None and lacking(folder.facts.tables(), instance):
        raise NotBreakable("the facts have not its columns")
    facts = folder.facts
    is_counted = instance is not None and not trial.legal
    prints = _prints(facts, instance) if instance is not None and is_counted else None
    with facts.undone():
        if not sum(_run(facts, statement) for statement in change):
            raise NotBreakable("the facts have nothing to change")
        rules = concerned(change, rule, facts, before.events)
        found = find(_part(folder, changed_tables(change)), rules, WITHOUT_EXAMPLES)
        fired = {one.rule for one in found if _key(one) not in before.found}
        if not trial.legal and rule.id not in fired and rule.id in {one.rule for one in found}:
            raise NotBreakable("the folder has it already")
        wrong = None
        if instance is not None and is_counted:
            new = [one for one in found if one.rule == rule.id and _key(one) not in before.found]
            wrong = _wrong(folder, instance, prints, new)
        return fired, wrong


def _prints(facts: Facts, instance: TextInstance) -> str | None:
    """A table of the rows of a rule's table as they are, where the break says nothing of them."""
    if instance.rule.found is not None:
        return None
    facts.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE prints AS SELECT file, row, hash(t) FROM {instance.at} t"
    )
    return "prints"


def _wrong(
    folder: Folder, instance: TextInstance, prints: str | None, found: Sequence[Finding]
) -> str | None:
    """Where a rule finds other rows than those that were broken."""

    def rows_of(stated: str | None) -> Rows:
        if stated is None:
            stated = (
                f"SELECT file, row FROM (SELECT file, row, hash(t) FROM {instance.at} t "
                f"EXCEPT FROM {prints})"
            )
        first = "arg_min(bad.row, {'file': bad.file, 'row': bad.row})"
        return Rows(*folder.facts.rows(f"SELECT count(*), {first} FROM ({stated}) bad")[0])

    column = column_in_words(instance.at, instance.column)
    # Places of one column cannot be distinguished.
    here = [one for one in found if one.column == column] or found
    return wrong_rows(
        [Rows(one.count, one.context["row"]) for one in here], instance.found, rows_of
    )


def _run(facts: Facts, statement: str) -> int:
    """Run a statement; the number of rows that it changed."""
    if statement.lstrip().upper().startswith(("DROP", "ALTER")):
        [(schema, name)] = changed_tables([statement])
        facts.define(f"{schema}.{name}", statement)
        return 1
    row = facts.connection.execute(statement).fetchone()
    return int(row[0]) if row else 1


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.place


def _part(folder: Folder, changed: Iterable[tuple[str, str]]) -> Folder:
    """The folder without CSV files whose cells have not changed, if only cells have."""
    names = {name for schema, name in changed if schema == "raw"}
    if not names or any(schema == "unit" for schema, _ in changed):
        return folder
    kept = [number for number in folder.csv if folder.files[number].name in names]
    return replace(folder, csv={number: folder.csv[number] for number in kept})
