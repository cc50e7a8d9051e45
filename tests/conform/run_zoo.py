"""Try every defective exporter of the zoo; print what was found, in how many operators and s.

    python tests/conform/run_zoo.py [NAME]...

Exit 1 where one is not caught, or not shrunk to three operators without a reason.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from zoo import BUGS

from ascend_conformance.harness.case import Case
from ascend_conformance.harness.conform import conform
from ascend_conformance.harness.drawing import draw_cases
from ascend_conformance.harness.stages import STAGES, Stage

STAGE = STAGES["database-to-text"]
SMALL = 3
"""Operators that a failure is shrunk to."""


class Caught(NamedTuple):
    name: str
    operators: int | None
    rules: tuple[str, ...]
    seconds: float

    @property
    def passes(self) -> bool:
        reason = BUGS[self.name].larger
        if self.operators is None or "CFM101" in self.rules:  # a bug is no crash
            return False
        return self.operators <= SMALL or reason is not None


@cache
def drawn(count: int = 40, seed: int = 2) -> list[Case]:
    return draw_cases(STAGE, count, seed)


def run(name: str, cases: Sequence[Case], stage: Stage = STAGE) -> Caught:
    started = time.process_time()
    outcome = conform(BUGS[name].exporter(), stage, cases, enough=1)
    found = [one for one in outcome.shown if one.failure.fails]
    operators = min((one.tried.operators for one in found), default=None)
    rules = tuple(sorted({one.failure.finding.rule for one in found}))
    return Caught(name, operators, rules, time.process_time() - started)


def main(wanted: Sequence[str]) -> int:
    failed = False
    for name in BUGS:
        if not wanted or name in wanted:
            one = run(name, drawn())
            failed |= not one.passes
            print(f"{'' if one.passes else 'NOT '}{one}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
