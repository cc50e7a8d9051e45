"""Whether the profiling is on, what is in effect, and what is refused, as ge-profiling 1 says."""

from __future__ import annotations

import json
from itertools import product as every
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascend_ref.ge.options.given import Given, decide
from ascend_ref.ge.options.settings import Settings, settings_of
from ascend_spec import ge_catalog

DEFAULT = (
    '{"output":"./","training_trace":"on","task_trace":"on","hccl":"on","aicpu":"on",'
    '"aic_metrics":"PipeUtilization","msproftx":"off"}'
)
"""ge-profiling 1.2."""


def oracle(mode: str | None, options: str | None, env: dict[str, str]) -> tuple[bool, bytes]:
    """The decision procedure of ge-profiling 1.1, written from its text."""
    mode, options = mode or "", options or ""
    if mode == "1" and options != "":
        return True, options.encode()[:2047]
    if env.get("PROFILING_MODE") != "true":
        return False, b""
    text = env.get("PROFILING_OPTIONS", "").encode()[:2047]
    return True, text or DEFAULT.encode()


MODES = (None, "", "0", "1", "2", "true", "1 ")
OPTIONS = (None, "", '{"output":"a"}', "x" * 5000)
VARIABLES = (None, "", "true", "True", "1", "dynamic")


@pytest.mark.parametrize("mode", MODES)
def test_g4_g5_g6_g7_g9_g12_g13_g14_the_pair_of_options_comes_before_the_environment(
    mode: str | None,
) -> None:
    for options, variable, env_options in every(OPTIONS, VARIABLES, (None, "", '{"l2":"on"}')):
        env = {"PROFILING_MODE": variable, "PROFILING_OPTIONS": env_options}
        given_env = {name: value for name, value in env.items() if value is not None}
        found = decide(Given(mode, options, given_env))
        on, text = oracle(mode, options, given_env)
        assert found.on == on
        if found.source == "built-in":
            assert json.loads(found.text) == json.loads(text)
        else:
            assert found.text == text


def effective(options: object, product: str = "A2", **environment: str) -> Settings:
    text = options if isinstance(options, str) else json.dumps(options)
    return settings_of(decide(Given("1", text, environment or None)), product)


def problems(options: object, product: str = "A2") -> list[tuple[str, str]]:
    return [(one.code, one.option) for one in effective(options, product).problems]


@pytest.mark.parametrize(
    ("options", "code", "option"),
    [
        ("", "E10001", ""),
        (" ", "E10001", ""),
        ("{", "E10001", ""),
        ("[]", "E10001", ""),
        ('"training_trace"', "E10001", ""),
        ('{"output": NaN}', "E10001", ""),
        ('{"training_trace": "off"}', "E10001", "training_trace"),
        ('{"training_trace": 1}', "E10001", "training_trace"),
        ('{"training_trace": "on", "fp_point": 1}', "E10001", "fp_point"),
        ('{"nosuch": "on"}', "EK0001", "nosuch"),
        ('{"aicpu": true}', "EK0001", "aicpu"),
        ('{"aicpu": "ON"}', "EK0001", "aicpu"),
        ('{"task_time": "l4"}', "EK0001", "task_time"),
        ('{"ge_api": "on"}', "EK0001", "ge_api"),
        ('{"dvpp_freq": "50"}', "EK0001", "dvpp_freq"),
        ('{"dvpp_freq": 50.0}', "EK0001", "dvpp_freq"),
        ('{"dvpp_freq": true}', "EK0001", "dvpp_freq"),
        ('{"dvpp_freq": 0}', "EK0001", "dvpp_freq"),
        ('{"dvpp_freq": 9223372036854775808}', "EK0001", "dvpp_freq"),
        ('{"sys_hardware_mem_freq": 101}', "EK0001", "sys_hardware_mem_freq"),
        ('{"sys_interconnection_freq": 51}', "EK0001", "sys_interconnection_freq"),
        (
            '{"instr_profiling": "on", "instr_profiling_freq": 299}',
            "EK0003",
            "instr_profiling_freq",
        ),
        ('{"aic_metrics": "Pipe"}', "EK0001", "aic_metrics"),
        ('{"aic_metrics": "PipelineExecuteUtilization"}', "EK0001", "aic_metrics"),
        ('{"aic_metrics": "Custom:"}', "EK0001", "aic_metrics"),
        ('{"aic_metrics": "Custom:1,2,3,4,5,6,7,8,9"}', "EK0001", "aic_metrics"),
        ('{"llc_profiling": ""}', "EK0001", "llc_profiling"),
        ('{"host_sys": "cpu,"}', "EK0001", "host_sys"),
        ('{"host_sys": ""}', "EK0001", "host_sys"),
        ('{"host_sys_usage": "disk"}', "EK0001", "host_sys_usage"),
        ('{"output": "a;b"}', "EK0003", "output"),
        ('{"output": "a\\nb"}', "EK0003", "output"),
        ('{"sys_cpu_freq": 1}', "EK0005", "sys_cpu_freq"),
        ('{"optype": "Add"}', "EK0005", "optype"),
        ('{"output": "a", "output": "b"}', "EK0001", "output"),
        ('{"output": ' + "[" * 300 + "]" * 300 + "}", "E10001", ""),
    ],
)
def test_g16_g17_g18_g21_g24_g28_what_is_refused_has_its_code(
    options: str, code: str, option: str
) -> None:
    found = settings_of(decide(Given("1", options or "\x01", None)), "A2").problems
    assert [(one.code, one.option) for one in found] == [(code, option)]
    assert len(str(found[0])) <= 600
    assert "\n" not in str(found[0])


