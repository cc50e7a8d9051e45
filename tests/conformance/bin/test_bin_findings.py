"""What a finding says: place, pointer, byte, count, examples; and how old forms are told apart."""

from __future__ import annotations

import handmade
import pytest
from handmade_edits import changed, found
from handmade_sources import stall_reasons, timeline
from slices import some

from ascend_conformance.media.bin.flatten import (
    as_address,
    as_kind,
    as_number,
    as_text,
    bounded,
    fact_tables,
)
from ascend_conformance.media.bin.judge import judge_content
from ascend_conformance.media.bin.rules import load_bin_rules
from ascend_conformance.media.bin.selftest import trials
from ascend_conformance.options import Options
from ascend_conformance.ruleset import Selection
from ascend_ref.bin import Block, canonical, read_blocks, to_bytes


def test_a_finding_of_the_schema_tells_the_value_and_where_it_stands():
    def change(payload):
        for core in payload["core_memory_map"]:
            core["memory_unit"][3]["display"] = True

    content = changed("mix", 0x08, change)
    finding = found(content, "BIN601")
    assert finding.table == "0x08 memory heat map"
    assert finding.column == "/core_memory_map/*/memory_unit/*/display"
    assert finding.pointer == "/core_memory_map/0/memory_unit/3/display"
    assert content[finding.offset :].startswith(b"true")
    assert finding.count == 2
    assert finding.erratum == "B12"
    assert finding.examples == ({"value": "true"},)


def test_a_finding_of_a_query_tells_the_values_that_it_compared():
    def change(payload):
        payload["core_memory_map"][1]["L2cache"]["total_request"] = "9"

    content = changed("vector", 0x08, change)
    finding = found(content, "BIN602")
    assert finding.column == "/core_memory_map/*/L2cache/total_request"
    assert finding.pointer == "/core_memory_map/1/L2cache/total_request"
    assert content[finding.offset :].startswith(b'"9"')
    assert finding.examples == ({"block_id": "1", "hit": 4902, "miss": 433, "total": 9},)
    assert "1 of 2" in finding.message


def test_a_finding_of_the_framing_tells_the_byte_of_the_header_field():
    content = bytearray(handmade.device_file("vector"))
    entry = read_blocks(bytes(content), "x").entries[4]
    content[entry.offset + 11] = 0
    finding = found(bytes(content), "BIN010")
    assert finding.offset == entry.offset + 11
    assert finding.column == "reverse"


def test_equal_faults_of_two_block_types_are_two_findings():
    def change(payload):
        del payload["subblock_detail"]

    content = changed("vector", 0x06, change)
    report = judge_content(content, "x.bin")
    assert [(one.rule, one.table) for one in report.findings] == [
        ("BIN122", "0x06 compute load figure"),
        ("BIN902", "0x06 compute load figure"),
    ] or [one.rule for one in report.findings] == ["BIN122"]


def test_an_event_is_named_by_its_index_and_byte():
    events = timeline(["core0.veccore0"])
    events["traceEvents"][1]["pid"] = "core7.veccore0"
    content = to_bytes([Block(0x02, canonical(events)), *sources()])
    finding = found(content, "BIN216")
    assert finding.pointer == "/traceEvents/1"
    assert finding.column == "/traceEvents/*/pid"
    assert b"core7" in content[finding.offset : finding.offset + 300]


def sources() -> list[Block]:
    from handmade_sources import hot_spots

    return hot_spots(["core0.veccore0"])


def test_rules_can_be_selected_and_examples_limited():
    content = changed("mix", 0x0C, lambda payload: payload.update(soc="x", extra=1))
    chosen = Options(selection=Selection(select=("BIN703",)), max_examples=0)
    report = judge_content(content, "x.bin", chosen)
    assert [(one.rule, one.examples) for one in report.findings] == [("BIN703", ())]
    ignored = Options(selection=Selection(ignore=("BIN7", "key-not-described")))
    assert judge_content(content, "x.bin", ignored).findings == ()


def test_the_query_of_a_rule_is_shown_when_asked_for():
    content = changed("mix", 0x0C, lambda payload: payload.update(soc="x"))
    (finding,) = judge_content(content, "x.bin", Options(with_sql=True)).findings
    assert finding.sql is not None
    assert "inter_core" in finding.sql


def test_a_block_that_cannot_be_read_skips_the_rules_that_need_it():
    file = read_blocks(handmade.device_file("mix"), "mix")
    blocks = [
        Block(one.type, b"{" if one.type == 0x05 else file.payload(one))
        for one in file.entries
        if one.type in (0x05, 0x08, 0x09)
    ]
    report = judge_content(to_bytes(blocks), "mix.bin")
    assert {one.rule for one in report.findings} == {"BIN101"}
    skipped = {one.rule: one.reason for one in report.skipped}
    assert skipped["BIN608"] == "the payload is no JSON text"
    assert "BIN605" not in skipped


@pytest.mark.parametrize("case", handmade.CASES)
def test_clean_files_of_all_chips_have_no_finding_but_the_known_defect(case):
    found = {finding.rule for finding in judge_content(handmade.device_file(case), case).findings}
    assert found == ({"BIN617"} if case == "310P" else set())


@pytest.mark.campaign
@pytest.mark.parametrize("case", some(["310P", "950-vector"], every=2))
def test_damage_is_told_apart_on_other_chips(case):
    themes = {"basic", "loads", "memory", "cores", "between"}
    rules = [rule for rule in load_bin_rules().values() if rule.theme in themes]
    content = handmade.device_file(case)
    known = judge_content(content, case).findings
    tried = [one for one in trials(case, content, rules, known) if one.not_broken is None]
    assert len(tried) > 30
    assert [one for one in tried if not one.caught or one.false_alarms] == []


def test_numbers_and_texts_are_read_as_the_viewer_reads_them():
    assert [as_number(one) for one in (3, "3", "3.50", 2.0, True, "NA", "", None)] == [
        *(3, 3, 3.5, 2.0),
        *(None, None, None, None),
    ]
    assert as_number(2**70) == float(2**70)
    assert as_number(-(10**400)) == float("-inf")
    assert [as_text(one) for one in ("a", 3, 2.5, True, None, [])] == [
        *("a", "3", "2.5"),
        *(None, None, None),
    ]
    kinds = ["null", "boolean", "integer", "wide", "real", "text", "array", "object"]
    assert [as_kind(one) for one in (None, True, 5, 2**31, 1.0, "", [], {})] == kinds


def test_addresses_keep_their_order_and_differences():
    texts = ["0", "0x10d05000", "0X10D05004", "0x00000000ffffffff", "0x8000000000000000"]
    numbers = [as_address(text) for text in texts]
    assert numbers == sorted(numbers)
    assert numbers[2] - numbers[1] == 4
    assert all(-(2**63) <= number < 2**63 for number in numbers)
    assert [as_address(text) for text in ("", "0x", "0xg", "1" * 17, 5)] == [None] * 5


def test_long_texts_stay_different_when_cut():
    long, other = "x" * 5_000, "x" * 2_500 + "y" + "x" * 2_499
    assert len(bounded(long)) < 1_100
    assert bounded(long) != bounded(other)
    assert bounded("short") == "short"


def test_rows_of_a_fact_table_know_where_they_stand():
    table = fact_tables()["stall_reason"]
    rows = dict(table.rows(stall_reasons()))
    assert rows["/top_stall_reason_table/Others"] == ["Others", "integer", 7]
