"""Small departures that viewers stumble over are noticed, at their own place."""

from __future__ import annotations

import handmade
import pytest
from handmade_edits import changed, found, rewritten, rules_of
from handmade_sources import timeline

from ascend_conformance.media.bin.judge import judge_content
from ascend_ref.bin import Block, canonical, parse, read_blocks, to_bytes

WHOLE_FLOATS = [
    (0x08, "/core_memory_map/1/memory_unit/2/display", "BIN601"),
    (0x08, "/core_memory_map/1/memory_unit/2/memory_path", "BIN121"),
    (0x08, "/core_memory_map/1/memory_unit/2/request", "BIN121"),
    (0x09, "/table_per_block/1/table_detail/2/size/0", "BIN121"),
    (0x06, "/subblock_detail/3/unit", "BIN121"),
    (0x0E, "/Cacheline Records/0/Cacheline Id", "BIN121"),
    (0x0F, "/top_stall_reason_table/Others", "BIN121"),
]


def container(payload, pointer: str):
    *above, last = pointer.split("/")[1:]
    for token in above:
        payload = payload[int(token) if isinstance(payload, list) else token]
    return payload, int(last) if isinstance(payload, list) else last


@pytest.mark.parametrize(("code", "pointer", "rule"), WHOLE_FLOATS)
def test_a_float_that_is_whole_is_no_integer(code, pointer, rule):
    """JSON Schema takes 1.0 for one; the viewer, which compares texts or asks for an int, not."""

    def change(payload):
        place, key = container(payload, pointer)
        place[key] = float(place[key])

    content = changed("mix", code, change)
    finding = found(content, rule)
    place, key = container(parse(payload_of(content, code)), pointer)
    assert (finding.pointer, finding.count) == (pointer, 1)
    assert finding.examples == ({"value": canonical(place[key]).decode()},)
    assert content[finding.offset :].startswith(canonical(place[key]))
    assert rules_of(content) == {rule}


def payload_of(content: bytes, code: int) -> bytes:
    file = read_blocks(content, "x.bin")
    return bytes(file.payload(next(one for one in file.entries if one.type == code)))


@pytest.mark.parametrize("case", ["vector", "mix"])
def test_a_ratio_above_1_is_not_written(case):
    def change(payload):
        line = payload["multiple_rooflines"][0]["rooflines"][0]
        for one in payload["multiple_rooflines"][0]["rooflines"]:
            one["point"][1] = 2 * one["computility"]
            one["ratio"] = "NA"
        roof = min(line["point"][0] * line["bw"], line["computility"])
        line["ratio"] = f"{line['point'][1] / roof:.6f}"

    finding = found(changed(case, 0x0D, change), "BIN752")
    assert finding.pointer == "/multiple_rooflines/0/rooflines/0/ratio"
    assert finding.count == 1


def test_one_sub_block_of_another_clock_is_the_one_that_is_named():
    def change(payload):
        cells = payload["mix_block_detail"]["row"][1]["value"]
        cells[3] = f"{float(cells[3]) / 3:.6f}"

    finding = found(changed("mix", 0x05, change), "BIN410")
    assert (finding.pointer, finding.count) == ("/mix_block_detail/row/1/value/3", 1)


@pytest.mark.parametrize(
    ("case", "tag"), [("mix", "910A5"), ("950-mix", "910B"), ("mix", "310P"), ("310P", "910B")]
)
def test_the_drawing_of_another_chip_is_noticed(case, tag):
    def change(payload):
        payload["core_memory_map"][-1]["soc"] = tag

    finding = found(changed(case, 0x08, change), "BIN612")
    assert finding.count == 1
    assert finding.column == "/core_memory_map/*/soc"


def test_a_finding_about_two_block_types_names_the_value_in_each():
    changes = {
        0x08: lambda payload: payload["core_memory_map"][1].update(op_type="cube"),
        0x09: lambda payload: payload["table_per_block"][1].update(table_op_type="cube"),
    }
    content = rewritten(handmade.device_file("mix"), changes)
    assert places(content, "BIN903") == [
        ("/core_memory_map/*/op_type", "/core_memory_map/1/op_type"),
        ("/table_per_block/*/table_op_type", "/table_per_block/1/table_op_type"),
    ]
    changes = {
        0x07: lambda payload: payload["subblock_detail"][-1].update(block_id="9"),
        0x08: lambda payload: payload["core_memory_map"].append(
            {**payload["core_memory_map"][0], "core_no": "9"}
        ),
    }
    content = rewritten(handmade.device_file("vector"), changes)
    assert places(content, "BIN901")[1] == (
        "/core_memory_map/*/core_no",
        "/core_memory_map/2/core_no",
    )


def places(content: bytes, rule: str):
    findings = judge_content(content, "x.bin").findings
    for one in findings:
        assert one.rule != rule or content[one.offset :].startswith((b'"cube"', b'"9"'))
    return [(one.column, one.pointer) for one in findings if one.rule == rule]


def test_a_gap_in_the_block_numbers_is_named_where_they_stand():
    def change(payload):
        payload["block_detail"]["row"][1]["value"][0] = "2"

    finding = found(changed("vector", 0x05, change), "BIN406")
    assert (finding.column, finding.pointer) == ("/block_detail", "/block_detail")


def test_a_rule_for_one_fault_of_a_place_leaves_the_others_to_the_rules_for_all():
    events = timeline(["core0.veccore0"])
    events["traceEvents"][0]["ph"] = "i"
    content = to_bytes([Block(0x02, canonical(events))])
    assert rules_of(content) == {"BIN123"}
    content = changed("vector", 0x05, lambda payload: payload.update(block_detail=[]))
    assert found(content, "BIN121").erratum == "B7"
    assert "BIN401" not in rules_of(content)


def test_a_count_and_its_whole_are_both_of_values():
    def change(payload):
        for entry in payload["Instructions"]:
            entry["L2Cache Hit Rate"] = 50

    content = changed("mix", 0x04, change)
    values = sum(map(len, parse(payload_of(content, 0x04))["Instructions"]))
    finding = found(content, "BIN304")
    assert (finding.count, finding.context["rows"]) == (6, values)
    assert f": 6 of {values} (" in finding.message


@pytest.mark.parametrize("spelled", ["10d05010", "0x10D05010"])
def test_an_address_that_no_exporter_spells_so_is_advice(spelled):
    def change(payload):
        payload["Instructions"][4]["Address"] = spelled

    finding = found(changed("mix", 0x04, change), "BIN321")
    assert (finding.verdict, finding.pointer) == ("advice", "/Instructions/4/Address")


@pytest.mark.parametrize("spelled", ["10d05000", "0x10D05000", "0xd05000"])
def test_a_range_that_no_exporter_spells_so_is_advice(spelled):
    def change(payload):
        payload["Files"][0]["Lines"][1]["Address Range"][0] = [spelled, "0x10d05000"]

    finding = found(changed("mix", 0x03, change), "BIN322")
    assert (finding.verdict, finding.count) == ("advice", 1)
    assert finding.pointer == "/Files/0/Lines/1/Address Range/0"


def test_what_display_should_be_is_told():
    def change(payload):
        payload["core_memory_map"][0]["memory_unit"][0]["display"] = True

    assert found(changed("mix", 0x08, change), "BIN601").expected.startswith("the integer 1")
