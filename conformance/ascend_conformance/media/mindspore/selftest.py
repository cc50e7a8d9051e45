"""Every rule meets its own break in clean folders, and only its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ascend_spec import mindspore_catalog

from ...engine.relations.selftest import Bench
from ...engine.trials import Rows, Trial, Trials, try_all, try_changes, wrong_rows
from ...finding import Finding
from ...options import Options
from ...ruleset import fill
from .edits import apply_edits
from .facts import Facts, fact_tables, open_facts
from .gather import Folder, read_folder
from .judge import judge_folder
from .queries import where
from .rules import FileRule, in_force, load_file_rules
from .shown import ShownByFacts
from .specimens import SPECIMENS, Side, write_specimen

WITHOUT_EXAMPLES = Options(max_examples=0)

NOT_COMPARED = {"cnt_before", "tick_before", "time_before", "end_before", "step_before"}
NOT_COMPARED |= {"is_first", "type_before"}
"""Columns that a change of another row changes as well."""


def run_specimens(
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    rules: Iterable[str] | None = None,
) -> Trials:
    """Try every rule, or those named, on all of our own clean folders and sum up."""
    return try_all(SPECIMENS, partial(run_specimen, rules=rules), processes, progress)


def run_specimen(subject: str, rules: Iterable[str] | None = None) -> Trials:
    """Try every rule, or those named, on one of our clean folders; what a worker process does."""
    result = Trials()
    wanted = [one for one in load_file_rules().values() if rules is None or one.id in rules]
    with TemporaryDirectory(prefix=".ascend-ref-") as place:
        for side, path in write_specimen(subject, Path(place)).items():
            own = [one for one in wanted if side_of(one) == side]
            found = try_folder(f"{subject}, {side}", path, own)
            result.trials += found.trials
            result.unclean += found.unclean
    return result


def side_of(rule: FileRule) -> Side:
    """In which files a rule is tried: what another side has would only differ from it then."""
    if rule.search.next_to:
        return "next to each other"
    kinds = {edit["file"] for edit in rule.breaks}
    if rule.search.table == "remade" or not kinds:
        return "both"
    is_raw = kinds <= mindspore_catalog().files.keys() | {"done"}
    return "raw files" if is_raw else "intermediate files"


def try_folder(subject: str, path: Path, rules: Sequence[FileRule]) -> Trials:
    """Try rules on a clean folder of raw and intermediate files."""
    result = Trials()
    with open_facts() as facts:
        clean = read_folder(facts, path, subject)
        found = judge_folder(clean, WITHOUT_EXAMPLES).findings
        result.unclean += [f"{subject}: {one.rule} {one.message}" for one in found]
        known = frozenset((one.rule, one.place) for one in found)
        for rule in rules:
            if in_force(rule, clean.day):
                result.trials += _trials(clean, rule, known)
    return result


def _trials(clean: Folder, rule: FileRule, known: frozenset[tuple[str, str]]) -> Iterator[Trial]:
    stated = {"": rule.breaks, **rule.keeps}
    changes = {legal: edits for legal, edits in stated.items() if edits}
    trial = Trial(clean.label, rule.id, also=tuple(rule.also))
    yield from try_changes(trial, changes, partial(_change, clean, rule, known))


def _change(
    clean: Folder,
    rule: FileRule,
    known: frozenset[tuple[str, str]],
    trial: Trial,
    edits: Sequence[Mapping[str, Any]],
) -> tuple[Iterable[str], str | None]:
    victim = clean.facts.victim(rule.search.victim)
    with TemporaryDirectory(prefix=".ascend-ref-") as place, open_facts() as facts:
        near = Path(place) / "near"
        shutil.copytree(clean.path.parent, near)
        copy = near / clean.path.name
        apply_edits(_moved(clean, copy), edits, victim)
        broken = read_folder(facts, copy, clean.label)
        report = judge_folder(broken, WITHOUT_EXAMPLES)
        found = [one for one in report.findings if (one.rule, one.place) not in known]
        wrong = None if trial.legal else _wrong(clean, broken, rule, found, victim)
        return [one.rule for one in found], wrong


def _moved(clean: Folder, copy: Path) -> Folder:
    """The folder with its files at another place."""
    base = clean.path
    numbers = {copy / one.relative_to(base): number for one, number in clean.numbers.items()}
    return replace(clean, path=copy, numbers=numbers)


def _wrong(
    clean: Folder,
    broken: Folder,
    rule: FileRule,
    found: Iterable[Finding],
    victim: Mapping[str, Any],
) -> str | None:
    """Where SQL finds other facts than those that were broken, or at another place."""
    here = [one for one in found if one.rule == rule.id]
    rows: list[int] = []

    def rows_of(stated: str | None) -> Rows:
        query = stated and fill(stated, {name: str(one) for name, one in victim.items()})
        rows.extend(_found_rows(clean.facts, broken.facts, rule, query))
        return Rows(len(rows))

    wrong = wrong_rows([Rows(sum(one.count for one in here))] if here else [], rule.found, rows_of)
    if wrong is None and rows:
        _, line, offset = where(broken, rule.search.table, rows[0])
        if (line, offset) not in {(one.line, one.offset) for one in here}:
            return f"found at {here[0].line} {here[0].offset} instead of {line} {offset}"
    return wrong


def _found_rows(clean: Facts, broken: Facts, rule: FileRule, stated: str | None) -> list[int]:
    """Rows of the rule's table that it should find: those that it states, else those that the
    change made other.
    """
    table = rule.search.table
    if stated:
        return [row for (row,) in broken.rows(f"SELECT row FROM ({stated}) ORDER BY row")]
    compared = [one for one in fact_tables()[table] if one not in NOT_COMPARED]
    return [row for row, _ in broken.new_rows(clean, table, compared)]


@contextmanager
def open_bench(subject: str) -> Iterator[Bench]:
    """The intermediate files of a clean job, in which relations are tried."""
    with TemporaryDirectory(prefix=".ascend-ref-") as place, open_facts() as facts:
        path = write_specimen(subject, Path(place))["intermediate files"]
        read_folder(facts, path, subject)
        shown = ShownByFacts(facts)

        @contextmanager
        def changing() -> Iterator[ShownByFacts]:
            facts.connection.execute("SAVEPOINT clean")
            try:
                yield shown
            finally:
                facts.connection.execute("ROLLBACK TO clean")
                facts.connection.execute("RELEASE clean")

        yield Bench(subject, changing, lambda _: ())
