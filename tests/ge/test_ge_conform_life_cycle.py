"""Flawed implementations of ge/ge_prof.h are found by the shortest sequence of calls there is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from life_cycle_plain import Plain, shortest
from slices import marked, some

from ascend_conformance.harness.life_cycle import (
    InProcess,
    LifeCycleOutcome,
    Program,
    conform_life_cycle,
    report_of,
)
from ascend_conformance.harness.limits import Limits
from ascend_ref.cli import main
from ascend_simulator.ge.life_cycle import Rules
from ascend_simulator.ge.life_cycle.wire import message_of

HERE = Path(__file__).parent
LIMITS = Limits(seconds=2)
STRICT, LENIENT = Rules(), Rules("lenient")
FEW = 120
"""Sequences that are enough here; the usual number finds all of it whatever is drawn."""
MINIMAL = {
    "flag kept": 6,
    "codes unfolded": 2,
    "stop by device": 5,
    "long path": 1,
    "finalize collects": 4,
    "nothing implied": 3,
    "other bits start": 5,
}


def calls_of(outcome: LifeCycleOutcome) -> list[dict[str, Any]]:
    """The shortest sequence as messages."""
    assert outcome.shortest is not None
    assert outcome.shortest.judged is not None
    return [message_of(step.call) for step in outcome.shortest.judged.steps]


def answers(plain: Plain, calls: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    return [plain(one) for one in calls]


@pytest.mark.parametrize(
    "flaw",
    [
        pytest.param(one, marks=pytest.mark.exhaustive if MINIMAL[one] > 3 else ())
        for one in MINIMAL  # the default run has a flaw of four calls over a pipe
    ],
)
def test_g46_g49_a_flawed_implementation_is_found_by_the_shortest_sequence_there_is(
    flaw: str,
) -> None:
    oracle = shortest(Plain(flaw), Plain())
    assert {len(one) for one in oracle} == {MINIMAL[flaw]}
    outcome = conform_life_cycle(InProcess(flaw, partial(Plain, flaw)), STRICT, examples=FEW)
    calls = calls_of(outcome)
    assert len(calls) == MINIMAL[flaw]
    wrong, right = answers(Plain(flaw), calls), answers(Plain(), calls)
    assert wrong[:-1] == [{key: one[key] for key in wrong[0]} for one in right[:-1]]
    assert wrong[-1] != {key: right[-1][key] for key in wrong[-1]}


@pytest.mark.campaign
def test_g48_codes_alone_show_the_flaw_of_upstream_as_well() -> None:
    flaw = "flag kept, silent"
    assert {len(one) for one in shortest(Plain(flaw), Plain())} == {7}
    calls = calls_of(conform_life_cycle(InProcess(flaw, partial(Plain, flaw)), modes=["OFF"]))
    assert len(calls) in (7, 8)  # with metrics that the chip lacks, or with other bits
    assert answers(Plain(flaw), calls)[-1] != {"returns": answers(Plain(), calls)[-1]["returns"]}


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [1, *(marked(one, pytest.mark.campaign) for one in range(2, 6))])
def test_g48_the_flaw_of_upstream_is_found_whatever_is_drawn(seed: int) -> None:
    outcome = conform_life_cycle(InProcess("flag", partial(Plain, "flag kept")), seed=seed)
    names = [one["call"].removeprefix("aclgrphProf") for one in calls_of(outcome)]
    assert sorted(names) == ["CreateConfig", "Finalize", "Init", "Init", "Start", "Start"]
    assert [one for one in names if one != "CreateConfig"] == [
        *("Init", "Start", "Finalize", "Init", "Start")
    ]


@pytest.mark.campaign
def test_g48_with_a_start_that_begins_by_itself_the_flaw_needs_two_calls_less() -> None:
    flawed = partial(Plain, "flag kept", "lenient")
    assert {len(one) for one in shortest(flawed(), Plain(reading="lenient"))} == {4}
    assert len(calls_of(conform_life_cycle(InProcess("flag", flawed), LENIENT))) == 4


@pytest.mark.parametrize("rules", [STRICT, LENIENT], ids=["strict", "lenient"])
def test_g46_a_correct_implementation_of_either_reading_passes(rules: Rules) -> None:
    outcome = conform_life_cycle(
        InProcess("right", partial(Plain, "", rules.reading)), rules, examples=FEW // 4
    )
    assert not outcome.fails
    assert [one.mode for one in outcome.modes] == ["OFF", "CMD", "SUBSCRIBE"]
    assert report_of(outcome).findings == ()


@pytest.mark.parametrize("rules", [STRICT, LENIENT], ids=["strict", "lenient"])
def test_g46_an_implementation_of_the_other_reading_does_not(rules: Rules) -> None:
    other = "lenient" if rules.reading == "strict" else "strict"
    outcome = conform_life_cycle(InProcess("other", partial(Plain, "", other)), rules)
    (finding,) = report_of(outcome).findings
    assert finding.rule == "CFM401"
    assert "G62" in finding.message
    assert len(calls_of(outcome)) == 1


def test_the_same_seed_gives_the_same_sequences() -> None:
    heard: list[list[str]] = []

    def recorder() -> Plain:
        class Recorder(Plain):
            def __call__(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
                heard[-1].append(json.dumps(message))
                return super().__call__(message)

        return Recorder()

    for _ in range(2):
        heard.append([])
        conform_life_cycle(InProcess("right", recorder), examples=20, seed=5)
    assert heard[0] == heard[1]
    assert len(heard[0]) > 50


# --- programs ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flaw_in_cpp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++") or shutil.which("c++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no compiler of C++; expected g++, c++ or clang++")
    made = tmp_path_factory.mktemp("cpp") / "flaw"
    source = HERE / "life_cycle_flaw.cpp"
    subprocess.run([compiler, "-std=c++17", "-o", made, source], check=True)
    return made


@pytest.mark.exhaustive
def test_g48_g49_the_flaw_of_upstream_in_cpp_is_found_over_the_pipe(
    flaw_in_cpp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {len(one) for one in shortest(Plain("flag kept"), Plain())} == {6}
    given = ["ge", "conform-life-cycle", str(flaw_in_cpp), "--mode", "OFF"]
    assert main([*given, "--examples", str(FEW)]) == 1
    shown = capsys.readouterr().out
    assert "a sequence of 6 calls is answered wrongly" in shown
    last = shown.partition("  6. aclgrphProfStart(config 1)\n")[2].splitlines()
    assert "collecting 0x4000000000000800 of device 0" in last[0]
    assert last[1].split("got")[1].split() == ["0", "GE_PROF_SUCCESS,", "collecting", "nothing"]
    assert "why" in last[2]
    assert "ge-profiling 2" in last[2]


HOSTILE = {
    "dies": ("import sys; sys.exit(3)", "CFM403", "it ended without an answer"),
    "traceback": ("import sys; sys.stdin.readline(); raise KeyError('x')", "CFM403", "KeyError"),
    "two lines": (
        "import sys\nfor one in sys.stdin: print('{\"returns\": 0}\\n' * 2, end='', flush=True)",
        "CFM403",
        "nothing asked for",
    ),
    "nan": ("import sys; input(); print('{\"returns\": NaN}', flush=True)", "CFM403", "NaN"),
    "large": (
        "import sys; input(); print('{\"returns\": 9223372036854775808}', flush=True)",
        "CFM403",
        "no message of the protocol",
    ),
    "huge line": (
        "input(); print('{\"returns\": ' + ' ' * (1 << 21) + '0}', flush=True)",
        "CFM403",
        "more than 1048576 bytes",
    ),
    "no utf-8": (
        "import sys; input(); sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()",
        "CFM403",
        "no JSON",
    ),
    "deep": ("input(); print('[' * 100000, flush=True)", "CFM403", "no JSON"),
    "twice": ('input(); print(\'{"returns": 0, "returns": 1}\', flush=True)', "CFM403", "twice"),
    "nothing": ("import sys; sys.stdin.read()", "CFM404", "there was no answer"),
    "never ends": (
        "import sys, time\n"
        "for one in sys.stdin: print('{\"returns\": 0}', flush=True)\n"
        "time.sleep(1000)",
        "CFM40",
        "",
    ),
    "deaf": (
        "import signal, time\n"
        "for one in (signal.SIGTERM, signal.SIGHUP): signal.signal(one, signal.SIG_IGN)\n"
        "time.sleep(1000)",
        "CFM404",
        "there was no answer",
    ),
    "byte by byte": ("import os\nwhile True: os.write(1, b' ')", "CFM40", ""),
    "loud": ("import sys\nwhile True: sys.stderr.write('x' * 9999 + '\\n')", "CFM40", ""),
    "exit code": (
        "import sys\nsys.stdin.readline(); print('{\"returns\": 0}', flush=True)\n"
        "sys.stdin.read(); sys.exit('no more')",
        "CFM404",
        "there was no answer",
    ),
    "endless": ("while True: print('x' * 1000, end='', flush=True)", "CFM403", "more than"),
}


@pytest.mark.parametrize("name", some(HOSTILE, every=3))
def test_a_hostile_implementation_is_one_finding(name: str, tmp_path: Path) -> None:
    source, rule, words = HOSTILE[name]
    path = tmp_path / "hostile.py"
    path.write_text(source, encoding="utf-8")
    program = Program(f"{sys.executable} -S {path}", Limits(seconds=0.4))
    began = time.monotonic()
    try:
        outcome = conform_life_cycle(program, examples=10)
    finally:
        program.close()
    (finding,) = report_of(outcome).findings
    assert finding.rule.startswith(rule)
    assert words in finding.message
    assert len(finding.message) < 2000
    assert "\n" not in finding.message
    assert time.monotonic() - began < 30


def test_an_implementation_that_knows_one_mode_is_judged_in_that_mode(tmp_path: Path) -> None:
    class OneMode(Plain):
        def __call__(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
            if message["arguments"].get("mode") in ("CMD", "SUBSCRIBE"):
                return {"skipped": "the mode is not known"}
            return super().__call__(message)

    outcome = conform_life_cycle(InProcess("one", OneMode), examples=20)
    assert not outcome.fails
    assert [one.skipped is None for one in outcome.modes] == [True, False, False]

    class NoMode(Plain):
        def __call__(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
            return {"skipped": "nothing is known"}

    assert conform_life_cycle(InProcess("none", NoMode), examples=20).fails


@pytest.mark.campaign
def test_the_model_as_a_program_passes_its_own_kit(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"{sys.executable} -m ascend_ref ge life-cycle"
    given = ["ge", "conform-life-cycle", words, "--keep", "--examples", "5", "--reading"]
    assert main([*given, "strict"]) == 0
    assert main([*given, "lenient", "--start-flag"]) == 1  # the model is without the flag


@pytest.mark.parametrize("command", ["", "no-such-program", "'"])
def test_a_command_that_cannot_be_started_is_one_line(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ge", "conform-life-cycle", command]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_outcome_is_a_report_as_of_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "liar.py"
    path.write_text(
        "import sys\nfor one in sys.stdin:\n"
        "    made = 'CreateConfig' in one\n"
        '    print(\'{"returns": "config"}\' if made else \'{"returns": 0}\', flush=True)\n',
        encoding="utf-8",
    )
    junit = tmp_path / "junit.xml"
    words = ["ge", "conform-life-cycle", f"{sys.executable} -S {path}", "--mode", "OFF"]
    assert main([*words, "--format", "json", "--report", f"junit={junit}"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert "CFM401" in json.dumps(document)
    assert "call-returns-otherwise" in junit.read_text(encoding="utf-8")
