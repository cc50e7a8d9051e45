"""The kit's own parts: what is judged, how often is tried, and what is reported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from life_cycle_plain import Plain

from ascend_conformance.harness.life_cycle import (
    Heard,
    InProcess,
    LifeCycleOutcome,
    Program,
    as_text,
    conform_life_cycle,
    report_of,
)
from ascend_conformance.harness.life_cycle.implementation import Session, heard_of
from ascend_conformance.harness.life_cycle.trials import MOST_LATE
from ascend_conformance.harness.limits import Limits
from ascend_ref.cli import main

Message = Mapping[str, Any]
Change = Callable[[Message, dict[str, Any]], Message]


def tried(change: Change, examples: int = 5, **given: Any) -> LifeCycleOutcome:
    """The outcome of a sound implementation whose answers are changed."""

    class Changed(Plain):
        def __call__(self, message: Message) -> Message:
            return change(message, dict(super().__call__(message)))

    return conform_life_cycle(InProcess("changed", Changed), examples=examples, **given)


def found(outcome: LifeCycleOutcome) -> tuple[str, str]:
    (finding,) = report_of(outcome).findings
    return finding.rule, finding.message


def test_the_answer_to_start_is_judged() -> None:
    wrong = tried(lambda m, a: {**a, "returns": 7} if m["call"] == "start" else a)
    assert found(wrong) == ("CFM401", "start: start returns 7; expected 0")
    early = tried(lambda m, a: {**a, "collecting": {"1": "0x2"}} if m["call"] == "start" else a)
    assert found(early) == ("CFM402", "start: at the start it collects 0x2 of device 1")
    assert "start is answered wrongly" in as_text(early)


def test_g49_what_is_collected_is_judged_where_it_is_stated() -> None:
    silent = tried(lambda m, a: {"returns": a["returns"]})
    assert not silent.fails

    def collects(message: Message, answer: dict[str, Any]) -> Message:
        return {**answer, "collecting": {"1": "0x1"}} if "Init" in message["call"] else answer

    more = tried(collects)
    rule, words = found(more)
    assert rule == "CFM402"
    assert "it collects 0x1 of device 1; expected nothing. " in words
    assert words.endswith("]")
    assert more.shortest is not None
    assert more.shortest.judged is not None
    assert len(more.shortest.judged.steps) == 1


def test_an_error_of_an_implementation_in_python_is_a_finding() -> None:
    def broken(message: Message, answer: dict[str, Any]) -> Message:
        if "Init" in message["call"]:
            raise ValueError("no\npath")
        return answer

    rule, words = found(tried(broken))
    assert (rule, "\n" in words) == ("CFM403", False)
    assert "ValueError: no path" in words


def test_one_that_is_not_the_same_each_time_is_found_all_the_same() -> None:
    count = 0

    def moody(message: Message, answer: dict[str, Any]) -> Message:
        nonlocal count
        count += 1
        return answer if count % 7 else {**answer, "returns": 405091710}

    rule, _ = found(tried(moody))
    assert rule in ("CFM401", "CFM403")


class Slow(Session):
    """Sound, but late with each end."""

    def __init__(self, late: list[str]) -> None:
        self.late = late
        self.plain = Plain()

    def ask(self, message: Message, forms: tuple[str, ...]) -> Heard:
        if "Finalize" in message["call"]:
            self.late.append(message["call"])
            return Heard("late", "slow")
        return heard_of(self.plain(message))

    def finish(self) -> Heard:
        return Heard("answered")

    def end(self) -> None:
        """Nothing is left of it."""


def test_one_that_starts_once_alone_does_not_answer_in_the_same_way() -> None:
    begun: list[str] = []

    def once(message: Message, answer: dict[str, Any]) -> Message:
        if message["call"] == "start":
            begun.append("start")
            if len(begun) > 1:
                raise ValueError("again")
        return answer

    assert "it does not answer the same calls in the same way" in found(tried(once))[1]


def test_every_pair_of_three_configurations_is_tried_whatever_is_drawn() -> None:
    def third(message: Message, answer: dict[str, Any]) -> Message:
        is_third = message["arguments"].get("profiler_config") == 3
        return {**answer, "returns": 0} if is_third and "Stop" in message["call"] else answer

    assert found(tried(third, examples=1, modes=["OFF"]))[0] == "CFM401"


@dataclass(frozen=True)
class SlowProgram:
    late: list[str]
    name: str = "slow"

    def open(self) -> Session:
        return Slow(self.late)

    def close(self) -> None:
        """Nothing is left of it."""


def test_late_answers_are_waited_for_a_few_times_alone() -> None:
    late: list[str] = []
    outcome = conform_life_cycle(SlowProgram(late), examples=200)
    assert found(outcome)[0] == "CFM404"
    assert len(late) == MOST_LATE


def test_modes_are_tried_in_turn_up_to_a_wrong_answer_and_others_less_often() -> None:
    begun: list[str] = []

    def counted(message: Message, answer: dict[str, Any]) -> Message:
        if message["call"] == "start":
            begun.append(message["arguments"]["mode"])
        return answer

    assert not tried(counted, 50).fails
    assert list(dict.fromkeys(begun)) == ["OFF", "CMD", "SUBSCRIBE"]
    assert begun.count("CMD") < begun.count("OFF")
    outcome = tried(
        lambda m, a: {**a, "returns": 1} if m["call"] == "aclgrphProfFinalize" else a,
        modes=["SUBSCRIBE", "CMD"],
    )
    assert [one.mode for one in outcome.modes] == ["SUBSCRIBE"]
    assert (
        "in SUBSCRIBE: returns 1; expected 148047 ACL_ERROR_PROF_API_CONFLICT"
        in (found(outcome)[1])
    )


def test_modes_that_are_skipped_are_reported_with_their_reason() -> None:
    def one_mode(message: Message, answer: dict[str, Any]) -> Message:
        mode = message["arguments"].get("mode", "OFF")
        return answer if mode == "OFF" else {"skipped": f"no\n{mode}"}

    outcome = tried(one_mode)
    (file,) = report_of(outcome).files
    assert [(one.place, one.reason) for one in file.skipped] == [
        ("CMD", "no CMD"),
        ("SUBSCRIBE", "no SUBSCRIBE"),
    ]
    assert file.unreadable is None
    assert "CMD: skipped, no CMD" in as_text(outcome)
    none = tried(one_mode, modes=["CMD", "SUBSCRIBE"])
    assert none.fails
    assert report_of(none).files[0].unreadable == "every mode was skipped"


def test_a_sequence_is_shown_call_by_call_up_to_the_wrong_answer() -> None:
    shown = as_text(
        tried(lambda m, a: {**a, "returns": 0} if m["call"] == "aclgrphProfFinalize" else a)
    ).splitlines()
    assert shown[:3] == [
        "changed: reading strict",
        "OFF: a sequence of 1 call is answered wrongly",
        "  1. aclgrphProfFinalize()",
    ]
    assert " ".join(shown[3].split()) == (
        "expected 100043 ACL_ERROR_PROF_NOT_RUN, collecting nothing"
    )
    assert shown[4].split()[:3] == ["got", "0", "GE_PROF_SUCCESS,"]
    assert shown[5].strip().startswith("why      The profiling has not begun. [seed-003 2.3")


def test_the_reason_is_that_of_the_wrong_answer_alone() -> None:
    flawed = InProcess("flawed", lambda: Plain("codes unfolded"))
    lines = as_text(conform_life_cycle(flawed, examples=5)).splitlines()
    assert [one.split()[0] for one in lines if one.startswith("     ")] == [
        *("expected", "got"),
        *("expected", "got", "why"),
    ]


# --- programs -------------------------------------------------------------------------------------

SOUND = """
import json, os, sys
sys.path.insert(0, {here!r})
with open({log!r}, "a") as log:
    log.write("begun\\n")
