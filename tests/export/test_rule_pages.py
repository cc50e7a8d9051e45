"""Rules have pages, whatever kind of search and place they have."""

from __future__ import annotations

import pytest

from ascend_conformance.media import load_rules
from ascend_conformance.pages import THE_FINDING, rule_page, rules_by_table, rules_index
from ascend_conformance.ruleset import Rule
from ascend_spec import catalog


@pytest.mark.parametrize("rule", list(load_rules().values()), ids=lambda rule: rule.id)
def test_every_rule_has_a_complete_page(rule: Rule) -> None:
    text = rule_page(rule)
    assert text.startswith(f"# {rule.id} {rule.name}\n")
    expected = rule.expected.replace("{expected}", THE_FINDING)
    for part in (rule.summary, rule.why, rule.fix, rule.example, expected):
        assert part in text
    assert (rule.row or rule.select or getattr(rule.search, "code", None) or "").strip() in text


def test_the_index_has_a_line_per_rule() -> None:
    rules = load_rules()
    assert rules_index(rules.values()).count("\n| `") == len(rules)


def test_a_table_knows_its_rules() -> None:
    rules = rules_by_table(catalog(), load_rules().values())
    assert "DB401" in rules["TASK"]
    assert "DB401" not in rules["STRING_IDS"]
