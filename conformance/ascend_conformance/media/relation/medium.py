"""The rules on the recording itself, which other media judge where they show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ascend_ref.markdown import Style

from ...engine.relations import pages
from ...engine.relations.rule import load_relations
from ...ruleset import Rule
from .. import Medium


class _Relations(Medium):
    name = "relation"

    def rules(self) -> Mapping[str, Rule[Any]]:
        return load_relations()

    def where(self, rule: Rule[Any], style: Style) -> str:
        return pages.where(rule)

    def search(self, rule: Rule[Any]) -> str:
        return pages.search(rule)

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        return pages.mutation(rule)

    def facts(self, rule: Rule[Any], style: Style) -> Iterable[tuple[str, str]]:
        return (("Reads", pages.reads(rule, style)),)


MEDIUM = _Relations()
