"""The calls of ge/ge_prof.h: spec and model against documents and a plain implementation."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from life_cycle_plain import ALPHABET, Plain

from ascend_ref.cli import main
from ascend_simulator.ge.life_cycle import (
    Call,
    CreateConfig,
    DestroyConfig,
    Environment,
    Finalize,
    Init,
    LifeCycle,
    Rules,
    Start,
    Stop,
    UndefinedCall,
)
from ascend_simulator.ge.life_cycle.wire import answer_of, call_of
from ascend_spec import ge_catalog
from ascend_spec.core.packed import dtype_of
from ascend_spec.ge import supported_mask
from ascend_spec.ge.commands import COMMAND, STEP_INFO

ROOT = Path(__file__).parents[2]
SEED = ROOT.parent / "shared" / "seeds" / "003_e31998ad8281c695.txt"
EVIDENCE = (ROOT / "docs" / "evidence" / "ge-profiling.md").read_text(encoding="utf-8")
SECTION = EVIDENCE.partition("\n## 2. ")[2].partition("\n## 3. ")[0]
STATES = ("OFF", "IDLE", "STARTED", "CMD", "SUBSCRIBE")
FAILED = 405091711
FLAGGED = Rules("strict", start_flag=True), Rules("lenient", start_flag=True)


def returned(machine: LifeCycle, *calls: Call) -> list[object]:
    profiling, found = machine.begin(), []
    for call in calls:
        profiling, answer = machine.respond(profiling, call)
        found.append(answer.returns)
    return found


# --- against documents ----------------------------------------------------------------------------


@pytest.mark.skipif(not SEED.exists(), reason="the documents are not next to this checkout")
@pytest.mark.parametrize("rules", [Rules(), Rules("lenient"), *FLAGGED])
def test_g15_g39_to_g46_the_order_of_the_document_succeeds_in_every_reading(rules: Rules) -> None:
    text = SEED.read_text(encoding="utf-8").partition("2.3 Dynamic Control")[2]
    names = re.findall(r"aclgrphProf\w+", text.partition("2.4 ")[0])
    made: dict[str, Call] = {
        one.function: one
        for one in (
            Init("profile", 7),
            CreateConfig(1, (0,), 1, 1, 0x2),
            Start(1),
            Stop(1),
            Finalize(),
            DestroyConfig(1),
        )
    }
    assert len(names) == 6
    assert returned(LifeCycle(rules=rules), *(made[one] for one in names)) == [
        *(0, "config", 0, 0, 0, 0)
    ]


def test_g46_g47_codes_by_call_and_state_are_those_of_the_evidence() -> None:
    rows = re.findall(r"^\| (Init|Start|Stop|Finalize) \|(.+)\|$", SECTION, re.MULTILINE)
    assert len(rows) == 4
    for call, cells in rows:
        for state, cell in zip(STATES, cells.split("|"), strict=True):
            held = {
                one.code
                for one in ge_catalog().life_cycle
                if (one.call, one.state) == (f"aclgrphProf{call}", state) and one.code
            }
            assert held == {int(one) for one in re.findall(r"\b\d{6}\b", cell)}, (call, state)


def test_g47_codes_are_those_of_the_evidence() -> None:
    text = SECTION.partition("\nCodes: ")[2].partition(" fold these")[0]
    listed = {int(one) for one in re.findall(r"\b\d{6}\b", text)}
    assert ge_catalog().codes.keys() == {0, FAILED, *listed}


def test_g40_bits_are_those_of_the_evidence() -> None:
    public = dict(re.findall(r"(kProf\w+) (0x[0-9a-f]+)", SECTION))
    types = ge_catalog().data_types.values()
    held = {one.public_name: one.mask for one in types if one.public_name}
    assert held == {name: int(mask, 16) for name, mask in public.items()}
    assert supported_mask(types) == 0x4000_000C_0100_FBFF
    assert {one.mask & (one.mask - 1) for one in types} == {0}
    assert all((one.standing == "public") == bool(one.public_name) for one in types)


def test_g50_offsets_of_commands_are_those_of_the_evidence() -> None:
    fields = dtype_of(COMMAND).fields or {}
    text = SECTION.partition("5424 bytes; offsets: ")[2].partition(")")[0]
    listed = dict(re.findall(r"(\w+) (\d+)", text.partition("params")[0]))
    assert listed
    assert {name: fields[name][1] for name in listed} == {n: int(at) for n, at in listed.items()}
    assert (COMMAND.sizeof(), fields["pathLen"][1]) == (5424, 288)
    steps = dtype_of(STEP_INFO).fields or {}
    assert [steps[name][1] for name in ("index_id", "tag_id", "stream")] == [0, 8, 16]
    assert STEP_INFO.sizeof() == 24


# --- against the plain one ------------------------------------------------------------------------

WRONG = [
    {"call": "aclgrphProfInit", "arguments": {"profiler_path": path, "length": length}}
    for path, length in ((None, 0), ("", 0), ("data", 3), ("é", 2), ("é", 1), ("a\nb", 3))
]


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(
    calls=st.lists(st.sampled_from([*ALPHABET, *WRONG]), max_size=25),
    reading=st.sampled_from(["strict", "lenient"]),
    mode=st.sampled_from(["OFF", "OFF", "CMD", "SUBSCRIBE"]),
)
def test_g46_any_calls_are_answered_as_by_the_plain_one(
    calls: list[dict[str, Any]], reading: Any, mode: Any
) -> None:
    machine = LifeCycle(Environment(mode), Rules(reading))
    profiling = machine.begin()
    plain = Plain(reading=reading)
    plain.mode = mode
    for message in calls:
        try:
            profiling, answer = machine.respond(profiling, call_of(message))
        except UndefinedCall:
            continue
        assert answer_of(answer, profiling) == plain(message)


# --- the flag of upstream -------------------------------------------------------------------------

MADE = CreateConfig(1, (0,), 1, 0, 0x800)
INIT = Init("data", 4)


def collected(rules: Rules, *calls: Call) -> list[tuple[object, list[int]]]:
    machine = LifeCycle(rules=rules)
    profiling, found = machine.begin(), []
    for call in calls:
        profiling, answer = machine.respond(profiling, call)
        found.append((answer.returns, sorted(profiling.collecting)))
    return found


@pytest.mark.parametrize("rules", FLAGGED, ids=["strict", "lenient"])
def test_g48_start_finalize_init_start_is_a_success_without_data(rules: Rules) -> None:
    calls = (MADE, INIT, Start(1), Finalize(), INIT, Start(1))
    assert collected(rules, *calls)[-1] == (0, [])
    assert collected(Rules(rules.reading), *calls)[-1] == (0, [0])
    assert collected(rules, *calls, Stop(1), Start(1))[-1] == (0, [0])  # a stop clears it


@pytest.mark.parametrize("rules", FLAGGED, ids=["strict", "lenient"])
def test_g48_so_is_a_second_device_and_what_follows_a_start_that_failed(rules: Rules) -> None:
    other = CreateConfig(2, (1,), 1, 0, 0x800)
    assert collected(rules, MADE, other, INIT, Start(1), Start(2))[-1] == (0, [0])
    unknown = CreateConfig(3, (0,), 1, 7, 0x804)
    assert collected(rules, MADE, unknown, INIT, Start(3), Start(1))[-2:] == [
        (FAILED, []),
        (0, []),
    ]


def test_g48_before_2026_06_the_flag_was_asked_before_the_state() -> None:
    assert collected(FLAGGED[0], MADE, Start(1), Start(1))[1:] == [(FAILED, []), (0, [])]
    assert collected(FLAGGED[1], MADE, Start(1), Start(1))[1:] == [(0, [0]), (0, [0])]


def test_g47_dynamic_profiling_refuses_init_with_a_code_of_its_own() -> None:
    assert returned(LifeCycle(Environment(dynamic=True)), INIT) == [200006]


def test_g50_g51_stop_and_finalize_command_the_modules() -> None:
    machine = LifeCycle()
    profiling, names = machine.begin(), []
    for call in (CreateConfig(1, (1, 0), 2, 0, 0x2), INIT, Start(1), Stop(1), Finalize()):
        profiling, answer = machine.respond(profiling, call)
        names += [(one.name, one.devices) for one in answer.commands]
        if isinstance(call, Start):
            # with model load, details of operators and, with task time, the runtime's tasks
            added = 1 << 63 | 0x80000000 | 0x4000000
            assert answer.commands[1].bits == 0x802 | 1 << 62 | added
    assert names == [
        ("INIT", ()),
        ("START", (1,)),
        ("INIT", ()),
        ("START", (0,)),
        ("STOP", (0, 1)),
        ("FINALIZE", ()),
    ]


# --- the model as a program -----------------------------------------------------------------------


def answered(text: str | bytes, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    content = text.encode() if isinstance(text, str) else text
    given = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", given)
    return main(["ge", "life-cycle", *options])


def test_g46_the_model_answers_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "\n".join(json.dumps(one) for one in (ALPHABET[0], ALPHABET[0]))
    assert answered(lines, monkeypatch) == 0
    found = [json.loads(one)["returns"] for one in capsys.readouterr().out.splitlines()]
    assert found == [0, FAILED]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"call": "start"}',
        '{"call": "aclgrphProfFinalize", "arguments": {}, "call": "start"}',
        '{"call": "aclgrphProfInit", "arguments": {"profiler_path": "a", "length": NaN}}',
        '{"call": "aclgrphProfStart", "arguments": {"profiler_config": 9223372036854775808}}',
        '{"call": "aclgrphProfStart", "arguments": {"profiler_config": 1}}',
        "[" * 100_000,
        "x" * 10_000_000,
        b"\xff\xfe",
        '{"call": "unknown", "arguments": {}}',
    ],
    ids=range(10),
)
def test_a_wrong_line_is_one_line(
    line: str | bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(line, monkeypatch) == 2
    (shown,) = capsys.readouterr().err.splitlines()
    assert "standard input: line 1: " in shown
    assert len(shown) < 600


# --- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("aclgrphProfStart", "not begun"),
        ("MsprofReportApi", "AclProfilingReporter"),
        ("MsprofInit", "int32_t MsprofInit(uint32_t dataType, void * data, uint32_t dataLen);"),
        ("MsprofNotifySetDevice", "uint32_t deviceId, bool isOpen);"),
        ("MsprofReportData", "MsprofReportAdditionalInfo"),
        ("kProfTaskTime", "0x2"),
        ("CannProfilerV2", "cann_profiler_v2.cc"),
        ("ACL_PROFILING_REG", "AclProfilingReporter"),
        ("405091711", "0x1825357f"),
        ("STARTED", "API_CTRL"),
        ("Runtime V1", "HybridProfiler"),
        ("kExecuteEnd", "A node ends."),
        ("exchange/life-cycle-protocol", "aclgrphProfInit"),
    ],
)
def test_g165_every_name_of_the_document_has_a_page(
    name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", "show", name]) == 0
    assert words in capsys.readouterr().out
