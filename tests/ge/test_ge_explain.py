"""``ascend-ref ge explain``: on and off, what follows, backwards, and what hostile users give."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from slices import some

from ascend_ref.cli import main
from ascend_ref.ge.options.explain import explain, ways_of
from ascend_ref.ge.options.given import Given
from ascend_ref.tools.spec.lookup import find
from ascend_spec import catalog, ge_catalog

EVERY = {
    "output": "folder", "task_time": "l2", "hccl": "on", "aicpu": "on", "aic_metrics": "",
    "l2": "on", "msproftx": "on", "runtime_api": "on", "task_memory": "on", "dvpp_freq": 50,
    "sys_hardware_mem_freq": 50, "host_sys": "cpu,mem,disk,network,osrt",
    "host_sys_usage": "cpu,mem",
}  # fmt: skip


def ge(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["ge", "explain", *words])
    out, err = capsys.readouterr()
    return code, out, err


def document(*words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    code, out, err = ge(*words, "--json", capsys=capsys)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.parametrize("product", list(catalog().products))
def test_g29_each_thing_has_an_address_that_is_shown(product: str) -> None:
    taken = explain(Given("1", json.dumps(EVERY)), product)
    assert taken.settings is not None
    if taken.settings.problems:  # what this product does not take
        left = {one.option for one in taken.settings.problems}
        options = {name: value for name, value in EVERY.items() if name not in left}
        taken = explain(Given("1", json.dumps(options)), product)
    assert len(taken.things) > 40
    for one in taken.things:
        assert find(one.address).address == one.address


def test_g29_each_option_and_thing_is_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(json.dumps(EVERY), "--product", "310P", capsys=capsys)
    assert found["on"]
    assert set(found["options"]) == set(ge_catalog().options)
    assert found["options"]["aic_metrics"] == {
        "option": "aic_metrics",
        "value": "PipeUtilization",
        "source": "option",
        "given": "",
        "cost": "medium",
    }
    things = {one["address"]: one for one in found["things"]}
    assert things["table/DDR"]["options"] == ["sys_hardware_mem_freq"]
    assert "table/HBM" not in things
    assert things["table/META_DATA"]["options"] == []


def test_g12_g13_g14_the_environment_is_taken_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFILING_MODE", "true")
    monkeypatch.setenv("PROFILING_OPTIONS", '{"output":"folder","l2":"on"}')
    assert document("--environment", capsys=capsys)["options"]["l2"]["source"] == "environment"
    assert not document("--environment", "PROFILING_MODE=false", capsys=capsys)["on"]
    assert not document("--environment", "ASCEND_WORK_PATH=/w", capsys=capsys)["on"]
    off = document("--mode", "0", "{}", capsys=capsys)
    assert (off["on"], off["warnings"]) == (False, [])
    both = ("--environment", "PROFILING_MODE=true", '{"output":"a","aicpu":"on"}')
    assert document(*both, capsys=capsys)["options"]["aicpu"]["source"] == "option"
    wrong = document("--environment", "GE_PROFILING_MODE=true", capsys=capsys)
    assert not wrong["on"]
    assert wrong["warnings"] == ["nothing reads GE_PROFILING_MODE; PROFILING_MODE is meant"]


@cache
def addresses_of(options: str, product: str) -> frozenset[str]:
    """What is there by options that switch the profiling on."""
    answer = explain(Given("1", options), product)
    assert answer.settings is not None
    return frozenset(one.address for one in answer.things)


@pytest.mark.parametrize(
    "address",
    some(
        [
            "table/HBM",
            "table/TASK_PMU_INFO",
            "csv/aicpu",
            "layer/MsTx",
            "raw/hbm",
            "timeline/msprof_tx",
        ],
        every=3,
    ),
)
def test_g29_backwards_each_way_leads_there_and_no_other_option_does(address: str) -> None:
    """Held against the answer forwards, option by option and product by product."""
    products = [one for one in catalog().products if one != "310"]
    ways = ways_of(address, "", products)
    values = {"aic_metrics": "", "host_sys": "cpu", "host_sys_usage": "mem"}
    for name, option in ge_catalog().options.items():
        node = ge_catalog().options_schema["properties"][name]
        value = values.get(name, next(iter(node.get("enum", ["x"])), "x"))
        if node["type"] == "integer":
            value = node["minimum"]
        if name in ("output", "task_time", "task_trace", "storage_limit"):
            continue
        for product in products:
            text = json.dumps({"output": "folder", name: value})
            there = address in addresses_of(text, product)
            stated = any(
                way.option == name and not way.adds and product in way.products for way in ways.ways
            )
            assert there == stated, (name, product, option.chips)


def test_g29_for_asks_for_things_alone(capsys: pytest.CaptureFixture[str]) -> None:
    found = document("--for", "column/HBM.bandwidth", capsys=capsys)
    assert found["address"] == "table/HBM"
    assert [one["option"] for one in found["ways"]] == ["sys_hardware_mem_freq"]
    assert found["ways"][0]["products"] == ["A3", "A2", "910A", "950"]
    assert found["summary"] == find("table/HBM").summary
    column = document("--for", "header/op_summary/mac_fp16_ratio", capsys=capsys)
    assert find(column["address"]).address == "header/op_summary/mac_fp16_ratio"
    assert [one["values"] for one in column["ways"]] == [["ArithmeticUtilization"]]
    code, out, _ = ge("--for", "table/HBM", "--product", "310P", capsys=capsys)
    assert code == 0
    assert "no option records it on 310P" in out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--for", "nosuch"],
        ["--for", "product/A2"],
        ["--for", "switch/aicpu"],
        ["--for", "table/"],
        ["--for", "HBM"],
        ["--for", ""],
        ["--for", "table/HBM", "{}"],
        ["PROFILING_MODE=true"],
        ["PROFILING_OPTIONS={\n}"],
        ["A=" + "b" * 100_000],
        ["{}", "{}"],
        ["nosuch.json"],
        ["{}", "--product", "A9"],
        ['{"output":"a","output":"b"}'],
        ["{"],
        ['{"a":' * 500],
        ["\ud800"],
        ["a\0b"],
        ['{"output":"\udcff"}'],
        ["--environment", "PROFILING_MODE=true", 'PROFILING_OPTIONS={\n"l2":\n"maybe"}'],
        ["--environment", "PROFILING_MODE=true", "PROFILING_OPTIONS=\n"],
        [json.dumps(dict.fromkeys("abcdefghijklmnop", "wrong"))],
    ],
)
def test_g16_g28_what_cannot_be_is_one_clear_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = ge(*words, capsys=capsys)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert len(err) < 700
    assert "internal error" not in err


@pytest.mark.parametrize(
    "content",
    [
        b" ",
        b"\xff\xfe{\x00}\x00",
        b'{"output": "\xff"}',
        b"[" * 100_000,
        b'{"output": ' * 100_000,
        b'{"dvpp_freq": 9223372036854775808}',
        b'{"dvpp_freq": ' + b"9" * 10_000 + b"}",
        b'{"dvpp_freq": -1e999}',
        b'{"dvpp_freq": NaN}',
        b'{"l2": "on", "l2": "off"}',
        b'{"l2": ["on"]}',
        b"\x00" * 5000,
    ],
    ids=range(12),
)
def test_g28_a_file_with_whatever_is_one_clear_line(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "options.json"
    file.write_bytes(content)
    code, out, err = ge(str(file), capsys=capsys)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert len(err) < 700
    assert "internal error" not in err


def test_g29_the_schema_is_exported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spec", "export", "ge-schema/profiling_options"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert set(schema["properties"]) == set(ge_catalog().options)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["optype"]["x-maxBytes"] == 256


def test_g28_a_text_of_ten_megabytes_is_cut_and_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "options.json"
    file.write_text(json.dumps({"output": "x" * 10_000_000}), "utf-8")
    code, _, err = ge(str(file), capsys=capsys)
    assert code == 2
    assert "10,000,014 bytes" in err
    assert "2,047" in err
    assert len(err) < 700


def test_g29_simulate_takes_what_explain_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["simulate", "single-op", "-o", str(tmp_path / "run"), "--steps", "1"]
    assert main([*run, "--profiling-options", '{"output":"a","l2":"no"}']) == 2
    assert "EK0001" in capsys.readouterr().err
    assert main([*run, "--profiling-options", "{}", "--level", "1"]) == 2
    assert main([*run, "--profiling-options", "{}", "--as", "pytorch-db"]) == 2
    assert main([*run, "--profiling-options", '{"aic_metrics":"Custom:1","output":"a"}']) == 2
    assert "not simulated" in capsys.readouterr().err
    assert main([*run, "--profiling-options", '{"output":"a"}']) == 0
    assert [*(tmp_path / "run").glob("PROF_*/msprof_*.db")]
