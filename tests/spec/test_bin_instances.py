"""Payloads by hand, after what is known of the blocks: sound ones, and each with one fault."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from bin_payloads import BASIC, CORE, RANGE, SOUND
from jsonschema import Draft202012Validator

from ascend_spec import bin_catalog
from ascend_spec.core.dialect import annotation_at

ABSENT = object()


def found(code: int, payload: Any) -> set[tuple[str, str | None]]:
    """What is wrong: place and keyword, and the erratum about it."""
    schema = bin_catalog().payload_schema(code, "E3")
    result = set()
    for error in Draft202012Validator(schema).iter_errors(payload):
        erratum = annotation_at(schema, list(error.absolute_schema_path), "erratum")
        place = "/".join(map(str, error.absolute_path))
        result.add((f"{place} {error.validator}", erratum))
    return result


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_payload_is_valid(name: str) -> None:
    assert found(*SOUND[name]) == set()


@pytest.mark.parametrize("name", SOUND)
def test_further_keys_are_allowed(name: str) -> None:
    code, payload = SOUND[name]
    if isinstance(payload, dict) and name != "stacks by address":
        assert found(code, {**payload, "added": 1}) == set()


def changed(payload: Any, place: str, value: Any) -> Any:
    """A copy of the payload with another value at a place, or without the key there."""
    payload = deepcopy(payload)
    at = payload
    *way, last = [int(step) if step.isdigit() else step for step in place.split("/")]
    for step in way:
        at = at[step]
    if value is ABSENT:
        del at[last]
    else:
        at[last] = value
    return payload


EVENT = "traceEvents"
LINE = "Files/0/Lines/0"
SAMPLED = "Files/0/Lines/1/Stall Sampling(Not Issue)"
INSTRUCTION = "Instructions/0"
UNIT = "core_memory_map/0/memory_unit/0"
LANES = "Vector Utilization Percentage"
RECORD = "Cacheline Records/0"
TABLE = "top_stall_reason_table"


@pytest.mark.parametrize(
    ("name", "place", "value", "keyword", "erratum"),
    [
        ("timeline", "traceEvents", ABSENT, "required", None),
        ("timeline", "traceEvents", [], "minItems", None),
        ("timeline", "schemaVersion", 3, "enum", "B26"),
        ("timeline", "displayTimeUnit", "us", "const", "B27"),
        ("timeline", f"{EVENT}/0/ph", ABSENT, "required", None),
        ("timeline", f"{EVENT}/0/dur", ABSENT, "required", None),
        ("timeline", f"{EVENT}/0/tid", "", "minLength", None),
        ("timeline", f"{EVENT}/0/ts", -1, "minimum", "B27"),
        ("timeline", f"{EVENT}/1/id", ABSENT, "required", None),
        ("timeline", f"{EVENT}/3/cat", ABSENT, "required", None),
        ("timeline", f"{EVENT}/4/ph", "f", "enum", "B64"),
        ("timeline", f"{EVENT}/4/ph", "Z", "enum", None),
        ("timeline", f"{EVENT}/5/name", "x", "enum", None),
        ("timeline", f"{EVENT}/6/args", ABSENT, "required", None),
        ("lines", "Cores", [], "minItems", "B21"),
        ("lines", "Files/0/Source", "", "minLength", None),
        ("lines", f"{LINE}/Line", "10", "type", None),
        ("lines", f"{LINE}/Cycles/0", 2**31, "maximum", "B21"),
        ("lines", f"{LINE}/Cycles/0", "5", "type", "B21"),
        ("lines", f"{LINE}/Address Range/0", ["0x1"], "minItems", None),
        ("lines", f"{LINE}/Address Range/0/1", "y", "pattern", "B37"),
        ("lines", f"{SAMPLED}/Percent", 50.0, "maximum", "B57"),
        ("lines", "Files Dtype/Lines/Line", 6, "enum", "B19"),
        ("instructions", "Instructions", ABSENT, "required", None),
        ("instructions", "Instructions Dtype", ABSENT, "required", "B60"),
        ("instructions", f"{INSTRUCTION}/Address", "start", "pattern", "B37"),
        ("instructions", f"{INSTRUCTION}/Address", 4096, "type", "B37"),
        ("instructions", f"{INSTRUCTION}/Pipe", "", "minLength", None),
        ("instructions", f"{INSTRUCTION}/GPR Status/0/regStatus", 5, "enum", None),
        ("instructions", f"{INSTRUCTION}/{LANES}/0", 101.0, "maximum", "B57"),
        ("basic", "cur_freq", ABSENT, "required", "B42"),
        ("basic", "pid", ABSENT, "required", "B49"),
        ("basic", "op_type", "aiv", "enum", "B5"),
        ("basic", "op_type", "gpu", "enum", None),
        ("basic", "block_detail", [], "type", "B7"),
        ("basic", "block_detail", ABSENT, "required", None),
        ("basic", "mix_block_detail", BASIC["block_detail"], "not", None),
        ("basic", "block_dim", "1\n", "pattern", "B6"),
        ("basic", "block_dim", "\u0661", "pattern", "B6"),
        ("heat map", "core_memory_map/0/Vector", ABSENT, "required", "B11"),
        ("heat map", "core_memory_map/0/soc", "A5", "pattern", None),
        ("heat map", "core_memory_map/0/soc", "Ascend910B4", "enum", "B73"),
        ("heat map", "core_memory_map/0/L2cache", [], "type", "B15"),
        ("heat map", f"{UNIT}/display", True, "type", "B12"),
        ("heat map", f"{UNIT}/memory_path", 30, "enum", None),
        ("heat map", f"{UNIT}/request_suffix", ABSENT, "required", "B45"),
        ("stacks", "0/Address", ABSENT, "required", "B25"),
        ("stacks", "0/Symbol/0/Line", "11", "type", "B25"),
        ("cache lines", "Cacheline Records", ABSENT, "required", None),
        ("cache lines", f"{RECORD}/Cacheline Id", "0", "type", None),
        ("cache lines", f"{RECORD}/Hit/Value/1", 75.0, "maximum", None),
        ("cache lines", f"{RECORD}/Hit/Value", [3], "minItems", None),
        ("reasons", f"{TABLE}/Others", ABSENT, "required", None),
        ("reasons", f"{TABLE}/Others", 1.5, "type", None),
        ("reasons", f"{TABLE}/Others", "1", "type", None),
        ("reasons", f"{TABLE}/Others", -1, "minimum", None),
    ],
)
def test_a_fault_is_found_where_it_is(
    name: str, place: str, value: Any, keyword: str, erratum: str | None
) -> None:
    code, payload = SOUND[name]
    at = place.rpartition("/")[0] if value is ABSENT else place
    assert (f"{at} {keyword}", erratum) in found(code, changed(payload, place, value))


def test_the_keys_of_stacks_are_addresses() -> None:
    code, payload = SOUND["stacks by address"]
    assert found(code, {"main": payload["0x4004be"]}) == {(" pattern", "B37")}


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("0", True),
        ("18446744073709551615", True),
        (0, True),
        (2**63, True),
        ("NA", True),
        ("-1", False),
        (-1, False),
        ("01", False),
        ("1.5", False),
        (1.5, False),
        ("", False),
        ("N/A", False),
        (True, False),
        (None, False),
        ("9" * 21, False),
    ],
)
def test_a_number_of_requests_is_a_whole_number_or_text(value: Any, valid: bool) -> None:
    payload = changed({"core_memory_map": [CORE]}, f"{UNIT}/request", value)
    assert (found(0x08, payload) == set()) == valid


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("-1", True),
        (-1, True),
        ("NA", True),
        ("N/A", True),
        ("4.737319", True),
        (4.5, True),
        ("-2", False),
        (-1.5, False),
        ("nan", False),
        ("1e5", False),
        (False, False),
    ],
)
def test_a_ratio_may_be_missing_in_three_ways(value: Any, valid: bool) -> None:
    payload = changed({"core_memory_map": [CORE]}, f"{UNIT}/peak_ratio", value)
    assert (found(0x08, payload) == set()) == valid


def test_lines_of_an_old_file_need_all_columns_that_the_viewer_reads() -> None:
    old = {
        "Cores": ["c"],
        "Files": [{"Source": "a", "Lines": [{"Address Range": RANGE, "Line": 1, "Cycles": [1]}]}],
    }
    assert found(0x03, old) == {(" required", "B60"), ("Files/0/Lines/0 required", None)}


def test_a_mix_operator_has_its_own_detail_and_three_units() -> None:
    mix = {**BASIC, "op_type": "mix", "mix_block_detail": BASIC["block_detail"]}
    assert found(0x05, mix) == {("block_detail not", None)}
    core = {"core_memory_map": [{**CORE, "op_type": "mix"}]}
    assert found(0x08, core) == {("core_memory_map/0 required", "B11")}


def test_suffixes_are_asked_of_910b_only() -> None:
    core: dict[str, Any] = deepcopy(CORE)
    core["soc"] = "910A5"
    del core["memory_unit"][0]["request_suffix"], core["memory_unit"][0]["bandwidth_suffix"]
    assert found(0x08, {"core_memory_map": [core]}) == set()


def test_an_advisory_node_holds_no_stricter_one() -> None:
    """Whoever looks for the nearest erratum and the nearest advisory finds one node."""

    def mixed(node: Any, inside: bool) -> bool:
        if isinstance(node, list):
            return any(mixed(one, inside) for one in node)
        if not isinstance(node, dict):
            return False
        if inside and isinstance(node.get("erratum"), str) and "advisory" not in node:
            return True
        return any(mixed(one, inside or "advisory" in node) for one in node.values())

    for code in filter(bin_catalog().has_schema, bin_catalog().blocks):
        for epoch in bin_catalog().epochs:
            assert not mixed(bin_catalog().payload_schema(code, epoch.id), False), (code, epoch.id)
