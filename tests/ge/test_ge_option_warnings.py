"""What is accepted and is not what one would think: each warning, and the nearest case without."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ascend_ref.ge.options.explain import explain, options_along, options_of, ways_of
from ascend_ref.ge.options.given import Given, decide
from ascend_ref.ge.options.settings import settings_of
from ascend_ref.ge.options.show import as_lines, ways_as_lines
from ascend_ref.ge.options.text import refusal
from ascend_spec import ge_catalog
from ascend_spec.ge.commands import GE_OPTIONS


def warnings(options: dict[str, Any], product: str = "A2") -> list[str]:
    """Those of options with an output, so that none is about that."""
    text = json.dumps({"output": "a", **options})
    found = settings_of(decide(Given("1", text)), product)
    assert found.problems == ()
    return list(found.warnings)


@pytest.mark.parametrize(
    ("options", "product", "words"),
    [
        ({"task_trace": "l0"}, "A2", "task_trace is ignored"),
        ({"hccl": "off"}, "A2", "hccl is deprecated"),
        ({"instr_profiling_freq": 300}, "A2", "of no use without instr_profiling"),
        ({"host_sys_usage_freq": 50}, "A2", "of no use without host_sys_usage"),
        ({"llc_profiling": "write"}, "A2", "of no use without sys_hardware_mem_freq"),
        ({"fp_point": 1}, "A2", "fp_point is 1 and has no effect"),
        ({"bp_point": "b"}, "A2", "while graphs are built alone"),
        ({"training_trace": "", "fp_point": "a"}, "A2", "while graphs are built alone"),
        ({"instr_profiling": "on", "l2": "off"}, "A2", "together with l2"),
        ({"aic_metrics": "Custom:0x6f"}, "A2", "events up to 0x6e"),
        ({"aic_metrics": "Custom:111"}, "A2", "events up to 0x6e"),
        ({"sys_cpu_freq": 1}, "950", "of 950 only chip 16 has it"),
        ({"task_time": "off", "aic_metrics": ""}, "A2", "aic_metrics records what is about tasks"),
    ],
)
def test_g18_g19_g20_g21_g24_what_has_no_effect_is_one_warning(
    options: dict[str, Any], product: str, words: str
) -> None:
    (found,) = warnings(options, product)
    assert words in found


@pytest.mark.parametrize(
    ("options", "product"),
    [
        ({}, "A2"),
        ({"instr_profiling": "off", "l2": "on"}, "A2"),
        ({"instr_profiling": "on", "instr_profiling_freq": 300}, "A2"),
        ({"host_sys_usage": "cpu", "host_sys_usage_freq": 50}, "A2"),
        ({"sys_hardware_mem_freq": 1, "llc_profiling": "write"}, "A2"),
        ({"training_trace": "on", "fp_point": "a", "bp_point": "b"}, "A2"),
        ({"training_trace": "", "fp_point": ""}, "A2"),
        ({"instr_profiling": "on", "msproftx": "on"}, "A2"),
        ({"aic_metrics": "Custom:0x6e,110,0X1A"}, "A2"),
        ({"sys_lp_freq": 1}, "950"),
        ({"task_time": "l0", "aic_metrics": ""}, "A2"),
        ({"task_time": "off", "aicpu": "on"}, "A2"),
    ],
)
def test_what_has_its_effect_has_no_warning(options: dict[str, Any], product: str) -> None:
    assert warnings(options, product) == []


def test_g17_the_folder_of_the_output_is_missed_where_nothing_names_one() -> None:
    asked = decide(Given("1", "{}"))
    (warning,) = settings_of(asked, "A2").warnings
    assert "ASCEND_WORK_PATH must be set" in warning
    assert settings_of(decide(Given("1", "{}", {"ASCEND_WORK_PATH": "/w"})), "A2").warnings == ()
    refused = settings_of(decide(Given("1", '{"aicpu":1}', {})), "A2").problems
    assert [one.option for one in refused] == ["aicpu"]  # what is wrong before that, alone
    with_mark = {"ASCEND_WORK_PATH": "/w/"}
    held = settings_of(decide(Given("1", "{}", with_mark)), "A2").options["output"].value
    assert held == "/w/profiling_data"


def test_g9_g10_g11_names_of_variables_that_are_like_one_are_warned_of() -> None:
    def warned(name: str) -> list[str]:
        return list(decide(Given(environment={name: "true"})).warnings)

    assert warned("GE_PROFILING_OPTIONS") == [
        "nothing reads GE_PROFILING_OPTIONS; PROFILING_OPTIONS is meant"
    ]
    assert warned("PROFILING_MOD") == [
        "nothing of the graph engine reads PROFILING_MOD; PROFILING_MODE is like it"
    ]
    for name in ("PROFILING_MODE", "AICPU_PROFILING_MODE", "GE_PROFILING_TO_STD_OUT", "MODE"):
        assert warned(name) == []


def test_g4_a_text_ends_with_its_first_nul_and_has_2047_bytes() -> None:
    """``MsprofGeOptions`` has ``char options[2048]``, copied as a text of C (ge-profiling 1.1)."""
    assert GE_OPTIONS.sizeof() == 4096
    text = '{"output":"a"}'
    assert settings_of(decide(Given("1", f"{text}\0,")), "A2").problems == ()
    full = '{"output":"' + "x" * (2047 - 13) + '"}'
    assert settings_of(decide(Given("1", full)), "A2").problems == ()
    (problem,) = settings_of(decide(Given("1", f"{full} ")), "A2").problems or (None,)
    assert problem is None  # the blank alone is cut off
    longer = full.replace("x", "xx", 1)
    (problem,) = settings_of(decide(Given("1", longer)), "A2").problems
    assert problem is not None
    assert "of its 2,048 bytes" in problem.message
    damaged = "[" * 2047
    (problem,) = settings_of(decide(Given("1", damaged)), "A2").problems
    assert problem is not None
    assert "bytes" not in problem.message


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("ge_api", "l0, l1, off or an empty text"),
        ("llc_profiling", "read or write"),
        ("sys_hardware_mem_freq", "a whole number from 1 to 100, on chips 15 and 16 to 10000"),
        ("sys_interconnection_freq", "a whole number from 1 to 50"),
        ("task_block", "all, on or off; on only on chip 15 or 16"),
        (
            "task_time",
            "on, off, l0, l1, l2, l3 or an empty text; l3 only on chip 5 or 15",
        ),
    ],
)
def test_g28_what_a_value_may_be_in_words(option: str, words: str) -> None:
    assert ge_catalog().options[option].expects == words


@pytest.mark.parametrize(
    ("options", "product", "code"),
    [
        ({"aic_metrics": "Custom:0X1a,2"}, "A2", None),
        ({"aic_metrics": "Custom:" + ",".join("12345678")}, "A2", None),
        ({"aic_metrics": "Custom:" + ",".join("123456789")}, "A2", "EK0001"),
        ({"aic_metrics": "Custom:" + ",".join(["1"] * 10)}, "950", None),
        ({"aic_metrics": "Custom:" + ",".join(["1"] * 11)}, "950", "EK0001"),
        ({"aic_metrics": "Custom:" + "0" * 63}, "A2", None),
        ({"aic_metrics": "Custom:" + "0" * 64}, "A2", "EK0001"),
        ({"optype": "A" * 256}, "950", None),
        ({"optype": "é" * 128}, "950", None),
        ({"optype": "é" * 129}, "950", "EK0001"),
        ({"optype": "A,,B"}, "950", "EK0001"),
        ({"optype": ""}, "A2", None),
        ({"optype": 1}, "950", "EK0001"),
        ({"l2": ""}, "310", "EK0005"),
        ({"l2": "maybe"}, "310", "EK0005"),
        ({"instr_profiling": "on", "instr_profiling_freq": 30_001}, "A2", "EK0003"),
        ({"instr_profiling": "on", "instr_profiling_freq": "300"}, "A2", "EK0001"),
        ({"instr_profiling": "on", "instr_profiling_freq": 30_000}, "A2", None),
        ({"instr_profiling": "", "instr_profiling_freq": 1}, "A2", None),
        ({"instr_profiling_freq": 1}, "310P", "EK0005"),
        ({"output": 5}, "A2", "EK0001"),
        ({"storage_limit": 5}, "A2", "EK0001"),
        ({"fp_point": 5}, "A2", None),
        ({"training_trace": "", "fp_point": 5}, "A2", None),
        ({"training_trace": None}, "A2", "E10001"),
        ({"sys_hardware_mem_freq": 101}, "950", None),
        ({"sys_hardware_mem_freq": False}, "950", "EK0001"),
    ],
)
def test_g17_g24_g28_limits_of_values(
    options: dict[str, Any], product: str, code: str | None
) -> None:
    found = settings_of(decide(Given("1", json.dumps({"output": "a", **options}))), product)
    assert [one.code for one in found.problems] == ([] if code is None else [code])


def test_g28_the_value_in_effect_is_what_the_collector_makes_of_it() -> None:
    text = json.dumps({"output": "a", "l2": "", "task_time": "", "optype": "Add,Mul,Add"})
    held = settings_of(decide(Given("1", text)), "950").options
    assert held["l2"].value == "off"
    assert held["task_time"].value == ""
    assert (held["optype"].value, held["optype"].given) == ("Add,Mul", "Add,Mul,Add")


def test_g16_three_problems_are_stated_and_the_others_counted() -> None:
    def stated(count: int) -> str:
        names = "aicpu", "hccl", "l2", "msproftx", "ge_api"
        text = json.dumps(dict.fromkeys(names[:count], "maybe"))
        return refusal(settings_of(decide(Given("1", text)), "A2").problems)

    assert "more" not in stated(3)
    assert stated(4).endswith("; and 1 more")
    assert stated(5).endswith("; and 2 more")


# --- what is said ---------------------------------------------------------------------------------


def test_g29_lines_have_the_options_that_record_something_and_columns() -> None:
    explanation = explain(Given("1", '{"output":"a","aic_metrics":"","l2":"off"}'), "A2")
    lines = list(as_lines(explanation))
    assert "  task_time: on (default; cost low)" in lines
    assert not [one for one in lines if one.startswith(("  l2", "  runtime_api", "  sys_lp_freq"))]
    assert "  table/TASK: task_time; 11 columns" in lines
    (pmu,) = [one for one in lines if one.startswith("  table/TASK_PMU_INFO")]
    assert "aic_metrics with task_time, where a program runs kernels on cores; 3 columns" in pmu
    settings = explanation.settings
    assert settings is not None
    by = {one.address: one for one in explanation.things}
    assert options_along(by["table/TASK_PMU_INFO"], settings) == ("task_time",)
    assert options_along(by["table/TASK"], settings) == ()
    assert options_of(by["table/COMMUNICATION_OP"], settings) == ("task_time",)
    assert options_along(by["table/COMMUNICATION_OP"], settings) == ()
    assert options_of(by["table/META_DATA"], settings) == ()


def test_g18_g19_g20_g29_backwards_lines_have_what_adds_and_what_is_there_by_default() -> None:
    lines = list(ways_as_lines(ways_of("csv/step_trace", "Iterations.", ["A2"]), "A2"))
    assert lines == [
        "csv/step_trace: Iterations.",
        "  task_time: on, l0, l1, l2, l3 or an empty text",
        "  training_trace has more recorded in it",
        "  fp_point has more recorded in it",
        "  bp_point has more recorded in it",
        "  there by default, without any option",
    ]
    always = list(ways_as_lines(ways_of("table/META_DATA", "Facts.", ["A2", "950"]), None))
    assert always == ["table/META_DATA: Facts.", "  there whatever the options say; on A2, 950"]
    never = list(ways_as_lines(ways_of("table/HBM", "Rates.", ["310P"]), "310P"))
    assert never == ["table/HBM: Rates.", "  no option records it on 310P"]
    assert ways_of("csv/step_trace", "", []).ways == ()


def test_g29_backwards_values_and_chips_of_task_time() -> None:
    """``l3 only on A2/A3/950-class platforms`` (ge-profiling 1.3)."""
    ways = ways_of("table/TASK", "", ["A2", "A3", "950", "910A", "310P"])
    by = {way.values: way.products for way in ways.ways if way.option == "task_time"}
    assert {one for values, one in by.items() if values and "l3" in values} == {("A2", "A3", "950")}
    assert all(way.task_time is None for way in ways.ways)
    assert (ways.always, ways.by_default) == ((), ("A2", "A3", "950", "910A", "310P"))
    l2 = ways_of("csv/l2_cache", "", ["A2", "310"])
    assert [(way.option, way.products) for way in l2.ways] == [("l2", ("A2",))]


@pytest.mark.parametrize(
    ("column", "values"),
    [  # columns of groups of ge-profiling 1.6
        ("mac_fp16_ratio", ("ArithmeticUtilization",)),
        ("vec_exe_ratio", ("PipelineExecuteUtilization",)),
        ("vec_bank_cflt_ratio", ("ResourceConflictRatio",)),
        ("l0a_read_bw(GB/s)", ("MemoryL0",)),
        ("aicore_time(us)", None),
    ],
)
def test_g24_g37_backwards_a_column_of_counters_needs_its_group(
    column: str, values: tuple[str, ...] | None
) -> None:
    product = "200I-500-A2"
    ways = ways_of("csv/op_summary", "", [product], column)
    assert [(way.option, way.values) for way in ways.ways] == [("aic_metrics", values)]
    assert ways.ways[0].task_time == ("on", "l1", "l2")
    assert ways.by_default == ()
    for group in values or ("Memory",):
        text = json.dumps({"output": "a", "aic_metrics": group})
        (file,) = [
            one
            for one in explain(Given("1", text), product).things
            if one.address == "csv/op_summary"
        ]
        assert column in file.columns


def test_g29_backwards_other_columns_are_there_with_their_file() -> None:
    (way,) = ways_of("csv/op_summary", "", ["A2"], "Task ID").ways
    assert way.option == "task_time"
    assert ways_of("csv/op_summary", "", ["A2"], "no such column").ways == ()
