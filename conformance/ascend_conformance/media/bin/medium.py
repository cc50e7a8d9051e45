"""The medium of block files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ascend_ref.tools.spec.style import Style

from ...ruleset import Rule
from . import pages
from .rules import load_bin_rules


class _Medium:
    name = "bin"

    def rules(self) -> Mapping[str, Rule[Any]]:
        return load_bin_rules()

    def where(self, rule: Rule[Any], style: Style) -> str:
        return pages.where(rule)

    def search(self, rule: Rule[Any]) -> str:
        return pages.search(rule)

    def mutation(self, rule: Rule[Any]) -> Iterable[str]:
        return pages.mutation(rule)

    def facts(self, rule: Rule[Any], style: Style) -> Iterable[tuple[str, str]]:
        return ()


MEDIUM = _Medium()
