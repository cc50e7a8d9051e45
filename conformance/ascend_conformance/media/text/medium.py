"""The medium of text deliverables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ascend_ref.tools.spec.style import Style

from ...ruleset import Rule
from . import pages
from .rules import load_text_rules


class _Medium:
    name = "text"

    def rules(self) -> Mapping[str, Rule[Any]]:
        return load_text_rules()

    def where(self, rule: Rule[Any], style: Style) -> str:
        return pages.where(rule)

    def search(self, rule: Rule[Any]) -> str:
        return pages.search(rule)

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        return pages.mutation(rule)

    def facts(self, rule: Rule[Any], style: Style) -> Iterable[tuple[str, str]]:
        return ()


MEDIUM = _Medium()
