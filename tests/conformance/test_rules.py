"""The rule documents: complete, citing what exists, disciplined in their verdicts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ascend_conformance.media import load_rules
from ascend_conformance.media.db.checks import registry
from ascend_conformance.media.db.mutation import SCHEMA_BREAKS
from ascend_conformance.media.db.places import SELECTORS
from ascend_conformance.media.db.rules import BETWEEN_RANKS, LAST_STAGE
from ascend_conformance.pages import rule_page
from ascend_conformance.ruleset import Rule
from ascend_spec import catalog

PACKAGE = Path(__file__).parents[2] / "conformance" / "ascend_conformance"
RULES = [rule for rule in load_rules().values() if rule.medium == "db"]
ON_FILES = {"files", "folder"}
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def test_there_are_as_many_rules_as_promised():
    structural = [rule for rule in RULES if rule.structural]
    assert len(structural) >= 30
    assert len(RULES) - len(structural) >= 60


def test_names_are_unique_and_read_as_words():
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert not [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)]


@each_rule
def test_rule_has_one_way_to_search(rule: Rule):
    assert sum(1 for way in (rule.row, rule.select, rule.search.code) if way) == 1
    assert 0 <= rule.search.stage <= LAST_STAGE


@each_rule
def test_inferred_ground_never_condemns(rule: Rule):
    assert rule.verdict != "violation" or rule.grade in {"documented", "observed"}


@each_rule
def test_citations_exist(rule: Rule):
    facts = catalog()
    assert {citation.split(" ", 1)[0] for citation in rule.source} <= facts.documents.sources.keys()
    assert rule.erratum is None or rule.erratum in facts.errata


@each_rule
def test_code_and_selector_are_known(rule: Rule):
    assert isinstance(rule.search.places, tuple) or rule.search.places in SELECTORS
    if rule.search.code:
        known = registry().keys() | {BETWEEN_RANKS}
        assert rule.search.code in known


@each_rule
def test_rule_can_be_broken(rule: Rule):
    by_files = rule.theme in ON_FILES or rule.search.code in TESTED_ON_FOLDERS
    assert rule.breaks or rule.search.code in SCHEMA_BREAKS or by_files


TESTED_ON_FOLDERS = {
    "rank-in-name-vs-map",
    "group-absent-from-parallel_group_info",
    "analysis-tables-missing",
    "group-size",
    "configured-tables",
    "configured-shapes",
    "scheduled-steps",
    "analysis-lost",
    BETWEEN_RANKS,
}
"""Codes whose fault lies between files: broken in tests/conformance/test_defects.py, steps
in tests/simulator/test_lost_data.py."""


@each_rule
def test_rule_has_a_page_with_its_parts(rule: Rule):
    page = rule_page(rule)
    for part in (rule.id, rule.name, "## Why", "## Fix", "## Example", "## How it is found"):
        assert part in page
    assert all(text.strip() for text in (rule.summary, rule.why, rule.fix, rule.example))
    assert rule.expected
