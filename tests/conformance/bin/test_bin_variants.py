"""What real exporters write in other forms is no fault: epochs, rounding, missing counters."""

from __future__ import annotations

import handmade
import numpy as np
import pytest
from handmade_edits import changed, found, only, rewritten, rules_of
from handmade_sources import flags, timeline

import ascend_conformance.engine.work
from ascend_conformance.media.bin.judge import judge_content
from ascend_conformance.media.bin.structure import _owners
from ascend_ref.bin import Block, canonical, to_bytes

JSON_TYPES = [0x05, 0x06, 0x07, 0x08, 0x09]


def with_numbers(payload):
    """Numbers in place of the texts that spell them; the viewer takes either."""
    for entries in payload.values():
        for entry in entries if isinstance(entries, list) else ():
            for key in ("block_id", "core_no"):
                if key in entry:
                    entry[key] = int(entry[key])


def epoch(content: bytes) -> str:
    report = judge_content(content, "x.bin")
    assert report.seen is not None
    return report.seen.revision


@pytest.mark.parametrize("case", ["vector", "mix", "950-mix"])
@pytest.mark.parametrize("codes", [JSON_TYPES[:3], JSON_TYPES[1:], [0x05, 0x07], [0x06, 0x07]])
def test_some_blocks_of_a_present_file_are_of_the_present(case, codes):
    content = only(handmade.device_file(case), *codes)
    assert epoch(content) == "E3"
    assert rules_of(content) <= {"BIN904"}


@pytest.mark.parametrize("case", ["vector", "mix", "950-mix"])
def test_block_numbers_as_numbers_make_no_old_file(case):
    changes = dict.fromkeys(JSON_TYPES[1:], with_numbers)
    content = rewritten(handmade.device_file(case), changes)
    assert epoch(content) == "E3"
    assert rules_of(content) == set()


def test_a_present_table_in_0x05_outweighs_what_only_looks_old():
    """Of an exporter that writes numbers and leaves out what no viewer reads."""

    def without_clocks(payload):
        del payload["cur_freq"], payload["rated_freq"]

    def without_suffixes(payload):
        with_numbers(payload)
        for core in payload["core_memory_map"]:
            for path in core["memory_unit"]:
                del path["request_suffix"], path["bandwidth_suffix"]

    changes = {**dict.fromkeys(JSON_TYPES, with_numbers), 0x05: without_clocks}
    content = rewritten(handmade.device_file("mix"), {**changes, 0x08: without_suffixes})
    assert epoch(content) > "E1"
    assert {one.verdict for one in judge_content(content, "x.bin").findings} == {"advice"}


def test_schemas_that_did_not_change_are_judged_once():
    assert set(_owners(0x02).values()) == {"E0"}
    assert len(set(_owners(0x05).values())) > 1


def lengthened(payload, times: int = 1_009):
    """Cycles of a long kernel; beyond 2^24 a float of 32 bits no longer holds each."""
    for core in payload["core_memory_map"]:
        for unit in ("Cube", "Vector", "Vector1"):
            figures = core[unit]
            figures["cycle"] = figures["cycle"] * times + 1
            figures["total_cycles"] *= times
            figures["ratio"] = 100 * figures["cycle"] / figures["total_cycles"]


def test_cycles_may_be_rounded_to_floats_of_32_bits():
    def of_load(payload):
        operator = handmade.Operator("910B", "mix")
        units = {"cube0": "Cube", "vector0": "Vector", "vector1": "Vector1"}
        for entry in payload["subblock_detail"]:
            place, kind = int(entry["block_id"]), entry["block_type"]
            cycle = operator.busy(place, kind, units[kind]) * 1_009 + 1
            shares = {"Cube INT": 30_000_001, "Cube FP": cycle - 30_000_001, "Cube Wait": 37}
            origin = float(np.float32(shares.get(entry["name"], cycle)))
            total = operator.total(place, kind) * 1_009
            entry.update(origin_value=origin, value=100 * origin / total)

    content = rewritten(handmade.device_file("mix"), {0x06: of_load, 0x08: lengthened})
    assert not rules_of(content) & {"BIN501", "BIN502", "BIN503"}


