"""What an implementation answers next to what the model does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ascend_simulator.ge.life_cycle import Call, Profiling, Returned
from ascend_spec import ge_catalog

from .implementation import Heard

Kind = Literal["returns", "collecting", "broken", "late"]


@dataclass(frozen=True, slots=True)
class Step:
    """One call: what is expected and what came. ``collecting``: bits by device afterwards."""

    call: Call
    expected: Returned
    collecting: Mapping[int, int]
    heard: Heard


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at the last of some calls, in words."""

    kind: Kind
    words: str


@dataclass(frozen=True, slots=True)
class Judged:
    """Calls of one sequence in their order, and what is wrong at the last of them."""

    steps: tuple[Step, ...] = ()
    problem: Problem | None = None


def judge_call(
    before: Judged, call: Call, expected: Returned, after: Profiling, heard: Heard
) -> Judged:
    """The sequence with one call more."""
    step = Step(call, expected, after.collecting, heard)
    return Judged((*before.steps, step), _problem(step))


def judge_end(before: Judged, heard: Heard) -> Judged:
    """The sequence at the end of the input."""
    return before if heard.how == "answered" else replace(before, problem=_silence(heard))


def judge_start(heard: Heard) -> Judged:
    """The sequence without calls."""
    if heard.how in ("broken", "late"):
        return Judged((), _silence(heard))
    if heard.how == "answered" and heard.returns != 0:
        return Judged((), Problem("returns", f"start returns {heard.returns}; expected 0"))
    if heard.collecting:
        shown = collecting_text(heard.collecting)
        return Judged((), Problem("collecting", f"at the start it collects {shown}"))
    return Judged()


def _silence(heard: Heard) -> Problem:
    return Problem("late" if heard.how == "late" else "broken", heard.words)


def _problem(step: Step) -> Problem | None:
    heard, expected = step.heard, step.expected
    if heard.how != "answered":
        return _silence(heard)
    if heard.returns != expected.returns:
        words = f"returns {return_text(heard.returns)}; expected {return_text(expected.returns)}"
        return Problem("returns", f"{words}. {expected.why}{citation(expected)}")
    if heard.collecting is not None and heard.collecting != step.collecting:
        words = f"it collects {collecting_text(heard.collecting)}"
        wanted = collecting_text(step.collecting)
        return Problem(
            "collecting", f"{words}; expected {wanted}. {expected.why}{citation(expected)}"
        )
    return None


def citation(expected: Returned) -> str:
    """Who states what a call returns, with the errata."""
    return f" [{', '.join((*expected.source, *expected.errata))}]"


def return_text(returns: int | str | None) -> str:
    """What a call returns, with the name of a code."""
    if returns is None:
        return "null"
    if isinstance(returns, str):
        return returns
    known = ge_catalog().codes.get(returns)
    return f"{returns} {known.name}" if known else str(returns)


def collecting_text(collecting: Mapping[int, int]) -> str:
    """What is collected, in words."""
    listed = ", ".join(f"{bits:#x} of device {one}" for one, bits in sorted(collecting.items()))
    return listed or "nothing"
