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

from ...engine.file_rules import wrong as wrong_places
from ...engine.relations.selftest import Bench
from ...engine.trials import Trial, Trials, try_all, try_changes
from ...options import Options
from .edits import apply_edits
from .facts import open_facts
from .gather import Folder, read_folder
from .judge import judge_folder
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
        wrong = None
        if not trial.legal:
            wrong = wrong_places(clean, broken, rule, found, victim, NOT_COMPARED)
        return [one.rule for one in found], wrong


def _moved(clean: Folder, copy: Path) -> Folder:
    """The folder with its files at another place."""
    base = clean.path
    numbers = {copy / one.relative_to(base): number for one, number in clean.numbers.items()}
    return replace(clean, path=copy, numbers=numbers)


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
