"""The rule documents: complete, citing what exists, and breakable."""

from __future__ import annotations

from pathlib import Path

import pytest

import ascend_conformance
from ascend_conformance.media import load_rules
from ascend_conformance.media.bin.facts import plain_tables
from ascend_conformance.media.bin.flatten import fact_tables
from ascend_conformance.media.bin.rules import BinRule, load_bin_rules
from ascend_conformance.pages import rule_page
from ascend_spec import bin_catalog, catalog
from ascend_spec.core.dialect import walk

PACKAGE = Path(ascend_conformance.__file__).parent
RULES = list(load_bin_rules().values())
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)

WITHOUT_EDITS = {
    "BIN103": "a payload of 100 MiB (test_bin_hostile)",
    "BIN128": "a file of an older epoch (test_bin_real)",
}
"""Rules that no edit of a small clean file of today can break, and where they are tested."""


def test_rules_of_all_formats_share_one_list_without_clashes():
    rules = load_rules()
    assert load_bin_rules().items() <= rules.items()
    names = [rule.name for rule in rules.values()]
    assert len(set(names)) == len(names)
    assert all(rule.medium == "bin" for rule in RULES)


@each_rule
def test_what_a_rule_names_exists(rule: BinRule):
    tables = fact_tables().keys() | plain_tables().keys()
    assert rule.search.table is None or rule.search.table in tables
    assert rule.erratum is None or rule.erratum in bin_catalog().errata
    assert {
        citation.split(" ", 1)[0] for citation in rule.source
    } <= catalog().documents.sources.keys()
    epochs = {epoch.id for epoch in bin_catalog().epochs}
    assert {rule.since, rule.until} - {None} <= epochs
    assert rule.also.keys() <= load_bin_rules().keys()


@each_rule
def test_grade_is_that_of_the_best_source(rule: BinRule):
    order = ["documented", "observed", "inferred"]
    grades = [
        catalog().documents.sources[citation.split(" ", 1)[0]].grade for citation in rule.source
    ]
    assert order.index(rule.grade) >= min(map(order.index, grades))


@each_rule
def test_a_rule_has_edits_or_a_test_of_its_own(rule: BinRule):
    assert bool(rule.breaks) != (rule.id in WITHOUT_EDITS)


@each_rule
def test_a_rule_has_a_page_with_its_parts(rule: BinRule):
    text = rule_page(rule)
    for part in (rule.id, rule.name, "## Why", "## Fix", "## Example", "## How it is found"):
        assert part in text
    assert ("## How the self-test breaks it" in text) == bool(rule.breaks)


def test_every_error_of_a_payload_schema_belongs_to_a_rule():
    general = {word for rule in RULES if rule.search.schema for word in rule.search.schema.keywords}
    claimed = schema_places()
    for code, epoch, place, node in schema_nodes():
        for keyword in node.keys() & MAY_FAIL - general:
            at = (code, place)
            assert node.get("advisory") or at in claimed, f"{epoch} {at}: {keyword}"


def schema_places():
    searches = [rule.search.schema for rule in RULES if rule.search.schema]
    return {place for search in searches for place in search.places}


MAY_FAIL = {
    *("type", "enum", "const", "required", "pattern", "minLength", "maxLength", "format", "not"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems", "uniqueItems", "contains", "minProperties", "maxProperties"),
    *("anyOf", "oneOf", "dependentRequired", "unevaluatedProperties", "unevaluatedItems"),
}


def schema_nodes():
    for code in filter(bin_catalog().has_schema, bin_catalog().blocks):
        for epoch in bin_catalog().epochs:
            for place, node in walk(bin_catalog().payload_schema(code, epoch.id)):
                yield code, epoch.id, place, node


def test_every_schema_place_of_a_rule_exists():
    known = {(code, place) for code, _, place, _ in schema_nodes()}
    assert schema_places() <= known


def test_invariants_that_can_be_judged_have_rules():
    judged = {rule.invariant for rule in RULES if rule.invariant}
    assert judged >= {
        *("F1", "F2", "F3", "F4", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "B1", "B2", "B3"),
        *("B4", "B5", "B6", "C1", "C2", "C3", "C4", "C5", "H1", "H2", "H3", "H4", "H5", "H6", "H7"),
        *("T1", "T2", "T3", "O1", "O2", "O3", "R1", "R2", "R3", "K1", "Q1", "N1"),
    }


def test_the_page_of_a_rule_names_the_blocks_that_its_facts_come_from():
    text = rule_page(load_bin_rules()["BIN410"])
    assert "0x05 basic info: facts `detail_cell`" in text
