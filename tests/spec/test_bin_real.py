"""Real files obey the schemas of their own epoch, and errata explain what the newest finds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from bin_files import EPOCHS, payloads
from jsonschema import Draft202012Validator

from ascend_spec import bin_catalog
from ascend_spec.core.dialect import annotation_at

# What the newest schema finds in each file: erratum to number of departures.
DEPARTURES: dict[str, dict[int, dict[str, int]]] = {
    "base_info.bin": {0x05: {"B7": 1, "B42": 2, "B49": 2}},
    "mix.bin": {
        0x05: {"B42": 2},
        0x07: {"B47": 6},
        0x08: {"B45": 80},
        0x09: {"B43": 24, "B44": 6},
        0x0C: {"B48": 2},
    },
    "roofline_data.bin": {
        0x05: {"B42": 2},
        0x07: {"B47": 72},
        0x08: {"B45": 960},
        0x09: {"B43": 288, "B44": 72},
        0x0D: {"B43": 1, "B46": 5, "B56": 16, "B67": 2},
    },
}


def departures(code: int, epoch: str, payload: Any) -> list[tuple[str, str | None]]:
    """What the schema of an epoch finds: the message, and the erratum about it."""
    schema = bin_catalog().payload_schema(code, epoch)
    return [
        (
            f"{error.json_path}: {error.message}",
            annotation_at(schema, list(error.absolute_schema_path), "erratum"),
        )
        for error in Draft202012Validator(schema).iter_errors(payload)
    ]


@pytest.mark.parametrize(("name", "epoch"), EPOCHS.items())
def test_a_real_payload_obeys_the_schema_of_its_epoch(name: str, epoch: str) -> None:
    for code, payload in payloads(name).items():
        assert departures(code, epoch, payload) == [], f"{name} 0x{code:02X}"


@pytest.mark.parametrize("name", EPOCHS)
def test_every_departure_from_the_newest_epoch_has_an_erratum(name: str) -> None:
    found = {}
    for code, payload in payloads(name).items():
        errata = departures(code, "E3", payload)
        assert [message for message, erratum in errata if erratum is None] == []
        counts = Counter(erratum for _, erratum in errata)
        if counts:
            found[code] = dict(sorted(counts.items(), key=lambda one: int(one[0][1:])))
    assert found == DEPARTURES[name]


# --- signs of the epochs --------------------------------------------------------------------------

# 0x05 had the same form in E0 and E1; neither 0x0C nor 0x0D has a sign.
BORNE = {
    "base_info.bin": {0x05: ["E0", "E1"]},
    "mix.bin": {code: ["E2"] for code in (0x05, 0x06, 0x07, 0x08, 0x09)},
    "roofline_data.bin": {code: ["E2"] for code in (0x05, 0x06, 0x07, 0x08, 0x09)},
}


def borne(code: int, payload: Any) -> list[str]:
    """The epochs whose sign a payload bears."""
    return [
        epoch.id
        for epoch in bin_catalog().epochs
        if code in epoch.signs and Draft202012Validator(epoch.signs[code]).is_valid(payload)
    ]


@pytest.mark.parametrize("name", EPOCHS)
def test_a_real_payload_bears_the_sign_of_its_epoch_and_no_later_one(name: str) -> None:
    found = {code: borne(code, payload) for code, payload in payloads(name).items()}
    assert {code: epochs for code, epochs in found.items() if epochs} == BORNE[name]


@pytest.mark.parametrize(
    ("code", "payload"),
    [
        (0x06, {"subblock_detail": []}),
        (0x06, {"subblock_detail": ["name"]}),
        (0x08, {"core_memory_map": {}}),
        (0x09, {"table_per_block": "none"}),
        (0x09, {"table_per_block": [{"block_id": "0", "table_detail": [{"table_name": "GM"}]}]}),
        (0x05, {"block_detail": {}, "cur_freq": "1650"}),
        (0x05, {}),
    ],
)
def test_a_payload_of_another_form_bears_no_sign(code: int, payload: Any) -> None:
    assert borne(code, payload) == []


@pytest.mark.parametrize("name", EPOCHS)
def test_a_real_payload_has_no_key_that_its_epoch_does_not_know(name: str) -> None:
    def unknown(value: Any, known: dict[str, frozenset[str]], place: str) -> list[str]:
        if isinstance(value, list):
            return [key for inner in value for key in unknown(inner, known, f"{place}/*")]
        if not isinstance(value, dict):
            return []
        extra = [f"{place}/{key}" for key in value if key not in known[place]]
        return extra + [
            key for name, inner in value.items() for key in unknown(inner, known, f"{place}/{name}")
        ]

    for code, payload in payloads(name).items():
        assert unknown(payload, dict(bin_catalog().known_keys(code, EPOCHS[name])), "") == []


# --- names, paths and tables ----------------------------------------------------------------------

MIX = [name for name in EPOCHS if name != "base_info.bin"]


@pytest.mark.parametrize("name", MIX)
def test_the_memory_tables_are_those_of_the_spec(name: str) -> None:
    expected = bin_catalog().memory.tables("910B", "mix", "E2")
    for block in payloads(name)[0x09]["table_per_block"]:
        found = {
            table["table_name"]: (
                tuple(table["header_name"]),
                tuple(row["name"] for row in table["row"]),
            )
            for table in block["table_detail"]
        }
        assert list(found) == list(expected)
        assert found == {key: (table.headers, table.rows) for key, table in expected.items()}


@pytest.mark.parametrize("name", MIX)
def test_the_memory_paths_repeat_the_rows_that_the_spec_names(name: str) -> None:
    content = payloads(name)
    paths = bin_catalog().memory.path_set("910B", "mix", "E2")
    assert paths is not None
    duration = content[0x05]["duration"]
    tables = {
        block["block_id"]: {table["table_name"]: table["row"] for table in block["table_detail"]}
        for block in content[0x09]["table_per_block"]
    }
    for core in content[0x08]["core_memory_map"]:
        assert tuple(unit["memory_path"] for unit in core["memory_unit"]) == paths.paths
        for unit in core["memory_unit"]:
            if unit["memory_path"] in paths.rows:
                table, row = paths.rows[unit["memory_path"]]
                cells = tables[core["core_no"]][table][row]["value"]
                assert cells[:2] == [unit["request"], unit["bandwidth"]], unit
            size = bin_catalog().memory.request_bytes("910B", unit["memory_path"], "E2")
            assert size is not None
            moved = int(unit["request"]) * size / (duration * 1e-6) / 2**30
            assert abs(moved - float(unit["bandwidth"])) <= 2e-6 * moved + 1e-6, unit


@pytest.mark.parametrize("name", MIX)
@pytest.mark.parametrize("code", [0x06, 0x07])
def test_the_entries_of_the_loads_are_those_of_the_spec(name: str, code: int) -> None:
    loads = bin_catalog().loads
    expected = {
        "cube0": loads.entries(code, "910B", "cube", "E2"),
        "vector0": loads.entries(code, "910B", "vector", "E2", 0),
        "vector1": loads.entries(code, "910B", "vector", "E2", 1),
    }
    details = payloads(name)[code]["subblock_detail"]
    for block in {entry["block_id"] for entry in details}:
        for kind, entries in expected.items():
            found = [
                (entry["name"], entry["unit"])
                for entry in details
                if (entry["block_id"], entry["block_type"]) == (block, kind)
            ]
            assert sorted(found) == sorted((entry.name, entry.unit) for entry in entries)


def test_the_charts_of_the_roofline_are_those_of_the_spec() -> None:
    charts = {chart.title: chart for chart in bin_catalog().rooflines.charts("910B", "mix", "E2")}
    found = payloads("roofline_data.bin")[0x0D]["multiple_rooflines"]
    assert {chart["title"] for chart in found} == set(charts)
    for chart in found:
        lines = [line["bw_name"] for line in chart["rooflines"]]
        assert lines == [name for name in charts[chart["title"]].bandwidths if name in lines]


@pytest.mark.parametrize("name", MIX)
def test_headers_units_and_advice_are_those_of_the_spec(name: str) -> None:
    facts, content = bin_catalog(), payloads(name)
    headers = facts.memory.detail_headers("910B", "mix")
    assert tuple(content[0x05]["mix_block_detail"]["head_name"]) == headers
    known = {member.value for member in facts.enums["heat_map_advice"].members}
    assert {text for core in content[0x08]["core_memory_map"] for text in core["advice"]} <= known
    known = {member.value for member in facts.enums["table_advice"].members}
    assert {text for one in content[0x09]["table_per_block"] for text in one["advice"]} <= known
    (tag,) = [one.value for one in facts.enums["chip_tags"].members if one.chips == ("910B",)]
    assert {core["soc"] for core in content[0x08]["core_memory_map"]} == {tag}
