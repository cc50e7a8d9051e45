"""Rules have pages, whatever kind of search and place they have."""

from __future__ import annotations

import pytest

from ascend_conformance.engine.failure import own_rules
from ascend_conformance.media import load_rules
from ascend_conformance.pages import THE_FINDING, demands, rule_page, rules_index
from ascend_conformance.ruleset import Rule


@pytest.mark.parametrize("rule", list(load_rules().values()), ids=lambda rule: rule.id)
def test_every_rule_has_a_complete_page(rule: Rule) -> None:
    text = rule_page(rule)
    assert text.startswith(f"# {rule.id} {rule.name}\n")
    expected = rule.expected.replace("{expected}", THE_FINDING)
    for part in (rule.summary, rule.why, rule.fix, rule.example, expected):
        assert part in text
    assert (rule.row or rule.select or getattr(rule.search, "code", None) or "").strip() in text


def test_placeholders_of_listed_places_are_explained() -> None:
    text = rule_page(load_rules()["LOS203"])
    assert "| `OP_MEMORY` | `MEMORY_RECORD` | `1` |" in text
    assert "**Reads:** `TASK.taskType`" in text


def test_only_failures_of_the_checker_are_found_by_its_failing() -> None:
    """The rules that no single search answers are found in several ways."""
    rules = own_rules().values()
    failed = {one.id for one in rules if "The checker failed" in rule_page(one)}
    assert failed == {one.id for one in rules if one.verdict == "failure"}


def test_the_index_has_a_line_per_rule() -> None:
    rules = load_rules()
    assert rules_index(rules.values()).count("\n| `") == len(rules)


def test_what_is_demanded_stands_with_each_thing() -> None:
    found = demands(load_rules().values())
    assert "`REL309`" in found["table/CANN_API"]
    assert "the table AICORE_FREQ" in found["table/TASK"]
    assert "id of acl, item_id of communication, else Mode" in found["layer/CANN"]
    assert "Release Time(us) less Allocation Time(us)" in found["csv/operator_memory"]
    assert "`XLR205`" in found["csv/communication_statistic"]
    assert "`REL518` | advice; violation from 50% of the rows" in found["layer/Communication"]
    assert "`BIN503`" in found["block/0x07"]
    assert "`DB504`" not in found["table/STRING_IDS"]
