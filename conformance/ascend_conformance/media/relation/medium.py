"""The rules on the recording itself, which other media judge where they show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ascend_ref.markdown import Style

from ...engine.relations import pages
from ...engine.relations.media import judged_in
from ...engine.relations.rule import load_relations
from ...engine.relations.selftest import try_relations
from ...engine.trials import Trials, try_all
from ...ruleset import Rule
from .. import Medium, media

_SPECIMENS = {"database": ("pytorch", "msprof"), "csv": ("text",), "timeline": ("text",)}
"""The specimens that are recordings, by what shows them."""


class _Relations(Medium):
    name = "relation"
    specimens = tuple(dict.fromkeys(one for some in _SPECIMENS.values() for one in some))

    def rules(self) -> Mapping[str, Rule[Any]]:
        return load_relations()

    def specimens_of(self, rule: Rule[Any]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for name in judged_in(rule) for one in _SPECIMENS[name]))

    def self_test(
        self,
        specimens: Sequence[str],
        revisions: Sequence[str] | None,
        processes: int,
        progress: Any,
    ) -> Trials:
        """The relations on the benches of every medium, whatever the revisions: they have none."""
        subjects = [
            (name, specimen, words)
            for specimen in specimens
            for name, medium in media().items()
            for words in medium.benches(specimen)
        ]
        return try_all(subjects, _try, processes, progress)

    def where(self, rule: Rule[Any], style: Style) -> str:
        return pages.where(rule)

    def search(self, rule: Rule[Any]) -> str:
        return pages.search(rule)

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        return pages.mutation(rule)

    def facts(self, rule: Rule[Any], style: Style) -> Iterable[tuple[str, str]]:
        return (("Reads", pages.reads(rule, style)),)


def _try(subject: tuple[str, str, str]) -> Trials:
    name, specimen, words = subject
    with media()[name].benches(specimen)[words]() as bench:
        return try_relations(bench)


MEDIUM = _Relations()
