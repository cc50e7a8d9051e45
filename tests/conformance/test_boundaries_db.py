"""Boundaries of database rules: flipped comparisons are noticed, and keeps are legal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from boundary_db import campaign, mutants
from boundary_tokens import comparisons, equal_in, flips
from slices import some

from ascend_conformance.media import load_rules

EQUAL = equal_in(Path(__file__).parent / "boundaries_db.yaml")
RULES = sorted({mutant.rule.id for mutant in mutants()})
SAMPLE = random.Random(11).sample([rule for rule in RULES if load_rules()[rule].keeps], 4)


def test_comparisons_in_quotes_and_comments_are_none() -> None:
    assert comparisons("a < 1 AND b = '<=' AND \"c>d\" <> 2 -- e > f") == [
        (2, "<"),
        (12, "="),
        (29, "<>"),
    ]


def test_a_flip_changes_one_comparison() -> None:
    assert [after for _, after in flips("a <= 1 OR a ->> '$.b' = 2")] == [
        "a < 1 OR a ->> '$.b' = 2",
        "a <= 1 OR a ->> '$.b' <> 2",
    ]


@pytest.mark.parametrize("rule", some(SAMPLE, every=2))
def test_flips_of_a_rule_are_noticed_and_its_keeps_are_legal(rule: str) -> None:
    _, alive, illegal = campaign([rule])
    assert illegal == []
    assert set(alive) <= EQUAL.keys()


@pytest.mark.campaign
def test_all_flips_are_noticed_but_those_that_are_equal() -> None:
    number, alive, illegal = campaign(RULES)
    assert illegal == []
    assert set(alive) == EQUAL.keys()
    assert number - len(alive) >= 0.95 * number
