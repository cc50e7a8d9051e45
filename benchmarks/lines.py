"""Figures with the bounds they must keep, as every benchmark prints them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

REPEATS = 3


@dataclass(frozen=True)
class Line:
    """One figure: what, measured, the bound it must keep, and what it was compared with."""

    what: str
    measured: float
    bound: float
    unit: str
    at_most: bool
    against: str

    @property
    def holds(self) -> bool:
        """Whether the figure keeps its bound."""
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound


def best(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """The shortest of several wall times in seconds: the least disturbed one."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def processor_seconds(command: Sequence[str]) -> float:
    """What a command takes of processors, with all that it runs, in user and in system time."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    times = (after.children_user, after.children_system)
    return sum(times) - before.children_user - before.children_system


def show(lines: list[Line]) -> None:
    """The table of figures."""
    print(f"{'figure':<44} {'measured':>10} {'bound':>10}        against")
    for line in lines:
        bound = f"{'<=' if line.at_most else '>='} {line.bound:g} {line.unit}"
        verdict = "ok" if line.holds else "MISSED"
        measured = f"{line.measured:.2f} {line.unit}"
        print(f"{line.what:<44} {measured:>10} {bound:>10} {verdict:<7} {line.against}")
