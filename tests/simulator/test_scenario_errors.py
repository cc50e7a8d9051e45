"""Whatever is wrong with a scenario is one line: where, what is there, what should be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascend_simulator.scenario import (
    FaultChoice,
    ModelChoice,
    Parallelism,
    Scenario,
    ScenarioError,
    load,
    override,
    parse,
    preset,
    validate,
)

RANKS_8 = "parallelism: {ranks: 8}\n"
RATES = "expected an integer from 1 to 100000 (10^9 Byte/s) or null"
CLOCK = "expected an integer from 100 to 4000 (MHz) or null"


def line_of(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        parse(text, "my.yaml")
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 600
    return line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nam: x", ":1: nam is unknown; did you mean name?"),
        (
            "name: x\nparallelism:\n  ranks: 2\n  tensr: 2",
            ":4: parallelism.tensr is unknown; did you mean tensor?",
        ),
        (
            "schedule: {qqqq: 1}",
            ":1: schedule.qqqq is unknown; expected one of first, wait, warmup, active, repeat",
        ),
        ("faults: [{kind: gc-pause, rank: 1}]", ":1: faults[0].rank is unknown; did you mean rank"),
    ],
)
def test_misspelt_keys(text: str, line: str) -> None:
    assert line_of(text).startswith(f"my.yaml{line}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "name: 3",
            ":1: name is 3; expected a name of up to 64 letters, digits, dots, hyphens and",
        ),
        (
            "summary: " + "x" * 201,
            f":1: summary is the text '{'x' * 60}…'; expected a text of at most 200 characters",
        ),
        (
            "model: null",
            ":1: model is null; expected a mapping with kind, data_type, layers, hidden",
        ),
        ("parallelism: 8", ":1: parallelism is 8; expected a mapping with ranks, tensor, pipeline"),
        ("capture: {memory: 1}", ":1: capture.memory is 1; expected true or false"),
        (
            "capture: {level: 3}",
            ":1: capture.level is 3; expected one of 0, 1, 2",
        ),
        (
            "capture: {host_sys: [cpu, cpu]}",
            ":1: capture.host_sys is [cpu, cpu]; expected a list of different items out of cpu",
        ),
        (
            "hardware: {product: a2}",
            ":1: hardware.product is the text 'a2'; expected one of A2, A3, 910A, 310P, "
            "200I-500-A2, 950; did you mean A2?",
        ),
        (
            "hardware: {product: 950}",
            ":1: hardware.product is 950; expected one of A2, A3, 910A, 310P, "
            "200I-500-A2, 950; did you mean the text '950'?",
        ),
        ("model: {layers: .nan}", ":1: model.layers is nan; expected an integer from 1 to 1000"),
        ("model: {layers: .inf}", ":1: model.layers is inf; expected an integer from 1 to 1000"),
        ("model: {layers: 2.5}", ":1: model.layers is 2.5; expected an integer from 1 to 1000"),
        ("model: {layers: true}", ":1: model.layers is true; expected an integer from 1 to 1000"),
        ("model: {layers: 0b_}", ":1: model.layers is the text '0b_'; expected an integer from"),
        (
            "model: {kind: single-operator, shape: []}",
            ":1: model.shape is []; expected a list of 1 to 8 items",
        ),
        ("faults: [{}]", ":1: faults[0].kind is missing; expected one of slow-rank, slow-link"),
        (
            f"{RANKS_8}faults:\n- kind: slow-link",
            ":3: faults[0].link is missing; expected a list of 2 different items",
        ),
        (
            f"{RANKS_8}faults:\n- kind: slow-link\n  link: [1, 1]",
            ":4: faults[0].link is [1, 1]; expected a list of 2 different items",
        ),
        (
            f"{RANKS_8}faults:\n- kind: slow-link\n  link: null",
            ":4: faults[0].link is null; expected a list of 2 different items",
        ),
    ],
)
def test_values_that_a_field_cannot_have(text: str, line: str) -> None:
    assert line_of(text).startswith(f"my.yaml{line}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "model: {kind: cnn, experts: 4}",
            ":1: model.experts is not read by kind cnn; expected only kind, data_type, ",
        ),
        (
            "model: {experts: 4}",
            ":1: model.experts is not read by kind dense-transformer; expected",
        ),
        (
            "faults: [{kind: clock-skew, steps: [0, 1]}]",
            ":1: faults[0].steps is not read by kind clock-skew; expected only kind, ranks, "
            "milliseconds",
        ),
    ],
)
def test_fields_that_a_kind_does_not_read(text: str, line: str) -> None:
    assert line_of(text).startswith(f"my.yaml{line}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("frequency: 1.8GHz", f"frequency is the text '1.8GHz'; {CLOCK}; did you mean 1800?"),
        ("frequency: 1800 MHz", f"frequency is the text '1800 MHz'; {CLOCK}; did you mean 1800?"),
        ("frequency: 1800000000", f"frequency is 1800000000; {CLOCK}; did you mean 1800?"),
        ("frequency: 1.8", f"frequency is 1.8; {CLOCK}; did you mean 1800?"),
        ("frequency: 5000", f"frequency is 5000; {CLOCK}"),
        (
            "hbm_bandwidth: 1.6TB/s",
            f"hbm_bandwidth is the text '1.6TB/s'; {RATES}; did you mean 1600?",
        ),
        (
            "hbm_bandwidth: 1600000000000",
            f"hbm_bandwidth is 1600000000000; {RATES}; did you mean 1600?",
        ),
        ("host_bandwidth: 200Gb/s", "did you mean 25?"),
        ("host_bandwidth: 200 Gbps", "did you mean 25?"),
        ("host_bandwidth: 200Gbit/s", "did you mean 25?"),
        ("host_bandwidth: 200 parsec", "or null"),
        ("link_bandwidth: 0.5", "did you mean 500?"),
    ],
)
def test_units_of_the_hardware(text: str, line: str) -> None:
    told = line_of(f"hardware: {{{text}}}")
    assert told.startswith("my.yaml:1: hardware.")
    assert told.endswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "kind: gc-pause, milliseconds: 2s",
            "expected an integer from 1 to 600000 (ms); did you mean 2000?",
        ),
        ("kind: gc-pause, milliseconds: 20000000", "did you mean 20000?"),
        (
            "kind: slow-rank, factor: 1.5",
            "expected an integer from 1001 to 1000000 (thousandths); did you mean 1500?",
        ),
        ("kind: slow-rank, factor: 150%", "did you mean 1500?"),
        ("kind: slow-rank, factor: 2x", "did you mean 2000?"),
        ("kind: slow-rank, factor: 0.5", "(thousandths)"),
        (
            "kind: memory-leak, megabytes: 1GB",
            "expected an integer from 1 to 100000 (MiB); did you mean 1024?",
        ),
    ],
)
def test_units_of_the_faults(text: str, line: str) -> None:
    assert line_of(f"faults: [{{{text}}}]").endswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "parallelism: {ranks: 8, tensor: 3}",
            "parallelism.ranks is 8; expected a multiple of tensor x pipeline = 3 x 1 = 3",
        ),
        (
            "model: {kind: moe}\nparallelism: {ranks: 8, tensor: 2, expert: 3}",
            "parallelism.expert is 3; expected a divisor of the data-parallel size, ranks / "
            "(tensor x pipeline) = 4",
        ),
        (
            "parallelism: {ranks: 8, expert: 2}",
            "parallelism.expert is 2; expected 1, for a dense-transformer has no experts",
        ),
        (
            "model: {kind: cnn}\nparallelism: {ranks: 8, tensor: 2}",
            "parallelism.tensor is 2; expected 1, for a cnn is only data parallel",
        ),
        (
            "model: {layers: 3}\nparallelism: {ranks: 8, pipeline: 4}",
            "model.layers is 3; expected at least parallelism.pipeline = 4",
        ),
        (
            "model: {heads: 2, hidden: 64}\nparallelism: {ranks: 4, tensor: 4}",
            "model.heads is 2; expected a multiple of parallelism.tensor = 4",
        ),
        (
            "model: {heads: 6}",
            "model.hidden is 2048; expected a multiple of model.heads = 6",
        ),
        (
            "model: {kind: moe, experts: 6}\nparallelism: {ranks: 4, expert: 4}",
            "model.experts is 6; expected a multiple of parallelism.expert = 4",
        ),
        (
            "model: {kind: moe, experts: 2, top_k: 3}",
            "model.top_k is 3; expected at most model.experts = 2",
        ),
        (
            "parallelism: {ranks: 16, devices_per_process: 16}",
            "parallelism.devices_per_process is 16; expected a divisor of the 8 devices of a host",
        ),
        (
            "parallelism: {ranks: 6, devices_per_process: 4}",
            "parallelism.devices_per_process is 4; expected a divisor of the 6 ranks",
        ),
        (
            "hardware: {product: 910A}\nmodel: {data_type: DT_BF16}",
            "model.data_type is DT_BF16; expected FLOAT16 or FLOAT, for 910A cannot compute with "
            "the former",
        ),
        (
            "model: {kind: single-operator, operator: MatMulv2}",
            "model.operator is 'MatMulv2'; expected an operator that is modelled, "
            "such as MatMulV2; did you mean MatMulV2?",
        ),
        (
            "model: {kind: single-operator, operator: allReduce}",
            "parallelism.ranks is 1; expected at least 2 for allReduce",
        ),
        (
            "model: {kind: single-operator, operator: Conv2D, shape: [64, 64]}",
            "model.shape has 2 lengths; expected 4 or more for Conv2D",
        ),
        (
            "hardware: {product: 910A}\ncapture: {aic_metrics: L2Cache}",
            "capture.aic_metrics is L2Cache; expected what 910A counts: PipeUtilization, "
            "ArithmeticUtilization, Memory, MemoryL0, MemoryUB, ResourceConflictRatio",
        ),
        (
            "capture: {cpu: false, npu: false}",
            "capture.npu is false, and so is capture.cpu; expected one of them to be true",
        ),
        (
            "model: {kind: single-operator, shape: [1000000, 1000000, 1]}",
            "model.shape has a product of 1000000000000; expected at most 68719476736",
        ),
    ],
)
def test_impossible_combinations(text: str, line: str) -> None:
    assert line_of(text).partition(": ")[2] == line


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("kind: slow-rank, ranks: [0, 8]", ".ranks[1] is 8; expected a rank from 0 to 7"),
        ("kind: slow-link, link: [9, 0]", ".link[0] is 9; expected a rank from 0 to 7"),
        (
            "kind: gc-pause, steps: [1, 3]",
            ".steps is [1, 3]; expected numbers of captured steps: 1 to 2",
        ),
        (
            "kind: gc-pause, steps: [2, 1]",
            ".steps is [2, 1]; expected the first step before the last",
        ),
        (
            "kind: frequency-throttling, frequency: 1800",
            ".frequency is 1800; expected less than the nominal 1800 MHz",
        ),
        (
            "kind: lost-samples",
            ".sampler is HBM, which this run does not sample; expected capture.sys_hardware_mem on "
            "a product that has it",
        ),
        (
            "kind: lost-samples, sampler: TASK",
            ".sampler is TASK; expected one of ACC_PMU, CPU_USAGE",
        ),
    ],
)
def test_faults_that_hit_nothing(fault: str, line: str) -> None:
    told = line_of(f"{RANKS_8}faults:\n- {{{fault}}}")
    assert told.startswith(f"my.yaml:3: faults[0]{line}")


@pytest.mark.parametrize(
    ("capture", "kind"),
    [("npu", "lost-head"), ("npu", "lost-slice"), ("npu", "lost-device"), ("cpu", "lost-steps")],
)
def test_what_is_not_captured_cannot_be_lost(capture: str, kind: str) -> None:
    line = line_of(f"capture: {{{capture}: false}}\nfaults: [{{kind: {kind}}}]")
    assert (
        line == f"my.yaml:2: faults[0].kind is {kind}; expected capture.{capture} to be true for it"
    )


def test_a_link_needs_two_ranks() -> None:
    line = line_of("faults: [{kind: communication-retry}]")
    assert (
        line == "my.yaml:1: faults[0].kind is communication-retry; expected at least 2 ranks for it"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "schedule: {active: 1000000000}",
            "schedule.active is 1000000000; expected an integer from 1 to 1000000 (steps) (every "
            "captured step is written row by row)",
        ),
        (
            "parallelism: {ranks: 8}\nschedule: {active: 1000000}",
            "schedule.active is 1000000, which makes about ",
        ),
        (
            "parallelism: {ranks: 60000}\nschedule: {active: 300}",
            "schedule.active is 300, which makes about ",
        ),
    ],
)
def test_endless_runs(text: str, line: str) -> None:
    assert line_of(text).partition(": ")[2].startswith(line)


def test_an_endless_run_says_what_would_be_possible() -> None:
    line = line_of("parallelism: {ranks: 8}\nschedule: {active: 1000000}")
    assert "rows and" in line
    assert "Byte on 8 ranks; expected at most about 8 x 10^8 rows, which" in line
    possible = int(line.rpartition("which ")[2].split()[0])
    parse(f"parallelism: {{ranks: 8}}\nschedule: {{active: {possible}}}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ": the document is empty; expected fields such as 'name: mine'"),
        ("# nothing", ": the document is empty; expected fields such as 'name: mine'"),
        ("[]", ":1: the document is []; expected a mapping with name, summary, hardware"),
        ("word", ":1: the document is the text 'word'; expected a mapping with name"),
        ("name: x\nname: y", ":2: name stands twice; expected it once"),
        (
            "model:\n  layers: 1\n  layers: 2",
            ":3: model.layers stands twice; expected it once",
        ),
        ("name: &x y\nsummary: *x", ":1: an anchor, &x; expected the value alone"),
        ("name: *x", ":1: an alias, *x; expected the value itself"),
        ("a: !!python/object/apply:os.system [x]", ":1: a tag, tag:yaml.org,2002:python/object/"),
        ("a: 1\n---\nb: 2", ":2: a second document; expected one"),
        ("[" * 100_000, ":1: values nested 9 deep; expected at most 8"),
        ("{a: " * 10_000, ":1: values nested 9 deep; expected at most 8"),
        ("name: a: b", ":1: mapping values are not allowed here; expected YAML"),
        ("\t- x", ":1: found character '\\t' that cannot start any token; expected YAML"),
        ("a: 1\nname: \0", ":2: character U+0000; expected YAML"),
        ("? [a]\n: b", ":1: a key that is a list or mapping; expected a name"),
        (
            "model: {layers: " + "9" * 6000 + "}",
            ":1: model.layers is a number of 6000 digits; expected at most 40",
        ),
        ("a: " + "b" * 300_000, ": the text is longer than 256 KiB; expected a scenario"),
        (
            "{" + ", ".join(f"k{n}: 1" for n in range(20_000)) + "}",
            ":1: k0 is unknown; expected one",
        ),
    ],
)
def test_hostile_and_broken_text(text: str, line: str) -> None:
    assert line_of(text).startswith(f"my.yaml{line}")


@given(st.text(max_size=60))
def test_any_text_is_a_scenario_or_an_error(text: str) -> None:
    told = ""
    try:
        parse(text)
    except ScenarioError as error:
        told = str(error)
    assert told.isprintable()


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert line_of('"a\\e[31m\\n": 1').startswith(r"my.yaml:1: a\x1b[31m is unknown; expected")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_bytes(b"name: \xff")
    with pytest.raises(ScenarioError, match=r"scenario.yaml: byte 6 is not UTF-8; expected a YAML"):
        load(path)


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("\ufeffname: marked", encoding="utf-8")
    assert load(path).name == "marked"


def test_whole_numbers_with_a_point_are_integers() -> None:
    layers = parse("model: {layers: 2.0}").model.layers
    assert (layers, type(layers)) == (2, int)


@pytest.mark.parametrize(
    ("scenario", "line"),
    [
        (
            Scenario(parallelism=Parallelism(ranks=0)),
            "parallelism.ranks is 0; expected an integer from 1 to 65536",
        ),
        (
            Scenario(model=ModelChoice(layers=True)),
            "model.layers is true; expected an integer from 1 to 1000",
        ),
        (
            Scenario(faults=(FaultChoice("slow-rank", ranks=(1,)),)),
            "faults[0].ranks[0] is 1; expected a rank from 0 to 0",
        ),
        (
            Scenario(model=ModelChoice(kind="cnn", layers=5)),
            "model.layers is not read by kind cnn; expected only kind, data_type, batch, image, "
            "channels, graph, preprocess",
        ),
    ],
)
def test_scenarios_that_were_made_in_python_are_judged_alike(scenario: Scenario, line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        validate(scenario, "mine")
    assert str(caught.value) == f"mine: {line}"


def test_overrides_are_judged_as_part_of_the_scenario() -> None:
    scenario = override(preset("troubled"), ranks=4)
    with pytest.raises(
        ScenarioError, match=r"^x: faults\[1\].link\[0\] is 4; expected a rank from 0"
    ):
        validate(scenario, "x")
    assert validate(override(preset("dense-8"), ranks=16, steps=1, level=0)) == replace(
        preset("dense-8"),
        parallelism=replace(preset("dense-8").parallelism, ranks=16),
        schedule=replace(preset("dense-8").schedule, active=1),
        capture=replace(preset("dense-8").capture, level=0),
    )
