"""Arguments of the calls of ge/ge_prof.h, and the bits that modules are given (ge-profiling 2)."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from ge_evidence import section

from ascend_ref.cli import main
from ascend_simulator.ge.life_cycle import (
    Call,
    Configuration,
    CreateConfig,
    DestroyConfig,
    Environment,
    Finalize,
    Init,
    LifeCycle,
    Profiling,
    Returned,
    Rules,
    Start,
    Stop,
    UndefinedCall,
)
from ascend_simulator.ge.life_cycle.wire import LONGEST, WrongLine, message_of, read_message
from ascend_spec import ge_catalog
from ascend_spec.exchange import exchange_schema
from ascend_spec.ge import FirstMode, Reading

FAILED = 405091711
AI_CPU_MODEL = 1 << 62
INIT = Init("data", 4)


def last(
    *calls: Call, environment: Environment | None = None, rules: Rules | None = None
) -> tuple[Profiling, Returned]:
    machine = LifeCycle(environment, rules)
    profiling = machine.begin()
    for call in calls:
        profiling, returned = machine.respond(profiling, call)
    return profiling, returned


@pytest.mark.parametrize(
    ("devices", "count", "machine", "made"),
    [
        (None, 1, 2, False),
        ((), 0, 2, False),
        ((0,), 1, 1, True),
        ((1,), 1, 1, False),
        ((0, 0), 2, 2, False),
        ((0, 1, 2), 3, 2, False),
        ((0,), 3, 2, False),
        (tuple(range(64)), 64, 64, True),
        (tuple(range(65)), 65, 64, False),
        ((0, 5), 1, 2, True),  # what stands behind device_nums is not looked at
    ],
)
def test_g39_g40_which_lists_of_devices_make_a_configuration(
    devices: tuple[int, ...] | None, count: int, machine: int, made: bool
) -> None:
    profiling, returned = last(
        CreateConfig(1, devices, count, 0, 0x800), environment=Environment(devices=machine)
    )
    assert returned.returns == ("config" if made else None)
    assert set(profiling.configurations) == ({1} if made else set())
    if made:
        assert profiling.configurations[1].devices == (devices or ())[:count]


@pytest.mark.parametrize(
    ("path", "length", "code"),
    [
        (None, 4, 100000),
        ("", 0, 100000),
        ("a" * 4095, 4095, 0),
        ("a" * 4096, 4096, 100000),
        ("data", 3, 100000),
        ("data", 5, 100000),
        ("data\0more", 4, 0),
        ("data\0more", 9, 100000),
        ("é", 2, 0),
        ("a b", 3, 0),
        *((f"a{one}b", 3, 100003) for one in "\n\f\r\b\t\v\x7f\"'\\%><|&$;`"),
    ],
)
def test_g41_which_paths_begin_the_profiling(path: str | None, length: int, code: int) -> None:
    profiling, returned = last(Init(path, length))
    assert (returned.code, returned.returns) == (code, FAILED if code else 0)
    assert (profiling.state, profiling.path) == (("OFF", None) if code else ("IDLE", path))


def test_g41_a_path_that_is_refused_leaves_the_one_written_down_before() -> None:
    profiling, _ = last(INIT, Finalize(), Init("a;b", 3))
    assert (profiling.state, profiling.path) == ("OFF", "data")


@pytest.mark.parametrize(
    ("given", "effective", "commanded"),
    [  # implied bits; then MODEL_LOAD, OP_DETAIL and, with TASK_TIME, RUNTIME_TRACE
        (0x1, 0x1, 0x1),
        (0x2, 0x802, 0x802 | 1 << 26),
        (0x800, 0x800, 0x800 | 1 << 26),
        (0x2000, 0x2802, 0x2802 | 1 << 26),
        (0x4000, 0x4802, 0x4802 | 1 << 26),
        (0x8000, 0xA802, 0xA802 | 1 << 26),
        (0x10, 0x10, 0x10),
        (0x800000001, 0x800000001, 0x1),  # AICORE_SHAPE is hidden
    ],
)
def test_g40_g50_bits_that_are_implied_and_commanded(
    given: int, effective: int, commanded: int
) -> None:
    profiling, returned = last(CreateConfig(1, (0,), 1, 0, given), INIT, Start(1))
    assert profiling.collecting == {0: effective | AI_CPU_MODEL}
    assert returned.commands[-1].bits == commanded | AI_CPU_MODEL | 1 << 31 | 1 << 63


@pytest.mark.parametrize(
    ("bits", "code"),
    [(0x800, 0), (0x400, 200007), (0x2000000, 200007), (1 << 63, 200007), (0x400000000, 0)],
)
def test_g43_g44_bits_outside_the_mask_are_refused_by_start_and_stop(bits: int, code: int) -> None:
    made = CreateConfig(2, (0,), 1, 0, bits)
    assert last(made, INIT, Start(2))[1].code == code
    assert last(made, INIT, Stop(2))[1].code == code
    assert last(made, Stop(2), rules=Rules("lenient"))[1].code == 0  # it is not looked at


def test_g43_g44_no_bits_are_refused_though_no_configuration_is_without() -> None:
    made = Profiling("STARTED", {1: Configuration((0,), 0, 0)}, {0: 0x800})
    for call in (Start(1), Stop(1)):
        after, returned = LifeCycle().respond(made, call)
        assert (after, returned.code, returned.returns) == (made, 100000, FAILED)


def test_long_paths_and_lists_are_cut_in_words() -> None:
    assert Init("data", 4).words == 'aclgrphProfInit("data", 4)'
    assert Init(None, 0).words == "aclgrphProfInit(null, 0)"
    assert Init("a\nb", 3).words == 'aclgrphProfInit("a\\nb", 3)'
    assert len(Init("a" * 5000, 5000).words) < 80
    assert len(CreateConfig(1, tuple(range(65)), 65, 0, 1).words) < 250


@pytest.mark.parametrize(("metrics", "code"), [(0, 0), (6, 0), (7, 100000), (255, 100000)])
def test_g43_metrics_count_where_their_bit_is_set_and_a_device_is_new(
    metrics: int, code: int
) -> None:
    counted = CreateConfig(1, (0,), 1, metrics, 0x804)
    assert last(counted, INIT, Start(1))[1].code == code
    assert last(CreateConfig(1, (0,), 1, metrics, 0x800), INIT, Start(1))[1].code == 0
    known = CreateConfig(2, (0,), 1, 0, 0x804)
    assert last(known, counted, INIT, Start(2), Start(1))[1].code == 0


def test_g43_g44_a_second_device_joins_and_a_stop_ends_all() -> None:
    one, both = CreateConfig(1, (0,), 1, 0, 0x800), CreateConfig(2, (1, 0), 2, 0, 0x800)
    other = CreateConfig(3, (0,), 1, 0, 0x2)
    profiling, returned = last(one, both, INIT, Start(1), Start(2))
    assert sorted(profiling.collecting) == [0, 1]
    assert [one.devices for one in returned.commands] == [(), (1,)]
    assert last(one, other, INIT, Start(1), Start(3))[1].code == 100010
    assert last(one, other, INIT, Start(1), Stop(3))[1].code == 100010
    profiling, returned = last(one, both, INIT, Start(2), Stop(1))
    assert (profiling.collecting, profiling.state) == ({}, "IDLE")
    assert [one.devices for one in returned.commands] == [(0, 1)]
    assert last(one, INIT, Stop(1))[1].commands == ()


def test_g46_g48_a_flag_that_is_kept_compares_bits_as_a_running_start_does() -> None:
    rules = Rules("strict", start_flag=True)
    one, other = CreateConfig(1, (0,), 1, 0, 0x800), CreateConfig(2, (0,), 1, 0, 0x2)
    assert last(one, other, INIT, Start(1), Start(2), rules=rules)[1].code == 100010
    assert last(one, other, INIT, Start(1), Start(1), rules=rules)[1].code == 0
    assert last(one, other, INIT, Start(1), Finalize(), INIT, Start(2), rules=rules)[1].code == 0


def test_g45_finalize_ends_what_is_collected() -> None:
    profiling, returned = last(CreateConfig(1, (0,), 1, 0, 0x800), INIT, Start(1), Finalize())
    assert (profiling.state, profiling.collecting, returned.returns) == ("OFF", {}, 0)


def test_g42_a_number_that_was_destroyed_can_be_made_again_and_not_twice() -> None:
    made = CreateConfig(1, (0,), 1, 0, 0x800)
    assert last(made, DestroyConfig(1), made)[1].returns == "config"
    with pytest.raises(UndefinedCall, match="there already"):
        last(made, made)
    with pytest.raises(UndefinedCall, match="at most the 1 listed"):
        last(CreateConfig(1, (0,), 2, 0, 0x800))
    for wrong in (Start(1), Stop(1), DestroyConfig(1)):
        with pytest.raises(UndefinedCall, match="not there; known: 2"):
            last(CreateConfig(2, (0,), 1, 0, 0x800), wrong)
    assert last(DestroyConfig(None))[1].returns == FAILED


@pytest.mark.parametrize(
    ("mode", "code"), [("CMD", 100042), ("SUBSCRIBE", 148047)], ids=["CMD", "SUBSCRIBE"]
)
@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("reading", ["strict", "lenient"])
def test_g47_where_something_else_has_the_profiling(
    mode: Any, code: int, flag: bool, reading: Any
) -> None:
    made = CreateConfig(1, (0,), 1, 0, 0x800)
    for call in (INIT, Start(1), Stop(1), Finalize()):
        profiling, returned = last(
            made, call, environment=Environment(mode), rules=Rules(reading, flag)
        )
        assert (returned.code, profiling.state, profiling.collecting) == (code, mode, {})
        assert returned.returns == (code if call == Finalize() else FAILED)


# --- messages -------------------------------------------------------------------------------------

IN_C = {
    "const char *": {"type": ["string", "null"]},
    "uint32_t": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    "uint32_t *": {"type": ["array", "null"]},
    "ProfilingAicoreMetrics": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    "ProfAicoreEvents *": {"type": "null"},
    "uint64_t": {"$ref": "#/$defs/bits"},
    "aclgrphProfConfig *": {"$ref": "#/$defs/config"},
}
"""What stands for a type of C in a message."""


def test_g39_messages_have_the_functions_of_the_header_and_their_arguments() -> None:
    parts = exchange_schema("life-cycle-protocol")["$defs"]
    functions = [one for one in ge_catalog().functions.values() if one.of == "control"]
    assert [one for one in parts if one.startswith("aclgrph")] == [
        one.function for one in functions
    ]
    for one in functions:
        body = parts[one.function]["properties"]
        assert body["call"]["const"] == one.function
        given = dict(body["arguments"].get("properties", {}))
        assert list(given) == list(body["arguments"].get("required", ()))
        if one.returns == "aclgrphProfConfig *":
            assert given.pop("config") == {"$ref": "#/$defs/config"}
        assert list(given) == [argument.name for argument in one.arguments]
        for argument in one.arguments:
            node = given[argument.name]
            if one.function == "aclgrphProfDestroyConfig":
                node = node["anyOf"][0]
            stated = {key: node[key] for key in IN_C[argument.type]}
            assert stated == IN_C[argument.type]
    most = ge_catalog().functions["aclgrphProfCreateConfig"].check("device-count").most
    start = parts["start"]["properties"]["arguments"]["properties"]
    assert start["devices"]["maximum"] == most == 64
    assert tuple(start["reading"]["enum"]) == get_args(Reading)
    assert tuple(start["mode"]["enum"]) == get_args(FirstMode)
    assert "n == 0 or > 64" in section("2")


@pytest.mark.parametrize(
    ("line", "forms", "words"),
    [
        (b'{"returns": 0, "collecting": {"00": "0x1"}}', ("returned",), "no message"),
        (b'{"returns": 0, "collecting": {"0": "0x1", "0": "0x2"}}', ("returned",), "twice"),
        (b'{"returns": "config"}', ("returned",), "no message"),
        (b'{"returns": 0}', ("pointer",), "no message"),
        (b'{"skipped": "x"}', ("returned",), "no message"),
        (b'{"returns": 4294967296}', ("returned",), "no message"),
        (b'{"returns": 0, "more": 1}', ("returned",), "no message"),
        (b'{"returns": ' + b"9" * 5000 + b"}", ("returned",), "no JSON"),
        (b'"' + b"x" * LONGEST + b'"', ("returned",), "more than 1048576 bytes"),
        (b"[" * 500_000, ("returned",), "no JSON"),
        (b"", ("returned",), "no JSON"),
    ],
    ids=range(11),
)
def test_g46_a_line_that_is_no_answer_is_refused(
    line: bytes, forms: tuple[str, ...], words: str
) -> None:
    with pytest.raises(WrongLine, match=words) as problem:
        read_message(line, forms)
    assert len(str(problem.value)) < 300


def answered(
    lines: list[Mapping[str, Any] | str],
    options: list[str],
    patch: pytest.MonkeyPatch,
    shown: pytest.CaptureFixture[str],
) -> list[Any]:
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
    patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    assert main(["ge", "life-cycle", *options]) == 0
    return [json.loads(one)["returns"] for one in shown.readouterr().out.splitlines()]


def test_g46_start_has_the_machine_and_the_reading_unless_an_option_has_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"protocol": "ascend-ref-life-cycle/1", "reading": "lenient", "mode": "OFF"}
    start = {"call": "start", "arguments": {**given, "devices": 1, "metrics": [3]}}
    calls = [
        CreateConfig(1, (1,), 1, 0, 0x800),
        CreateConfig(1, (0,), 1, 0, 0x804),
        CreateConfig(2, (0,), 1, 3, 0x804),
        Start(1),
        Start(2),
        Finalize(),
        Finalize(),
    ]
    lines = [start, "", *map(message_of, calls)]
    found = answered(lines, [], monkeypatch, capsys)
    assert found == [0, None, "config", "config", FAILED, 0, 0, 0]
    found = answered(lines, ["--reading", "strict"], monkeypatch, capsys)
    assert found == [0, None, "config", "config", FAILED, FAILED, 100043, 100043]
