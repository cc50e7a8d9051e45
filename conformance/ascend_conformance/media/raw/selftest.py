"""Every rule meets its own break in clean folders, and only its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...engine.file_rules import wrong as wrong_places
from ...engine.trials import Trial, Trials, try_all, try_changes
from ...options import Options
from .damaging import apply_edits
from .facts import open_facts
from .gather import read_folder
from .judge import judge_folder
from .reading import Folder
from .rules import TEXT, RawRule, load_raw_rules
from .specimens import SPECIMENS, write_specimen

WITHOUT_EXAMPLES = Options(max_examples=0)

NOT_COMPARED = frozenset(
    [
        *("place", "batch", "before", "is_mixed", "iteration", "held", "item", "is_seen"),
        *("text_before", "number_before"),
    ]
)
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
    wanted = [
        one
        for one in load_raw_rules().values()
        if (rules is None or one.id in rules) and is_of_text(one) == (subject == TEXT)
    ]
    with TemporaryDirectory(prefix=".ascend-ref-") as place, open_facts() as facts:
        clean = read_folder(facts, write_specimen(subject, Path(place)), subject)
        found = judge_folder(clean, WITHOUT_EXAMPLES).findings
        result.unclean += [f"{subject}: {one.rule} {one.message}" for one in found]
        known = frozenset((one.rule, one.place) for one in found)
        for rule in wanted:
            result.trials += _trials(clean, rule, known)
    return result


def is_of_text(rule: RawRule) -> bool:
    """Whether a rule is about texts, in which alone it is tried; the others need records."""
    return rule.theme == TEXT


def _trials(clean: Folder, rule: RawRule, known: frozenset[tuple[str, str]]) -> Iterator[Trial]:
    stated = {"": rule.breaks, **rule.keeps}
    changes = {legal: edits for legal, edits in stated.items() if edits}
    trial = Trial(clean.label, rule.id, also=tuple(rule.also))
    yield from try_changes(trial, changes, partial(_change, clean, rule, known))


def _change(
    clean: Folder,
    rule: RawRule,
    known: frozenset[tuple[str, str]],
    trial: Trial,
    edits: Sequence[Mapping[str, Any]],
) -> tuple[Iterable[str], str | None]:
    victim = clean.facts.victim(rule.search.victim)
    with TemporaryDirectory(prefix=".ascend-ref-") as place, open_facts() as facts:
        copy = Path(place) / clean.path.name
        (shutil.copytree if clean.path.is_dir() else shutil.copy)(clean.path, copy)
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
    numbers = {
        copy / one.relative_to(base) if one != base else copy: number
        for one, number in clean.numbers.items()
    }
    return replace(clean, path=copy, numbers=numbers)
