"""What rules are held to: it does not shrink, and it is what the self-test does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from slices import marked

from ascend_conformance.engine.trials import Trials
from ascend_conformance.ledger import COUNTED, counts, counts_document, ledger, ledger_page
from ascend_conformance.media import SelfTest, load_rules, media
from ascend_conformance.schema import change_rules
from ascend_ref.cli import main
from ascend_spec import catalog
from ascend_spec.core import parse

DOCUMENT = Path(__file__).parent / "ledger.yaml"
ENTRIES = {one.id: one for one in ledger()}
NEWEST = catalog().revisions[-1].id


def test_nothing_is_held_to_less_than_before() -> None:
    """What grows is written down by ``make ledger``; what shrinks needs a reason in its commit."""
    now = counts(ENTRIES.values())
    less = [
        f"{group}: {name} was {number}, is {now.get(group, {}).get(name, 0)}"
        for group, numbers in parse(DOCUMENT.read_text("utf-8")).items()
        for name, number in numbers.items()
        if now.get(group, {}).get(name, 0) < number
    ]
    assert less == [], "the ledger shrank; if that is meant: make ledger"


@pytest.mark.exhaustive
def test_what_grew_is_written_down() -> None:
    text = counts_document(ENTRIES.values())
    assert DOCUMENT.read_text("utf-8") == text, "make ledger"


def test_every_rule_relation_and_rule_of_changes_is_in_it_once() -> None:
    assert list(ENTRIES) == sorted({*load_rules(), *change_rules()})
    sums = counts(ENTRIES.values())
    assert all(list(one) == list(COUNTED) for one in sums.values())
    alone = sum(one["rules"] for name, one in sums.items() if " in " not in name)
    assert alone == len(ENTRIES)


def test_a_loss_is_noticed() -> None:
    """A legal case, a count, a whole rule less than what stands there."""
    sums = counts(ENTRIES.values())
    fewer = counts(one for one in ENTRIES.values() if one.id != "DB401")
    assert {name for name in sums if sums[name] != fewer.get(name)} == {"db"}
    assert all(fewer["db"][name] < sums["db"][name] for name in ("rules", "places", "broken"))


def done(medium: str, specimen: str, *rules: str) -> tuple[Trials, Counter[str]]:
    """What the self-test does for some rules, and at how many places of each."""
    revisions = (NEWEST,) if medium == "db" else None
    found = media()[medium].self_test(SelfTest((specimen,), revisions, rules=rules))
    return found, Counter(one.rule for one in found.trials if not one.legal)


def legal_cases(found: Trials, rule: str) -> set[str]:
    return {one.legal for one in found.trials if one.rule == rule and one.legal}


@pytest.mark.parametrize(
    ("rule", "specimens"),
    [
        ("DB951", ["analysis"]),
        marked(("DB401", media()["db"].specimens), pytest.mark.exhaustive),
        marked(("DB507", media()["db"].specimens), pytest.mark.exhaustive),
    ],
)
def test_databases_are_broken_at_as_many_places_with_as_many_legal_cases(
    rule: str, specimens: Sequence[str]
) -> None:
    trying, places = ENTRIES[rule].trying, 0
    for specimen in specimens:
        found, here = done("db", specimen, rule)
        places += here[rule]
        assert len(legal_cases(found, rule)) in (0, trying.legal)
    assert places == trying.places


def test_relations_are_tried_where_they_are_judged() -> None:
    rule = "REL309"
    entry = ENTRIES[rule]
    assert {"database", "timeline"} <= set(entry.judged)
    assert entry.trying.places == len(entry.judged)
    found, _ = done("relation", "msprof", rule)
    assert [one.rule for one in found.mutations] == [rule]
    assert len(legal_cases(found, rule)) == entry.trying.legal


@pytest.mark.parametrize(
    "medium", [marked("raw", pytest.mark.exhaustive), marked("bin", pytest.mark.campaign)]
)
def test_what_is_broken_is_what_the_ledger_says(medium: str) -> None:
    """Every rule of a medium on all its specimens."""
    found = media()[medium].self_test(SelfTest(media()[medium].specimens, processes=2))
    of_medium = {one.id: one.trying for one in ENTRIES.values() if one.kind == medium}
    broken = {one.rule for one in found.trials if not one.legal}
    assert broken == {name for name, one in of_medium.items() if one.broken and one.places}
    for rule, trying in of_medium.items():
        assert len(legal_cases(found, rule)) in (0, trying.legal), rule


def test_it_is_printed_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "DB40", "--ledger"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("rule ")
    assert "DB401" in printed
    assert "CHG" not in printed
    assert main(["rules", "--ledger", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["counts"] == counts(ENTRIES.values())
    assert [one["id"] for one in document["rules"]] == list(ENTRIES)
    assert document["rules"][-1] == ENTRIES[document["rules"][-1]["id"]].document()


def test_the_site_has_it() -> None:
    text = ledger_page(ENTRIES.values())
    assert text.count("\n| `") >= len(load_rules())
    for name, numbers in counts(ENTRIES.values()).items():
        assert f"| {name} | {numbers['rules']:,} |" in text
