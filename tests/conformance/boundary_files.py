"""The boundary campaign on raw and on intermediate files: each comparison of each rule flipped.

A flipped rule is noticed where it finds another number of rows, or another first one, than the rule
itself: in a clean folder, or after the break or a legal case of any rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from unittest import mock

import apsw
from boundary_cases import CASES_OF_FACTS
from boundary_tokens import mutants

from ascend_conformance.engine.file_rules import TableRule, query_of
from ascend_conformance.engine.sqlite_facts import SqliteFacts
from ascend_conformance.finding import FileReport
from ascend_conformance.media.mindspore import selftest as of_mindspore
from ascend_conformance.media.raw import selftest as of_raw

Mutants = dict[str, TableRule]
Seen = tuple[int, int | None]
MEDIA: Mapping[str, Any] = {"mindspore": of_mindspore, "raw": of_raw}
"""By medium the module of its self-test."""


class _Undone(Exception):
    pass


class Campaign:
    """The flips of a medium that are still to be noticed."""

    def __init__(self, medium: str, rules: Sequence[str] | None = None) -> None:
        self.module = MEDIA[medium]
        load = self.module.load_file_rules if medium == "mindspore" else self.module.load_raw_rules
        self.rules = [one for one in load().values() if rules is None or one.id in rules]
        self.alive = {one.id: mutants(one) for one in self.rules}
        self.number = sum(map(len, self.alive.values()))

    def run(self) -> list[str]:
        """Play the self-test on all folders; what nothing notices."""
        plain = self.module.WORKBENCH

        def judge(folder: Any) -> FileReport:
            fitting = [one for one in self.rules if plain.fits(one, folder)]
            self._strike(folder.facts, fitting)
            self._meet(folder.facts, fitting)
            report: FileReport = plain.judge(folder)
            return report

        with mock.patch.object(self.module, "WORKBENCH", replace(plain, judge=judge)):
            for subject in self.module.SPECIMENS:
                self.module.run_specimen(subject, None)
        return sorted(f"{one}: {at}" for one, left in self.alive.items() for at in left)

    def _meet(self, facts: SqliteFacts, rules: Sequence[TableRule]) -> None:
        """Meet bounds of rules in facts of files that no writer makes."""
        for rule in rules:
            for statements in CASES_OF_FACTS.get(rule.id, ()):
                with suppress(_Undone), facts.connection:
                    for statement in statements:
                        facts.connection.execute(statement)
                    self._strike(facts, [rule])
                    raise _Undone

    def _strike(self, facts: SqliteFacts, rules: Sequence[TableRule]) -> None:
        """Drop the flips that find something else than their rule."""
        for rule in rules:
            alive = self.alive[rule.id]
            expected = _seen(facts, rule) if alive else None
            for at, flipped in list(alive.items()):
                found = _seen(facts, flipped)
                if expected is not None and found is not None and found != expected:
                    del alive[at]


def _seen(facts: SqliteFacts, rule: TableRule) -> Seen | None:
    """How many rows a rule finds, and the first; nothing where it cannot be asked."""
    query = f"SELECT count(*), min(row) FROM (SELECT DISTINCT row FROM ({query_of(facts, rule)}))"
    try:
        ((count, first),) = facts.rows(query)
    except apsw.Error:
        return None
    return count, first
