"""The rules as things that have an address: ``rule/DB401``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ascend_ref.markdown import Style
from ascend_ref.tools.spec.subject import Subject

from .media import load_rules
from .ruleset import Rule


def rule_subjects() -> Iterator[Subject]:
    """Every rule of every format."""
    for rule in load_rules().values():
        yield Subject(
            kind="rule",
            name=rule.id,
            summary=rule.summary,
            page=rule.page,
            section=partial(_section, rule),
            fact=rule,
            also=(rule.name,),
            cells={"verdict": rule.verdict, "name": rule.name},
        )


def _section(rule: Rule[Any], style: Style) -> str:
    from .pages import rule_page  # slow: every format's rules

    return rule_page(rule, style)
