"""The rules of MindSpore's files: what they name exists, and each wakes for its own break alone."""

from __future__ import annotations

import pytest

from ascend_conformance.engine.file_rules import query_of
from ascend_conformance.media import load_rules
from ascend_conformance.media.mindspore.facts import fact_tables, open_facts
from ascend_conformance.media.mindspore.rules import FileRule, load_file_rules
from ascend_conformance.media.mindspore.selftest import run_specimen, run_specimens
from ascend_conformance.media.mindspore.specimens import SPECIMENS
from ascend_conformance.pages import rule_page
from ascend_spec import catalog

RULES = list(load_file_rules().values())
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def test_names_are_those_of_no_other_rule() -> None:
    names = [one.name for one in load_rules().values()]
    assert len(set(names)) == len(names)
    assert load_file_rules().items() <= load_rules().items()


@each_rule
def test_what_a_rule_names_exists(rule: FileRule) -> None:
    tables = fact_tables()
    assert {rule.search.table, *rule.search.needs} <= tables.keys()
    assert {one.split(" ", 1)[0] for one in rule.source} <= catalog().documents.sources.keys()
    assert rule.also.keys() <= load_file_rules().keys()
    with open_facts() as facts:
        assert facts.rows(query_of(facts, rule)) == []
        if rule.search.victim:
            facts.rows(rule.search.victim)


@each_rule
def test_grade_is_that_of_the_best_source(rule: FileRule) -> None:
    order = ["documented", "observed", "inferred"]
    sources = catalog().documents.sources
    grades = [sources[one.split(" ", 1)[0]].grade for one in rule.source]
    assert order.index(rule.grade) >= min(map(order.index, grades))


@each_rule
def test_a_rule_has_a_break_and_a_nearest_legal_case(rule: FileRule) -> None:
    assert rule.breaks
    assert rule.keeps


@each_rule
def test_a_rule_has_a_page_with_its_parts(rule: FileRule) -> None:
    text = rule_page(rule)
    for part in (rule.id, rule.name, "## Why", "## Fix", "## Example", "## How it is found"):
        assert part in text
    assert ("## How the self-test breaks it" in text) == bool(rule.breaks)


@pytest.mark.campaign  # as the self-test does
@pytest.mark.parametrize("subject", SPECIMENS)
def test_each_rule_wakes_for_its_own_break_alone(subject: str) -> None:
    found = run_specimen(subject)
    assert found.unclean == []
    assert [one.words for one in found.missed] == []
    assert [(one.words, one.false_alarms) for one in found.false_alarms] == []
    assert found.mutations


@pytest.mark.campaign
def test_every_rule_is_broken_in_one_of_the_jobs() -> None:
    found = run_specimens(processes=2)
    assert found.passed
    assert {one.rule for one in found.mutations} == load_file_rules().keys()