from life_cycle_plain import Plain
plain = Plain()
for line in sys.stdin:
    message = json.loads(line)
    if message["call"] == "start":
        plain = Plain()
    print(json.dumps(plain(message)), flush=True)
{end}
"""


@pytest.mark.parametrize(
    "keep",
    [True, pytest.param(False, marks=pytest.mark.exhaustive)],  # many programs start
)
def test_a_program_is_started_for_each_sequence_or_once(keep: bool, tmp_path: Path) -> None:
    log, path = tmp_path / "log", tmp_path / "sound.py"
    path.write_text(SOUND.format(here=str(Path(__file__).parent), log=str(log), end=""), "utf-8")
    program = Program(f"{sys.executable} -S {path}", Limits(10), keep=keep)
    try:
        outcome = conform_life_cycle(program, examples=2, modes=["CMD"])
    finally:
        program.close()
    assert not outcome.fails
    begun = len(log.read_text().splitlines())
    assert begun == (1 if keep else outcome.modes[0].sequences)
    assert outcome.modes[0].sequences > 20


def test_its_exit_code_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ends.py"
    end = 'print("it hurts", file=sys.stderr)\nsys.exit(3)'
    here, log = str(Path(__file__).parent), str(tmp_path / "log")
    path.write_text(SOUND.format(here=here, log=log, end=end), "utf-8")
    words = ["ge", "conform-life-cycle", f"{sys.executable} -S {path}", "--mode", "OFF"]
    assert main([*words, "--examples", "1"]) == 1
    shown = capsys.readouterr().out
    assert "it ended with exit code 3: it hurts" in shown
