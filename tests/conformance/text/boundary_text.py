"""The boundary campaign on text deliverables: each comparison of each SQL rule flipped.

A flipped rule is noticed where it finds another number of rows, or another first row, than the rule
itself: in a clean folder, after the rule's own break, or after one of its keeps. One that SQL
refuses is no evidence of that: it is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb
from boundary_tokens import mutants

from ascend_conformance.discover import discover
from ascend_conformance.media.text.asking import find
from ascend_conformance.media.text.concerned import affected, changed_tables
from ascend_conformance.media.text.database import open_facts
from ascend_conformance.media.text.folder import Folder, read_folder
from ascend_conformance.media.text.queries import is_for, lacking
from ascend_conformance.media.text.rules import TextInstance, TextRule, instances, load_text_rules
from ascend_conformance.media.text.selftest import WITHOUT_EXAMPLES, open_specimen
from ascend_conformance.media.text.specimens import SUBJECTS

Mutants = dict[str, TextRule]

HANDMADE = {
    "ccu_channel_20260101170000.csv": "Device_id,Channel Id,Timestamp(us),Max Bandwidth(MB/s),"
    "Min Bandwidth(MB/s),Avg Bandwidth(MB/s)\n"
    "0,3,1767258000000001.000\t,0,50.25,70.0\n"
    "0,3,1767258000000002.000\t,70.0,50.25,0\n"
    "0,3,1767258000000003.000\t,60.0,50.25,70.0\n"
}
"""A file that no writer of ours makes, with what its rules find and what they leave out."""


class Outcome(NamedTuple):
    """Number of flips; those that nothing notices; of them, apart, those that SQL refused to ask
    somewhere; keeps that are not legal.
    """

    number: int
    alive: list[str]
    refused: list[str]
    illegal: list[str]


class Campaign:
    """The flips that are still to be noticed, and what is wrong with keeps."""

    def __init__(self, rules: Sequence[str] | None = None) -> None:
        self.rules = [
            rule
            for rule in load_text_rules().values()
            if (rule.row or rule.select) and (rules is None or rule.id in rules)
        ]
        self.alive = {rule.id: mutants(rule) for rule in self.rules}
        self.number = sum(map(len, self.alive.values()))
        self.refused: set[str] = set()
        self.illegal: set[str] = set()
        self.possible: set[tuple[str, str]] = set()

    def run(self) -> Outcome:
        """Play all folders."""
        for subject in SUBJECTS:
            wanted = [rule for rule in self.rules if self._open(rule, subject)]
            if wanted:
                with open_specimen(subject) as folder:
                    self._ask(subject, folder, wanted)
        with _open_files(HANDMADE) as folder:
            for rule, number, instance in _asked_of(folder, self.rules):
                self._strike(folder, rule, number, instance)
        lost = {
            f"{rule.id} {words}: possible nowhere"
            for rule in self.rules
            for words in rule.keeps
            if (rule.id, words) not in self.possible
        }
        left = {f"{rule}: {at}" for rule, flipped in self.alive.items() for at in flipped}
        refused = left & self.refused
        return Outcome(
            self.number, sorted(left - refused), sorted(refused), sorted(self.illegal | lost)
        )

    def _open(self, rule: TextRule, subject: str) -> bool:
        """Whether a subject is for a rule of which something is still to be asked."""
        asked = self.alive[rule.id] or rule.keeps
        return bool(asked) and rule.id.startswith(SUBJECTS[subject].tried or "")

    def _ask(self, subject: str, folder: Folder, rules: Sequence[TextRule]) -> None:
        every = list(load_text_rules().values())
        keeps = any(rule.keeps for rule in rules)
        clean = find(folder, every, WITHOUT_EXAMPLES) if keeps else ()
        before = {(one.rule, one.place) for one in clean}
        for rule, number, instance in _asked_of(folder, rules):
            self._strike(folder, rule, number, instance)
            for words, statements in self._cases(rule, instance):
                with _changed(folder, statements) as rows:
                    if not rows:
                        continue
                    self._strike(folder, rule, number, instance)
                    if words:
                        self.possible.add((rule.id, words))
                        touched = affected(changed_tables(statements), rule)
                        found = find(folder, touched, WITHOUT_EXAMPLES)
                        new = {one.rule for one in found if (one.rule, one.place) not in before}
                        if woken := sorted(new - set(rule.also or ())):
                            self.illegal.add(f"{rule.id} {words}: wakes {woken} in {subject}")

    def _cases(self, rule: TextRule, instance: TextInstance) -> Iterator[tuple[str, Sequence[str]]]:
        """The break, without words, and the keeps."""
        if instance.breaks and self.alive[rule.id]:
            yield "", instance.breaks
        yield from instance.keeps.items()

    def _strike(self, folder: Folder, rule: TextRule, number: int, instance: TextInstance) -> None:
        """Drop the flips that find something else than the rule."""
        alive = self.alive[rule.id]
        expected = _seen(folder, instance) if alive else None
        for at, flipped in list(alive.items()):
            found = _seen(folder, list(instances(flipped))[number])
            if found is None:
                self.refused.add(f"{rule.id}: {at}")
            elif expected is not None and found != expected:
                del alive[at]


def _asked_of(
    folder: Folder, rules: Sequence[TextRule]
) -> Iterator[tuple[TextRule, int, TextInstance]]:
    """The places of rules that can be asked of a folder, each with its number."""
    for rule in rules:
        for number, instance in enumerate(instances(rule)):
            if is_for(folder, instance) and not lacking(folder.facts.tables(), instance):
                yield rule, number, instance


@contextmanager
def _open_files(files: Mapping[str, str]) -> Iterator[Folder]:
    """The text files of a folder of msprof."""
    with TemporaryDirectory() as place, open_facts() as facts:
        profile = "PROF_000001_20260101170000000_ABCDEFGHIJKLMNOP"
        output = Path(place) / profile / "mindstudio_profiler_output"
        output.mkdir(parents=True)
        for name, text in files.items():
            (output / name).write_text(text)
        [found] = (one for one in discover(output) if one.medium == "text")
        yield read_folder(facts, found.details.deliverables)


def _seen(folder: Folder, instance: TextInstance) -> Any:
    """How many rows an instance finds, and the first; nothing where it cannot be asked."""
    query = f"SELECT count(*), min((file, row)) FROM ({instance.query})"
    try:
        return folder.facts.connection.execute(query).fetchone()
    except duckdb.Error:
        return None


@contextmanager
def _changed(folder: Folder, statements: Sequence[str]) -> Iterator[int]:
    """The folder after some statements, as long as it lasts; the number of rows they changed."""
    connection = folder.facts.connection
    connection.execute("BEGIN")
    try:
        rows = 0
        try:
            for statement in statements:
                row = connection.execute(statement).fetchone()
                rows += int(row[0]) if row else 1
        except duckdb.Error:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN")
            rows = 0
        yield rows
    finally:
        connection.execute("ROLLBACK")
