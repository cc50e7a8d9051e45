"""The changes between the revisions of the databases are those that the evidence lists."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from ascend_conformance.schema import (
    Change,
    changes_between,
    declared_bump,
    find_state,
    required_bump,
)
from ascend_conformance.schema.versions import version_changes
from ascend_spec import catalog

PAIRS: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("revision_changes.yaml").read_text("utf-8")
)


def changes_of(pair: dict[str, Any]) -> list[Change]:
    return changes_between(find_state(pair["from"]), find_state(pair["to"]))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["to"])
def test_adjacent_revisions_differ_in_what_the_evidence_lists(pair: dict[str, Any]) -> None:
    found: dict[str, set[str]] = {}
    for one in changes_of(pair):
        found.setdefault(one.rule, set()).add(one.address)
    assert found == {rule: set(addresses) for rule, addresses in pair["changes"].items()}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["to"])
def test_the_bump_is_the_one_that_the_rule_for_the_version_demands(pair: dict[str, Any]) -> None:
    old, new = find_state(pair["from"]), find_state(pair["to"])
    assert required_bump(changes_of(pair)) == pair["bump"]
    assert declared_bump(old.schema_version or "", new.schema_version or "") == pair["declared"]


def test_every_adjacent_pair_of_states_is_held_against_the_evidence() -> None:
    """What the documents describe is a reading, and no state between two others."""
    names = [one.id for one in catalog().revisions if one.id != "1.0.2-documented"]
    assert {(pair["from"], pair["to"]) for pair in PAIRS} >= set(pairwise(names))


@pytest.mark.parametrize(
    ("old", "new", "rule", "address"),
    [
        ("1.0.0-2024-10", "1.0.0-2025-01", "CHG137", "column/HOST_INFO.hostUid"),
        ("1.0.0-2024-10", "1.0.0-2025-01", "CHG184", "member/ENUM_MODULE/74"),
        ("1.2.0-2025-12", "1.2.0-2026-02", "CHG134", "column/COMPUTE_TASK_INFO.blockNum"),
        ("1.2.0-2026-04", "1.2.0-2026-06", "CHG136", "column/COMPUTE_TASK_INFO.blockDim"),
        ("1.2.0-2026-04", "1.2.0-2026-06", "CHG186", "member/ENUM_HCCL_LINK_TYPE/7"),
        ("2026-06-17", "2026-07-16", "CHG173", "enum/ENUM_OVERLAP_ANALYSIS_TYPE"),
    ],
)
def test_a_break_under_the_same_version_is_named(
    old: str, new: str, rule: str, address: str
) -> None:
    """db-schema.md 5.4."""
    states = find_state(old), find_state(new)
    changes = changes_between(*states)
    (change,) = (one for one in changes if one.address == address)
    assert (change.rule, change.bump) == (rule, "MINOR")
    (version,) = version_changes(*states, changes)
    assert (version.rule, version.after) == ("CHG001", "MINOR is demanded")


def test_additions_under_the_same_version_are_not_stated() -> None:
    """db-schema.md 5.4: rankSize, gridDim, dieId, CCU and so on demand MICRO."""
    states = find_state("1.2.0-2026-06"), find_state("1.2.0-2026-07")
    (version,) = version_changes(*states, changes_between(*states))
    assert (version.rule, version.after) == ("CHG002", "MICRO is demanded")


def test_what_the_documents_say_can_be_asked_for() -> None:
    found = {
        (one.rule, one.address)
        for one in changes_between(find_state("1.2.0-2025-12"), find_state("1.0.2-documented"))
    }
    assert ("CHG134", "column/COMPUTE_TASK_INFO.blockNum") not in found
    assert ("CHG137", "column/OSRT_API.startNs") in found


def test_backwards_a_rename_is_a_rename() -> None:
    found = changes_between(find_state("1.2.0-2026-07"), find_state("1.2.0-2025-12"))
    assert ("CHG134", "blockNum", "blockDim") in {
        (one.rule, one.before, one.after) for one in found
    }
