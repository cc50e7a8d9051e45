"""Documents of kernels: what is impossible is one line, what is possible goes there and back."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ascend_simulator.operator import simulate_kernel
from ascend_simulator.operator.chip import chip_names
from ascend_simulator.operator.choices import Device, KernelScenario, Operator, Tiling
from ascend_simulator.operator.scenario import (
    kernel_schema,
    load,
    override,
    parse,
    preset,
    presets,
    to_document,
    to_yaml,
    validate,
)
from ascend_simulator.operator.strategies import kernel_scenarios
from ascend_simulator.scenario import ScenarioError


def line_of(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(text, "my.yaml")
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 600
    return line.removeprefix("my.yaml:")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", " the document is empty; expected fields such as 'name: mine'"),
        ("nam: x", "1: nam is unknown; did you mean name?"),
        ("operator: {kin: add}", "1: operator.kin is unknown; did you mean kind?"),
        ("tiling: {q: 1}", "1: tiling.q is unknown; expected one of elements, m, n, k, buffers"),
        ("name: ../../x", "1: name is the text '../../x'; expected a name of up to 64 letters"),
        ("operator: null", "1: operator is null; expected a mapping with kind, shape, data_type"),
        ("operator: {shape: 5}", "1: operator.shape is 5; expected a list of 1 to 8 items or null"),
        ("operator: {shape: [0]}", "1: operator.shape[0] is 0; expected an integer from 1 to"),
        ("operator: {shape: [.inf]}", "1: operator.shape[0] is inf; expected an integer from 1"),
        ("operator: {shape: [true]}", "1: operator.shape[0] is true; expected an integer from 1"),
        ("operator: {kind: add, kind: add}", "1: operator.kind stands twice; expected it once"),
        (
            "conditions: {l2_hit_rate: .nan}",
            "1: conditions.l2_hit_rate is nan; expected an integer",
        ),
        (
            "device:\n  block_dim: 100000000000000000000000000",
            "2: device.block_dim is 100000000000000000000000000; expected an integer",
        ),
        (
            "device: {frequency: 1.2 GHz}",
            "1: device.frequency is the text '1.2 GHz'; expected an integer from 100 to 4000 (MHz) "
            "or null; did you mean 1200?",
        ),
        (
            "conditions: {imbalance: 1.5}",
            "1: conditions.imbalance is 1.5; expected an integer from 1000 to 8000 (thousandths); "
            "did you mean 1500?",
        ),
        ("a: &a [*a]", "1: an anchor, &a; expected the value alone"),
        ("{" * 400, "1: values nested 9 deep; expected at most 8"),
    ],
)
def test_what_the_schema_forbids(text: str, line: str) -> None:
    assert line_of(text).startswith(line.removeprefix("1:") if line[0] == " " else line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "operator: {kind: softmax, shape: [5]}",
            "1: operator.shape has 1 lengths; expected 2 for softmax",
        ),
        (
            "operator: {data_type: int8}",
            "1: operator.data_type is int8; expected one of float16, bfloat16, float32, int16, "
            "int32 for add",
        ),
        ("operator: {kind: gather}", "1: operator.kind is gather; expected a chip of the 950"),
        (
            "device: {chip: Ascend310P3}\noperator: {kind: flash-attention}",
            "2: operator.kind is flash-attention; expected a chip with separate vector cores",
        ),
        (
            "device: {chip: Ascend310P3}\noperator: {data_type: bfloat16}",
            "2: operator.data_type is bfloat16; expected float16 or float32",
        ),
        (
            "device: {frequency: 1651}",
            "1: device.frequency is 1651; expected at most the rated 1650 MHz of Ascend910B4",
        ),
        (
            "tiling: {m: 24}\noperator: {kind: matmul}",
            "1: tiling.m is 24; expected a multiple of 16",
        ),
        (
            "tiling: {m: 4096}\noperator: {kind: matmul}",
            "1: tiling.m is 4096, so m x k = 16 needs 262,144 Byte of L0A in 2 buffers",
        ),
        (
            "tiling: {elements: 100000}",
            "1: tiling.elements makes vector tiles of 100000 elements, which need 1,200,000 Byte "
            "of UB in 2 buffers; expected at most 16384 elements",
        ),
        (
            "operator: {kind: softmax, shape: [4, 50000]}",
            "1: operator.shape[1] makes vector tiles of 50000 elements",
        ),
        (
            "operator: {kind: gather}\ndevice: {chip: Ascend950PR_9599}\n"
            "capture: {mode: simulator}",
            "3: capture.mode is simulator; expected device or everything",
        ),
        (
            "operator: {kind: flash-attention, shape: [1, 1, 16, 17]}",
            "1: operator.shape[3] is 17; expected a multiple of 16",
        ),
        (
            "operator: {shape: [1000000000, 1000000000]}",
            "1: operator.shape makes an operand of 2,000,000,000,000,000,000 Byte",
        ),
        ("operator: {shape: [1000000000]}", "1: operator.shape makes about 11,718,912 lines of L2"),
        (
            "operator: {shape: [50000000]}\ntiling: {elements: 16}",
            "1: operator.shape makes about 1,3",
        ),
        (
            "operator: {shape: [8000000]}\ntiling: {elements: 16}\ndevice: {block_dim: 1000}",
            "1: operator.shape makes about 10,520,000 executed instructions; expected at",
        ),
        (
            "operator: {shape: [300000000]}\ncapture: {mode: everything, access_bytes: 32}",
            "1: operator.shape makes about ",
        ),
    ],
)
def test_what_is_impossible(text: str, line: str) -> None:
    found = line_of(text)
    assert found.startswith(line), found


@pytest.mark.parametrize("kind", ["matmul", "matmul-leakyrelu"])
@pytest.mark.parametrize("data_type", ["float16", "float32"])
@pytest.mark.parametrize("buffers", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["Ascend910B4", "Ascend310P3", "Ascend950PR_9599"])
def test_tiles_of_the_models_own_choice_fit(
    kind: Literal["matmul", "matmul-leakyrelu"],
    data_type: Literal["float16", "float32"],
    buffers: int,
    name: str,
) -> None:
    operator = Operator(kind, (1000, 1000, 1000), data_type)
    validate(KernelScenario(operator=operator, device=Device(name), tiling=Tiling(buffers=buffers)))


def test_a_tile_of_a_310p_has_to_fit_into_its_unified_buffer() -> None:
    text = "operator: {{kind: {}}}\ndevice: {{chip: Ascend310P3}}\ntiling: {{m: 128, n: 512}}"
    for kind in ("matmul", "matmul-leakyrelu"):
        assert "makes vector tiles of 65536 elements" in line_of(text.format(kind))


def test_names_of_presets_that_do_not_exist() -> None:
    with pytest.raises(ScenarioError, match=r"did you mean vector-add\?"):
        preset("vector-ad")


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_bytes(b"name: \xff")
    with pytest.raises(ScenarioError, match=r"my\.yaml: byte 6 is not UTF-8; expected a YAML text"):
        load(path)


@pytest.mark.parametrize("seed", [-1, 1 << 63])
def test_impossible_seeds(seed: int) -> None:
    with pytest.raises(ScenarioError, match="expected an integer from 0 to"):
        simulate_kernel(KernelScenario(), seed)


def test_a_scenario_made_in_python_is_checked_too() -> None:
    with pytest.raises(
        ScenarioError, match=r"device\.chip is the text 'Ascend910B9'; expected one"
    ):
        simulate_kernel(KernelScenario(device=Device("Ascend910B9")))
    with pytest.raises(ScenarioError, match=r"operator\.shape has 1 lengths"):
        validate(KernelScenario(operator=Operator("matmul", (5,))))


def test_the_schema_is_one_and_knows_every_chip() -> None:
    Draft202012Validator.check_schema(kernel_schema().value)
    known = kernel_schema().value["$defs"]["device"]["properties"]["chip"]["enum"]
    assert sorted(known) == sorted(chip_names())


def test_defaults_of_the_schema_are_those_of_the_model() -> None:
    expected = asdict(KernelScenario())
    found: dict[str, Any] = {}
    for name, field in kernel_schema().value["properties"].items():
        reference = field.get("$ref", "").rpartition("/")[2]
        section = kernel_schema().value["$defs"].get(reference)
        found[name] = (
            {key: one["default"] for key, one in section["properties"].items()}
            if section
            else field["default"]
        )
    assert found == expected
    assert parse("{}") == parse("name: unnamed") == KernelScenario()


def test_presets_go_there_and_back() -> None:
    for one in presets().values():
        assert parse(to_yaml(one)) == one
        Draft202012Validator(kernel_schema().value).validate(to_document(one, defaults=True))


@given(kernel_scenarios())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_scenarios_go_there_and_back(drawn: KernelScenario) -> None:
    assert parse(to_yaml(drawn)) == drawn
    assert validate(drawn) == drawn


def test_options_replace_fields() -> None:
    found = override(preset("matmul"), mode="simulator", chip="Ascend910B1", block_dim=3)
    assert (found.capture.mode, found.device.chip, found.device.block_dim) == (
        "simulator",
        "Ascend910B1",
        3,
    )
    assert override(found) == found
    assert replace(found, device=preset("matmul").device).operator == preset("matmul").operator


def test_scenarios_shrink_to_one_small_addition() -> None:
    smallest = find(kernel_scenarios(), lambda one: True, settings=settings(database=None))
    assert smallest.operator == Operator("add", (1,), "float16")
    assert smallest.device == Device("Ascend910B1", 1, None)


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_text_is_more_than_a_line_of_complaint(text: str) -> None:
    complaint = ""
    try:
        parse(text)
    except ScenarioError as error:
        complaint = str(error)
    assert "\n" not in complaint
