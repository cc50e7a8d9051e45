"""The rules' prose, as reports show it."""

from __future__ import annotations

from collections.abc import Mapping

from .media import load_rules
from .report import RuleCard


def rule_cards() -> Mapping[str, RuleCard]:
    """A card for every rule, by id."""
    return {
        rule.id: RuleCard(rule.id, rule.name, rule.summary, rule.why, rule.fix, rule.verdict)
        for rule in load_rules().values()
    }
