"""The rules on the recording itself, which other media judge where they show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import Medium, media

if TYPE_CHECKING:
    from ascend_ref.markdown import Style

    from ...engine.trials import Trials
    from ...ruleset import Rule

_SPECIMENS = {"database": ("pytorch", "msprof"), "csv": ("text",), "timeline": ("text",)}
"""The specimens that are recordings, by what shows them."""


class _Relations(Medium):
    name = "relation"
    specimens = tuple(dict.fromkeys(one for some in _SPECIMENS.values() for one in some))

    def rules(self) -> Mapping[str, Rule[Any]]:
        from ...engine.relations.rule import load_relations

        return load_relations()

    def specimens_of(self, rule: Rule[Any]) -> tuple[str, ...]:
        from ...engine.relations.media import judged_in

        return tuple(dict.fromkeys(one for name in judged_in(rule) for one in _SPECIMENS[name]))

    def self_test(
        self,
        specimens: Sequence[str],
        revisions: Sequence[str] | None,
        processes: int,
        progress: Any,
    ) -> Trials:
        """The relations on the benches of every medium, whatever the revisions: they have none."""
        from ...engine.trials import try_all  # slow: processes

        subjects = [
            (name, specimen, words)
            for specimen in specimens
            for name, medium in media().items()
            for words in medium.benches(specimen)
        ]
        return try_all(subjects, _try, processes, progress)

    def where(self, rule: Rule[Any], style: Style) -> str:
        from ...engine.relations import pages

        return pages.where(rule)

    def search(self, rule: Rule[Any]) -> str:
        from ...engine.relations import pages

        return pages.search(rule)

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        from ...engine.relations import pages

        return pages.mutation(rule)

    def facts(self, rule: Rule[Any], style: Style) -> Iterable[tuple[str, str]]:
        from ...engine.relations import pages

        return (("Reads", pages.reads(rule, style)),)


def _try(subject: tuple[str, str, str]) -> Trials:
    from ...engine.relations.selftest import try_relations

    name, specimen, words = subject
    with media()[name].benches(specimen)[words]() as bench:
        return try_relations(bench)


MEDIUM = _Relations()
