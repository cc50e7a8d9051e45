"""Try every defective exporter of the zoo; print what was found, in how many operators and seconds,
of the processor and on the clock.

    python tests/conform/run_zoo.py [NAME]...

Exit 1 where one is not caught, or not shrunk to three operators without a reason, or takes more
than a minute of the processor, or where the reference itself is not found right.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

import framework_zoo
import raw_zoo
import upstream_zoo
import zoo
from aged_records import AGED
from zoo import Bug

from ascend_conformance.harness.case import Case
from ascend_conformance.harness.conform import conform
from ascend_conformance.harness.drawing import draw_cases
from ascend_conformance.harness.exporters import Function
from ascend_conformance.harness.stages import STAGES, Stage

ZOOS: Mapping[str, Mapping[str, Bug]] = {
    "database-to-text": zoo.BUGS | upstream_zoo.BUGS,
    "raw-to-text": raw_zoo.BUGS,
    "raw-to-text, aged": raw_zoo.OF_AGED,
    "framework-to-profile": framework_zoo.BUGS,
}
"""Defective exporters of each stage."""
STAGES_TRIED: Mapping[str, Stage] = {**STAGES, "raw-to-text, aged": AGED}
SMALL = 3
"""Operators that a failure is shrunk to."""
LONGEST = 60.0
"""Seconds of the processor that finding and shrinking may take."""


class Caught(NamedTuple):
    """What came of one exporter. ``rules``: those of all failures that the smallest case shows;
    ``seconds`` of the processor, and ``waited`` on the clock.
    """

    bug: Bug
    operators: int | None
    rules: tuple[str, ...]
    seconds: float
    waited: float

    @property
    def passes(self) -> bool:
        if self.operators is None or "CFM101" in self.rules:  # a bug is no crash
            return False
        small = self.operators <= SMALL or self.bug.larger is not None
        return small and self.seconds <= LONGEST

    @property
    def words(self) -> str:
        found = "not caught" if self.operators is None else f"{self.operators} operators"
        verdict = "" if self.passes else "NOT "
        rules = " ".join(self.rules)
        times = f"{self.seconds:5.1f} s {self.waited:5.1f} s"
        return f"{verdict}{self.bug.name:36} {found:14} {times}  {rules}"


@cache
def drawn(stage: str, count: int = 40, seed: int = 2) -> list[Case]:
    return draw_cases(STAGES_TRIED[stage], count, seed)


def run(bug: Bug, cases: Sequence[Case], stage: Stage) -> Caught:
    started, begun = time.process_time(), time.monotonic()
    outcome = conform(bug.exporter(), stage, cases, enough=1)
    found = [one for one in outcome.shown if one.failure.fails]
    operators = min((one.tried.operators for one in found), default=None)
    rules = tuple(sorted({one.failure.finding.rule for one in found}))
    seconds, waited = time.process_time() - started, time.monotonic() - begun
    return Caught(bug, operators, rules, seconds, waited)


def false_alarms(stage: Stage, cases: Sequence[Case]) -> int:
    """How many failures of the reference are found, which has none."""
    outcome = conform(Function("reference", stage.reference), stage, cases, most=0)
    failed = [one for one in outcome.shown if one.failure.fails]
    print(f"{stage.name}: {outcome.cases} cases, {len(failed)} false alarms", flush=True)
    return len(failed)


def main(wanted: Sequence[str]) -> int:
    failed = False
    seconds: list[float] = []
    for name, bugs in ZOOS.items():
        stage = STAGES_TRIED[name]
        if not wanted:
            failed |= false_alarms(stage, drawn(name)) > 0
        for bug in bugs.values():
            if not wanted or bug.name in wanted:
                one = run(bug, drawn(name), stage)
                failed |= not one.passes
                seconds.append(one.seconds)
                print(one.words, flush=True)
    if seconds:
        print(
            f"{len(seconds)} exporters, median {median(seconds):.1f} s, most {max(seconds):.1f} s"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
