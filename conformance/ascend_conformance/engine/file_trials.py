"""Rules on the files of one folder are tried: their breaks in clean folders, and in any other."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

import construct

from ascend_ref.raw.layout import Layout

from ..finding import FileReport
from .damaging import Change
from .file_edits import Edit, Victim, apply_edits
from .file_folder import FolderOfFacts
from .file_rules import TableRule
from .file_rules import wrong as wrong_places
from .sqlite_facts import SqliteFacts
from .trials import NotBreakable, Trial, Trials, try_changes

Folder = TypeVar("Folder", bound=FolderOfFacts)


@dataclass(frozen=True)
class Workbench(Generic[Folder]):
    """What a medium does with folders.

    ``read`` fills facts from a folder, which reports call by the name; ``judge`` needs no examples.
    ``layout`` is that of the file of an edit, with the declaration of what is edited; it raises
    ``KeyError`` for a file of texts. ``fits``: whether a rule is for a folder at all.
    ``not_compared``: columns that a change of another row changes as well.
    """

    medium: str
    open_facts: Callable[[], AbstractContextManager[SqliteFacts]]
    read: Callable[[SqliteFacts, Path, str], Folder]
    judge: Callable[[Folder], FileReport]
    layout: Callable[[Folder, Edit], tuple[Layout, construct.Struct]]
    not_compared: frozenset[str]
    fits: Callable[[TableRule, Folder], bool] = lambda _rule, _folder: True

    def damage(self, path: Path, rule: TableRule) -> list[Change]:
        """Carry out a rule's break in a folder. Raises :class:`NotBreakable`, ``OSError``."""
        if rule.medium != self.medium:
            raise NotBreakable("relations are not broken in these files")
        if not rule.breaks:
            raise NotBreakable("the rule states no break")
        with self.open_facts() as facts:
            folder = self.read(facts, path, path.name)
            if not self.fits(rule, folder):
                raise NotBreakable("the rule is about files of another time")
            done = self._edit(folder, rule.breaks, facts.victim(rule.search.victim))
        return [Change(str(changed), f"edit {dict(edit)}") for changed, edit in done]

    def _edit(
        self, folder: Folder, edits: Iterable[Edit], victim: Victim
    ) -> list[tuple[Path, Edit]]:
        return apply_edits(folder, edits, victim, partial(self.layout, folder))

    def try_folder(self, subject: str, path: Path, rules: Sequence[TableRule]) -> Trials:
        """Try rules on a clean folder, with what lies next to it."""
        result = Trials()
        with self.open_facts() as facts:
            clean = self.read(facts, path, subject)
            found = self.judge(clean).findings
            result.unclean += [f"{subject}: {one.rule} {one.message}" for one in found]
            known = frozenset((one.rule, one.place) for one in found)
            for rule in rules:
                if self.fits(rule, clean):
                    result.trials += self._trials(clean, rule, known)
        return result

    def _trials(
        self, clean: Folder, rule: TableRule, known: frozenset[tuple[str, str]]
    ) -> Iterator[Trial]:
        stated = {"": rule.breaks, **rule.keeps}
        changes = {legal: edits for legal, edits in stated.items() if edits}
        trial = Trial(clean.label, rule.id, also=tuple(rule.also))
        yield from try_changes(trial, changes, partial(self._change, clean, rule, known))

    def _change(
        self,
        clean: Folder,
        rule: TableRule,
        known: frozenset[tuple[str, str]],
        trial: Trial,
        edits: Sequence[Mapping[str, Any]],
    ) -> tuple[Iterable[str], str | None]:
        victim = clean.facts.victim(rule.search.victim)
        with TemporaryDirectory(prefix=".ascend-ref-") as place, self.open_facts() as facts:
            near = Path(place) / "near"
            shutil.copytree(clean.path.parent, near)
            copy = near / clean.path.name
            self._edit(clean.moved(copy), edits, victim)
            broken = self.read(facts, copy, clean.label)
            report = self.judge(broken)
            found = [one for one in report.findings if (one.rule, one.place) not in known]
            wrong = None
            if not trial.legal:
                wrong = wrong_places(clean, broken, rule, found, victim, self.not_compared)
            return [one.rule for one in found], wrong
