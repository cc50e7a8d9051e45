"""A sequence of calls that is answered wrongly without the calls that it does not need.

Hypothesis shrinks choices, of which several stand for a call whose meaning depends on those before,
and so may leave a call or two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from ascend_simulator.ge.life_cycle import (
    CreateConfig,
    DestroyConfig,
    LifeCycle,
    Start,
    Stop,
    UndefinedCall,
)

from .judging import Judged, judge_call, judge_end
from .trials import Calls, Trials

TOGETHER = 2
"""Most calls that are left out at once."""


def shorten(judged: Judged, trials: Trials, life_cycle: LifeCycle) -> Judged:
    """A sequence that is still answered wrongly without one call, or two, as long as there is one;
    its configurations are numbered from 1.
    """
    found = judged
    changed = True
    while changed:
        changed = False
        for calls in _shorter(tuple(one.call for one in found.steps)):
            tried = judge(calls, trials, life_cycle)
            if tried is not None and tried.problem is not None:
                found, changed = tried, True
                break
    numbered = judge(_renumber(found), trials, life_cycle)
    return found if numbered is None or numbered.problem is None else numbered


def judge(calls: Calls, trials: Trials, life_cycle: LifeCycle) -> Judged | None:
    """Calls up to the first that is answered wrongly; ``None`` for calls that mean nothing."""
    profiling, judged, made = life_cycle.begin(), Judged(), calls[:0]
    for call in calls:
        made = (*made, call)
        try:
            profiling, expected = life_cycle.respond(profiling, call)
        except UndefinedCall:
            return None
        if not trials.can_try(made):
            return None
        judged = judge_call(judged, call, expected, profiling, trials.answer(made))
        if judged.problem is not None:
            return judged
    return judge_end(judged, trials.end_of(calls)) if trials.late == 0 else judged


def _shorter(calls: Calls) -> Iterator[Calls]:
    for count in range(1, TOGETHER + 1):
        for left_out in combinations(range(len(calls)), count):
            yield tuple(one for place, one in enumerate(calls) if place not in left_out)


def _renumber(judged: Judged) -> Calls:
    numbers: dict[int, int] = {}
    calls: Calls = ()
    for step in judged.steps:
        call = step.call
        if isinstance(call, CreateConfig):
            numbers[call.config] = len(numbers) + 1
        if isinstance(call, CreateConfig | Start | Stop | DestroyConfig):
            config = call.config
            if config is not None:  # a null pointer has no number
                call = replace(call, config=numbers[config])
        calls = (*calls, call)
    return calls
