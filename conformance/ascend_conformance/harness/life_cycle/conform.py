"""An implementation of the functions of ``ge/ge_prof.h`` tried against the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from ascend_ref import __version__
from ascend_simulator.ge.life_cycle import Environment, LifeCycle, Rules
from ascend_spec.ge import FirstMode

from ...engine.failure import rule_that_finds
from ...finding import FileReport, Finding, Report, Skipped
from .implementation import Implementation
from .judging import Judged, citation, collecting_text, judge_start, return_text
from .shortening import judge, shorten
from .trials import Calls, Trials

EXAMPLES = 500
"""Sequences that are drawn where nobody has the profiling."""
FIFTH = 5
"""Of which part so many are drawn where something else has it, or a wrong one is known already."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class ModeOutcome:
    """What came of the sequences that begin in one mode.

    ``judged``: the shortest sequence found that is answered wrongly. ``skipped``: why none was
    tried. ``sequences``: how often the implementation was started.
    """

    mode: FirstMode
    judged: Judged | None = None
    skipped: str | None = None
    sequences: int = 0


@dataclass(frozen=True, slots=True)
class LifeCycleOutcome:
    """What came of an implementation, by mode."""

    name: str
    rules: Rules
    modes: tuple[ModeOutcome, ...]

    @property
    def shortest(self) -> ModeOutcome | None:
        """The mode whose sequence is answered wrongly; ``None`` where all is right."""
        return next((one for one in self.modes if one.judged is not None), None)

    @property
    def fails(self) -> bool:
        """Whether a sequence is answered wrongly, or nothing could be tried."""
        return self.shortest is not None or all(one.skipped is not None for one in self.modes)


def conform_life_cycle(
    implementation: Implementation,
    rules: Rules | None = None,
    *,
    examples: int = EXAMPLES,
    seed: int = 0,
    modes: Sequence[FirstMode] = get_args(FirstMode),
    progress: Progress | None = None,
) -> LifeCycleOutcome:
    """Try an implementation on drawn sequences of calls, which are the same for the same seed.

    Modes are tried in turn, up to the first in which a sequence is answered wrongly; that sequence
    is shrunk to the shortest one found.
    """
    rules = rules or Rules()
    found = []
    for done, mode in enumerate(modes):
        if progress:
            progress(done, len(modes), mode)
        drawn = examples if mode == "OFF" else max(examples // FIFTH, 1)
        found.append(_try_mode(implementation, rules, mode, drawn, seed))
        if found[-1].judged is not None:
            break
    return LifeCycleOutcome(implementation.name, rules, tuple(found))


def _try_mode(
    implementation: Implementation, rules: Rules, mode: FirstMode, examples: int, seed: int
) -> ModeOutcome:
    life_cycle = LifeCycle(Environment(mode), rules)
    trials = Trials(implementation, life_cycle.environment, rules.reading)
    try:
        heard = trials.answer(())
        if heard.how == "skipped":
            return ModeOutcome(mode, skipped=heard.words, sequences=trials.started)
        judged: Judged | None = judge_start(heard)
        if judged is not None and judged.problem is None:
            judged = _shortest(trials, life_cycle, examples, seed)
        return ModeOutcome(mode, judged, sequences=trials.started)
    finally:
        trials.close()


def _shortest(trials: Trials, life_cycle: LifeCycle, examples: int, seed: int) -> Judged | None:
    """The shortest sequence found; once there is one, only shorter ones are drawn."""
    from .machine import find_difference, limit_sequences, tours

    def first_of(sequences: Iterable[Calls]) -> Judged | None:
        tried = (judge(calls, trials, life_cycle) for calls in sequences)
        return next((one for one in tried if one is not None and one.problem is not None), None)

    best: Judged | None = None
    found = first_of(limit_sequences(life_cycle.environment))
    found = found or find_difference(trials, life_cycle, examples, seed)
    found = found or first_of(tours(life_cycle.environment))
    while found is not None:
        best = shorten(found, trials, life_cycle)
        if len(best.steps) < 2:
            break
        few = max(examples // FIFTH, 1)
        found = find_difference(trials, life_cycle, few, seed, len(best.steps) - 1)
    return best


_FINDS = {
    "returns": "returned otherwise",
    "collecting": "collected otherwise",
    "broken": "broken calls",
    "late": "late answer",
}


def _finding(outcome: LifeCycleOutcome) -> Finding | None:
    """The sequence that is answered wrongly, as a finding; ``None`` where there is none."""
    at = outcome.shortest
    if at is None or at.judged is None or at.judged.problem is None:
        return None
    problem = at.judged.problem
    rule = rule_that_finds(_FINDS[problem.kind])
    calls = " > ".join(one.call.words for one in at.judged.steps) or "start"
    begins = "" if at.mode == "OFF" else f" in {at.mode}"
    return rule.finding(outcome.name, f"{calls}{begins}: {problem.words}")


def report_of(outcome: LifeCycleOutcome) -> Report:
    """The outcome as a report, as of ``check``."""
    found = _finding(outcome)
    rule = rule_that_finds(_FINDS["returns"])
    skipped = tuple(
        Skipped(rule.id, one.mode, one.skipped) for one in outcome.modes if one.skipped is not None
    )
    tried = sum(one.sequences for one in outcome.modes)
    file = FileReport(
        outcome.name,
        None,
        (found,) if found else (),
        skipped,
        rules_run=len(_FINDS),
        places_checked=tried,
        unreadable="every mode was skipped" if outcome.fails and not found else None,
    )
    return Report((file,), __version__, "observed")


def as_text(outcome: LifeCycleOutcome) -> str:
    """The outcome for people: the shortest sequence, each call with what is expected and came."""
    lines = [
        f"{outcome.name}: reading {outcome.rules.reading}"
        f"{', with the flag of a start' if outcome.rules.start_flag else ''}"
    ]
    for one in outcome.modes:
        if one.skipped is not None:
            lines.append(f"{one.mode}: skipped, {one.skipped}")
        elif one.judged is None:
            lines.append(f"{one.mode}: every answer is right, {one.sequences} sequences")
        else:
            lines += _sequence(one)
    return "\n".join(lines) + "\n"


def _sequence(outcome: ModeOutcome) -> list[str]:
    judged = outcome.judged or Judged()
    count = len(judged.steps)
    calls = f"a sequence of {count} call{'s' * (count != 1)}" if count else "start"
    lines = [f"{outcome.mode}: {calls} is answered wrongly"]
    for number, one in enumerate(judged.steps, 1):
        lines.append(f"  {number}. {one.call.words}")
        wanted = return_text(one.expected.returns)
        lines.append(f"     expected {wanted}, collecting {collecting_text(one.collecting)}")
        if one.heard.how != "answered":
            lines.append(f"     got      no answer: {one.heard.words}")
            continue
        got = return_text(one.heard.returns)
        stated = one.heard.collecting
        shown = "not stated" if stated is None else collecting_text(stated)
        lines.append(f"     got      {got}, collecting {shown}")
        if number == count:
            lines.append(f"     why      {one.expected.why}{citation(one.expected)}")
    if judged.problem is not None and judged.problem.kind in ("broken", "late"):
        lines.append(f"  {judged.problem.words}")
    return lines