def test_g18_off_is_refused_where_it_is_read_and_nowhere_else() -> None:
    assert problems({"training_trace": "off"}) == [("E10001", "training_trace")]
    assert problems({"training_trace": "", "fp_point": 1}) == []
    assert problems({"output": "training_trace", "bp_point": 7}) == []


def test_g28_values_and_chips_of_the_evidence() -> None:
    assert problems({"sys_hardware_mem_freq": 10_000}, "950") == []
    assert problems({"sys_hardware_mem_freq": 10_001}, "950") != []
    assert problems({"task_time": "l3"}, "910A") == [("EK0001", "task_time")]
    assert problems({"task_time": "l3"}, "A3") == []
    assert problems({"task_block": "on"}) == [("EK0001", "task_block")]
    assert problems({"task_block": "on"}, "950") == []
    assert problems({"aic_metrics": "PipelineExecuteUtilization"}, "200I-500-A2") == []
    assert problems({"aic_metrics": "Custom:" + ",".join("123456789a"[:9])}, "950") == []
    assert problems({"instr_profiling_freq": 5}) == []
    assert problems({"l2": "on"}, "310") == [("EK0005", "l2")]


def test_g21_task_trace_has_no_effect() -> None:
    found = effective({"task_trace": "off"})
    assert found.level == 1
    assert any("task_trace is ignored" in one for one in found.warnings)
    assert effective({"task_trace": "on", "task_time": "off"}).level is None


@pytest.mark.parametrize(
    ("given_", "held"),
    [("100MB", "200MB"), ("200MB", "200MB"), ("4294967295MB", "4294967295MB")]
    + [(one, None) for one in ("4294967296MB", "1GB", "MB", "12345678901MB", "-1MB")],
)
def test_g28_storage_limit_is_raised_or_has_no_effect(given_: str, held: str | None) -> None:
    found = effective({"storage_limit": given_})
    assert found.problems == ()
    assert found.options["storage_limit"].value == held
    assert any("storage_limit" in one for one in found.warnings) == (given_ != held)


@pytest.mark.parametrize(
    ("options", "mask"),
    [
        # 1.8: ACL_API, OP_DETAIL, MODEL_LOAD always; with task_time 0x800, levels, 1 << 26
        ({"task_time": "off"}, 0x1),
        ({}, 0x803 | 1 << 26),
        ({"task_time": "l0"}, 0x801 | 1 << 26),
        ({"task_time": ""}, 0x801 | 1 << 26),
        ({"task_time": "l2"}, 0x2803 | 1 << 26),
        ({"task_time": "l3"}, 0xA803 | 1 << 26),
        ({"training_trace": "on"}, 0x843 | 1 << 26),
        ({"task_time": "off", "ge_api": "l0"}, 0x201),
        ({"task_time": "off", "ge_api": "l1"}, 0x1000201),
        ({"task_time": "off", "task_memory": "on"}, 0x1001),
    ],
)
def test_g151_g156_g157_g159_g160_g161_g162_options_set_the_bits_of_the_table(
    options: dict[str, Any], mask: int
) -> None:
    assert effective(options).mask == mask | 1 << 31 | 1 << 63


def test_g10_g17_sources_and_defaults() -> None:
    built = settings_of(decide(Given(None, None, {"PROFILING_MODE": "true"})), "A2")
    assert built.problems == ()
    assert built.options["aicpu"].source == "built-in"
    assert built.options["l2"].source == "default"
    env = {"PROFILING_MODE": "true", "PROFILING_OPTIONS": '{"l2":"on"}', "ASCEND_WORK_PATH": "/w"}
    found = settings_of(decide(Given("1", None, env)), "A2")
    assert found.options["l2"].source == "environment"
    assert found.options["output"].value == "/w/profiling_data"
    del env["ASCEND_WORK_PATH"]
    refused = settings_of(decide(Given("1", None, env)), "A2")
    assert [one.option for one in refused.problems] == ["output"]


def test_g24_an_empty_group_is_the_usual_one_and_none_is_none() -> None:
    assert effective({"aic_metrics": ""}).options["aic_metrics"].value == "PipeUtilization"
    assert effective({}).options["aic_metrics"].value is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*ge_catalog().options]) | st.text(max_size=8), JSON, max_size=6
    ).map(json.dumps)
    | st.text()
    | st.binary(max_size=50).map(lambda one: one.decode("utf-8", "surrogateescape"))
)
def test_g28_whatever_stands_there_has_an_answer(text: str) -> None:
    for product in ("A2", "310", "950"):
        found = settings_of(decide(Given("1", text or "{}", None)), product)
        assert set(found.options) == set(ge_catalog().options)
        for problem in found.problems:
            assert problem.code in {one.code for one in ge_catalog().entry.errors}
