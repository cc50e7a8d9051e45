"""Every rule of changes names the change that its own edit of the spec makes, and no other one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from slices import some

from ascend_conformance.schema import Change, ChangeRule, State, change_rules, changes_between
from ascend_conformance.schema.edits import Edit, edited
from ascend_conformance.schema.versions import NOT_ADMITTED, NOT_STATED, version_changes
from ascend_spec import packaged

OF_VERSIONS = {NOT_ADMITTED, NOT_STATED}
RULES = some(change_rules().values(), every=24)


PACKAGED = State(packaged(), "before")


def changed_by(edits: Sequence[Edit], given: Sequence[Edit] = ()) -> list[Change]:
    before = State(edited(packaged(), given), "before") if given else PACKAGED
    after = State(edited(packaged(), [*given, *edits]), "after")
    changes = changes_between(before, after)
    return [*version_changes(before, after, changes), *changes]


@pytest.mark.parametrize("rule", some(RULES, every=2), ids=lambda rule: rule.id)
def test_the_edit_of_a_rule_is_the_change_of_its_example_alone(rule: ChangeRule) -> None:
    found = changed_by(rule.edit, rule.given)
    assert {one.rule for one in found} - OF_VERSIONS == {rule.id, *rule.also} - OF_VERSIONS
    wanted = rule.example
    assert any(
        (one.rule, one.address, one.place, one.before, one.after)
        == (rule.id, wanted.address, wanted.place, wanted.before, wanted.after)
        for one in found
    )


@pytest.mark.parametrize("rule", some(RULES, every=2), ids=lambda rule: rule.id)
def test_the_nearest_other_edit_is_not_the_change(rule: ChangeRule) -> None:
    assert rule.keep
    assert rule.id not in {one.rule for one in changed_by(rule.keep, rule.given)}


def test_no_two_rules_have_one_name() -> None:
    names = [rule.name for rule in change_rules().values()]
    assert len(set(names)) == len(names)


def test_a_spec_compared_with_itself_has_no_change() -> None:
    assert changed_by([]) == []