def test_the_duration_of_the_operator_may_be_a_float_of_32_bits():
    def change(payload):
        payload["duration"] = float(np.float32(2500.1234))  # a little less
        payload["block_detail"]["row"][0]["value"][-1] = "2500.123400"

    assert "BIN408" not in rules_of(changed("vector", 0x05, change))


def test_a_block_whose_counters_are_invalid_has_no_bandwidth():
    def of_basic(payload):
        payload["block_detail"]["row"][0]["value"][-1] = "0.000000"

    def of_map(payload):
        core = payload["core_memory_map"][0]
        core["Vector"] = {"cycle": 0, "ratio": 0.0, "total_cycles": 0}
        for path in core["memory_unit"]:
            path["bandwidth"] = "0.000000"

    content = rewritten(handmade.device_file("vector"), {0x05: of_basic, 0x08: of_map})
    assert "BIN608" not in rules_of(content)


def test_a_mix_operator_may_have_one_vector_block_for_each_cube_block():
    def change(payload):
        payload["mix_block_dim"] = payload["block_dim"]

    assert rules_of(changed("mix", 0x05, change)) == set()


@pytest.mark.parametrize("wrong", ["-1", "", "5"])
def test_a_mix_operator_has_a_fitting_number_of_vector_blocks(wrong):
    content = changed("mix", 0x05, lambda payload: payload.update(mix_block_dim=wrong))
    assert found(content, "BIN407").pointer == "/mix_block_dim"


def test_instructions_of_a_device_may_be_missing_from_the_list():
    """The exporter leaves out those without a pipe."""

    def change(payload):
        del payload["Instructions"][3]

    assert rules_of(changed("mix", 0x04, change)) == set()


def test_addresses_of_a_device_from_elsewhere_are_noticed():
    def change(payload):
        for entry in payload["Instructions"]:
            entry["Address"] = f"0x{int(entry['Address'], 16) - 0x1000:08x}"

    finding = found(changed("mix", 0x04, change), "BIN315")
    assert finding.count == 4
    assert finding.pointer == "/Files/0/Lines/0/Address Range/0"


def test_a_long_timeline_is_judged_by_every_rule(monkeypatch):
    monkeypatch.setattr(ascend_conformance.engine.work, "OPERATIONS", 0)
    payload = timeline(["core0.veccore0"])
    colours = {"SET_FLAG": "black", "WAIT_FLAG": "yellow"}
    for number in range(2_000):
        payload["traceEvents"][:0] = flags(f"pair_{number}", "core0.veccore0", colours)
    report = judge_content(to_bytes([Block(0x02, canonical(payload))]), "x.bin")
    assert (report.findings, report.skipped) == ((), ())


def test_many_blocks_are_judged_by_every_rule(monkeypatch):
    monkeypatch.setattr(ascend_conformance.engine.work, "OPERATIONS", 0)
    numbers = [str(number) for number in range(3_000)]

    def of_basic(payload):
        payload["block_dim"] = str(len(numbers))
        rows = payload["block_detail"]["row"]
        rows[:] = [{"value": [number, *rows[0]["value"][1:]]} for number in numbers]
        payload["block_detail"]["size"][0] = len(numbers) + 1

    def of_map(payload):
        first = payload["core_memory_map"][0]
        core = {**first, "memory_unit": []}
        payload["core_memory_map"] = [{**core, "core_no": number} for number in numbers]

    content = only(handmade.device_file("vector"), 0x05, 0x08)
    report = judge_content(rewritten(content, {0x05: of_basic, 0x08: of_map}), "x.bin")
    assert report.skipped == ()
    assert {finding.rule for finding in report.findings} == {"BIN610"}


def test_a_fault_makes_an_old_file_no_present_one():
    """The present schema does not look into the list that it finds in place of a table."""
    blocks = [{"block_id": number, "duration": [12.5]} for number in range(2)]
    payload = {"block_detail": blocks, "block_dim": 2, "duration": 13.7, "mix_block_dim": 0}
    payload |= {"name": "add", "op_type": "vector", "soc": "Ascend910B4"}
    assert epoch(to_bytes([Block(0x05, canonical(payload))])) == "E0"
    blocks[1]["duration"] = ["12.5"]
    content = to_bytes([Block(0x05, canonical(payload))])
    assert epoch(content) == "E0"
    assert found(content, "BIN121").pointer == "/block_detail/1/duration/0"
