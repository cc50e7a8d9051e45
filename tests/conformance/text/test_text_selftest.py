"""Structural rules wake for their own break only, on a clean folder of our own."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from string import digits

import pytest
from slices import some

from ascend_conformance.media.text.asking import find
from ascend_conformance.media.text.checks import can_wake
from ascend_conformance.media.text.concerned import changed_columns, changed_tables
from ascend_conformance.media.text.folder import Folder
from ascend_conformance.media.text.rules import load_text_rules
from ascend_conformance.media.text.selftest import (
    WITHOUT_EXAMPLES,
    Case,
    Clean,
    open_specimen,
    try_agreement,
    try_rule,
)

STRUCTURAL = [rule for rule in load_text_rules().values() if rule.search.check]
SLOW = {"cell-type", "cell-sentinel", "cell-format", "cell-range"}
"""Checks with a trial for every file, of which one is tried here."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Folder]:
    with open_specimen("adapter") as found:
        yield found


@pytest.mark.exhaustive
def test_a_clean_folder_is_clean(folder: Folder) -> None:
    assert [one for one in find(folder, STRUCTURAL, WITHOUT_EXAMPLES) if not one.erratum] == []


@pytest.mark.parametrize("rule", some(STRUCTURAL, every=5), ids=lambda rule: rule.id)
def test_a_break_wakes_its_rule_only(folder: Folder, rule) -> None:  # type: ignore[no-untyped-def]
    for trial in try_rule("adapter", folder, rule, Clean()):
        if trial.not_broken is None:
            fired = {name for name in trial.fired if load_text_rules()[name].search.check}
            assert rule.id in fired
            assert fired - {rule.id, *(rule.also)} <= {"CSV022"}
            if rule.search.check in SLOW:
                break


def test_what_a_break_changes_is_told() -> None:
    found = changed_tables(['UPDATE raw."x y" SET a = 1', "DELETE FROM doc.link"])
    assert found == {("raw", "x y"), ("doc", "link")}
    with pytest.raises(ValueError, match="cannot read"):
        changed_tables(["SELECT 1"])


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("UPDATE raw.x SET \"Start (us)\" = '1', b = (SELECT c = 1, d WHERE e), F = g = h", "bf"),
        ("UPDATE raw.x SET b = CASE c WHEN 1 THEN 'WHERE, z = ' ELSE y END WHERE w = 1", "b"),
        ("DELETE FROM raw.x WHERE b = 1", None),
    ],
)
def test_the_columns_that_a_break_changes(statement: str, columns: str | None) -> None:
    found = changed_columns([statement])
    assert found == (None if columns is None else {*columns, *["start (us)"] * (columns == "bf")})


def test_a_check_is_asked_again_where_its_cells_change() -> None:
    device, clocks = "parts-of-another-device", "unfitting-clocks"
    assert can_wake(device, "raw", "op_summary", {"device_id", "name"})
    assert can_wake(device, "raw", "op_summary", None)
    assert not can_wake(device, "raw", "op_summary", {"op name"})
    assert can_wake("parts-of-another-time", "raw", "op_summary", {"task start time(us)"})
    assert not can_wake("parts-of-another-time", "trace", "event", {"args"})
    assert not can_wake("crossing-slices", "trace", "communication", None)
    assert can_wake("crossing-slices", "trace", "event", None)
    assert can_wake("wrong-args", "trace", "communication", {"size_mb"})
    assert can_wake(clocks, "raw", "op_summary", {"op name"})
    assert not can_wake(clocks, "raw", "op_statistic", None)


@pytest.mark.exhaustive
def test_an_agreement_is_broken_once_at_a_cell(folder: Folder) -> None:
    """Whichever row it is that another folder has it in."""

    def cells(done: Collection[Case] = ()) -> set[Case]:
        tried = try_agreement("adapter", folder, load_text_rules()["XLR104"], done)
        broken = (one for one in tried if one.not_broken is None)
        return {(one.rule, one.place, one.changed.rstrip(digits)) for one in broken}

    every = cells()
    assert len(every) > 3
    assert cells({min(every)}) == every - {min(every)}
    assert cells(every) == set()


def test_a_rule_that_fails_is_found(folder: Folder) -> None:
    rule = load_text_rules()["TRC229"]
    broken = replace(rule, select="SELECT file, row, missing(id) FROM trace.flow")
    [found] = find(folder, [broken], WITHOUT_EXAMPLES)
    assert found.message.startswith(f"{rule.id} {rule.name} could not be evaluated")
