"""What MindSpore's Profiler does when it is called, by what was called before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ascend_spec.core import DAYS, Bounds, Grade

Call = Literal["start", "stop", "analyse"]
State = Literal["idle", "recording", "stopped", "analysed"]
Verdict = Literal["done", "refused", "ignored"]


@dataclass(frozen=True, slots=True)
class Transition(Bounds):
    """What a call in a state does on some days, and the state afterwards."""

    call: Call
    state: State
    verdict: Verdict
    then: State
    summary: str
    source: tuple[str, ...]
    grade: Grade


def transition_on(
    transitions: Sequence[Transition], call: Call, state: State, day: str
) -> Transition:
    """What a call in a state does on a day. Raises ``KeyError`` for a day that is not described."""
    for one in transitions:
        if (one.call, one.state) == (call, state) and DAYS.in_force(one, day):
            return one
    first = min(one.since or "" for one in transitions)
    raise KeyError(f"{call}: what it does on {day} is not described; expected {first} or later")
