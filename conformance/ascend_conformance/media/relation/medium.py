"""The rules on the recording itself, which other media judge where they show it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import Described, Medium, SelfTest, media

if TYPE_CHECKING:
    from ascend_ref.markdown import Style

    from ...engine.trials import Trials, Trying
    from ...ruleset import Rule

_SPECIMENS = {"database": ("pytorch", "msprof"), "csv": ("text",), "timeline": ("text",)} | {
    "mindspore": ("mindspore",),
    "raw": ("raw",),
}
"""The specimens that are recordings, by what shows them."""


class _Relations(Medium):
    name = "relation"
    title = "What every medium shows"
    specimens = tuple(dict.fromkeys(one for some in _SPECIMENS.values() for one in some))

    def rules(self) -> Mapping[str, Rule[Any]]:
        from ...engine.relations.rule import load_relations

        return load_relations()

    def specimens_of(self, rule: Rule[Any]) -> tuple[str, ...]:
        from ...engine.relations.media import judged_in

        return tuple(dict.fromkeys(one for name in judged_in(rule) for one in _SPECIMENS[name]))

    def self_test(self, wanted: SelfTest) -> Trials:
        """The relations on the benches of every medium, whatever the revisions: they have none."""
        from ...engine.trials import try_all  # slow: processes

        subjects = [
            (name, specimen, words)
            for specimen in wanted.specimens
            for name, medium in media().items()
            for words in medium.benches(specimen)
        ]
        run = partial(_try, rules=wanted.rules)
        return try_all(subjects, run, wanted.processes, wanted.progress)

    def trying(self) -> Mapping[str, Trying]:
        """The places are the media that show what a relation is about."""
        from ...engine.relations.media import judged_in
        from ...engine.relations.rule import load_relations
        from ...engine.trials import Trying

        found = {}
        for relation in load_relations().values():
            one = Trying.of(relation, len(judged_in(relation)), broken=bool(relation.search.edits))
            is_placed = not isinstance(relation.found, int)
            legal = len(relation.search.legal)
            found[relation.id] = replace(one, legal=legal, counted=one.broken, placed=is_placed)
        return found

    def describe(self, rule: Rule[Any], style: Style) -> Described:
        from ...engine.relations import pages

        search, mutation = pages.search(rule), pages.mutation(rule, style)
        return Described(
            pages.where(rule), search, mutation, (("Reads", pages.reads(rule, style)),)
        )

    def about(self, rule: Rule[Any]) -> Iterable[tuple[str, str]]:
        from ...engine.relations import pages

        return ((address, rule.expected) for address in pages.about(rule))


def _try(subject: tuple[str, str, str], rules: Collection[str] | None) -> Trials:
    from ...engine.relations.rule import load_relations
    from ...engine.relations.selftest import try_relations

    tried = [one for one in load_relations().values() if rules is None or one.id in rules]
    name, specimen, words = subject
    with media()[name].benches(specimen)[words]() as bench:
        return try_relations(bench, tried)


MEDIUM = _Relations()
