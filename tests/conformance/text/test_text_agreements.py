"""Agreements of entities: what follows from the documents of the columns, over all rules."""

from __future__ import annotations

import pytest

from ascend_conformance.compare.agreement import Agreement
from ascend_conformance.media.text.rules import load_text_rules
from ascend_conformance.media.text.selecting import stated
from ascend_spec import recording_catalog

OF_ENTITIES = {
    f"{rule.id} {place}": agreement
    for rule in load_text_rules().values()
    if rule.search.agreement is not None and rule.search.agreement.entities
    for place, agreement in enumerate(rule.search.agreement.instances)
}


@pytest.mark.parametrize("name", OF_ENTITIES)
def test_both_sides_show_the_keys_and_all_that_is_compared(name: str) -> None:
    given: Agreement = OF_ENTITIES[name]
    found = stated(given)
    asked = {*found.keys, *([found.near] if found.near else []), *found.compare}
    assert found.compare
    assert asked <= found.left.columns.keys() & found.right.columns.keys()
    known = {
        column for one in given.entities for column in recording_catalog().entities[one].columns
    }
    assert {*given.but} <= known, "what is left out is a column of the entity"


def test_a_call_is_compared_by_start_length_and_connection() -> None:
    found = stated(OF_ENTITIES["XLR209 0"])
    assert list(found.compare) == ["start", "length", "connection"]


def test_what_only_one_side_may_leave_out_is_a_value_on_both() -> None:
    # The documents of the timeline name no sequence number that stands for none, the database's do.
    found = stated(OF_ENTITIES["XLR501 0"])
    assert found.left.columns["sequence"] == '"sequenceNumber"'
    # Both media write 4294967295 for no rank.
    task = stated(OF_ENTITIES["XLR110 0"])
    assert "4294967295" in task.left.columns["source"]
    assert "4294967295" in task.right.columns["source"]


def test_a_total_is_compared_in_the_unit_that_the_file_prints() -> None:
    found = stated(OF_ENTITIES["XLR602 0"])
    assert found.left.columns["allocated"] == '"totalAllocated" / 1048576'
    assert found.right.columns["allocated"] == '"Total Allocated(MB)"'
    assert found.compare["allocated"].unit == "MB"
