"""How fast captures come about in memory, against a plain event loop over the same tasks."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from lines import REPEATS, Line

from ascend_ref.capture import Capture, Switches
from ascend_simulator.choices import ModelChoice, Parallelism, Scenario, Schedule
from ascend_simulator.run import capture as captured
from ascend_simulator.run import prepare
from ascend_simulator.session.setting import FIRST_SESSION_NS, setting
from ascend_simulator.session.simulate import BEFORE_STEPS_NS

SEED = 1
EVENT_LOOP = Path(__file__).parent.parent / "tests" / "simulator"
DENSE = Scenario(
    "dense",
    model=ModelChoice("dense-transformer", layers=8, microbatches=4),
    parallelism=Parallelism(8, tensor=8),
    schedule=Schedule(active=160),
    capture=Switches(level=1),
)
"""About 16 million tasks."""


@dataclass(frozen=True)
class Played:
    """What a run came to. moments: sum of all starts and ends, modulo 2^64."""

    seconds: float
    tasks: int
    moments: int

    @property
    def rate(self) -> float:
        """Tasks per second."""
        return self.tasks / self.seconds


def with_steps(scenario: Scenario, steps: int) -> Scenario:
    """The scenario with another number of steps."""
    return replace(scenario, schedule=replace(scenario.schedule, active=steps))


def in_memory(scenario: Scenario, *, programs_are_ready: bool = False) -> Played:
    """From the scenario, or its programs, to the captures of all ranks, one after the other."""
    setting.cache_clear()
    if programs_are_ready:
        setting(scenario, SEED)
    started = time.perf_counter()
    shared = prepare(scenario, SEED)
    seconds = time.perf_counter() - started
    tasks = moments = 0
    for rank in range(scenario.parallelism.ranks):
        started = time.perf_counter()
        made = captured(shared, rank)
        seconds += time.perf_counter() - started
        start, end = _of_programs(made)
        tasks += len(start)
        moments += int(start.sum()) + int(end.sum())
    return Played(seconds, tasks, moments % (1 << 64))


def _of_programs(capture: Capture) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of all tasks but the profiler's own, as words that may wrap."""
    own = capture.texts.numbers(("PROFILING_ENABLE", "PROFILING_DISABLE"))
    rows = np.isin(capture.tasks.kind, own, invert=True)
    return capture.tasks.start[rows].view(np.uint64), capture.tasks.end[rows].view(np.uint64)


def in_event_loop(scenario: Scenario) -> Played:
    """The same tasks, one Python object for each, without what surrounds them.

    Programs are ready before it starts. The garbage collector, which
    finds nothing here and takes a third of the time, is off.
    """
    sys.path.insert(0, str(EVENT_LOOP))
    from event_loop import EventLoop

    world = setting(scenario, SEED)
    gc.collect()
    gc.disable()
    try:
        started = time.perf_counter()
        ranks = EventLoop(world, FIRST_SESSION_NS + BEFORE_STEPS_NS).run()
        seconds = time.perf_counter() - started
    finally:
        gc.enable()
        sys.path.remove(str(EVENT_LOOP))
    rows = [task for rank in ranks for task in rank.tasks if task.stream is not None]
    return Played(seconds, len(rows), sum(task.start + task.end for task in rows) % (1 << 64))


def measure_memory() -> Iterator[Line]:
    """Rate of a large run, and the ratio of both ways over the tasks of a smaller one."""
    large = min((in_memory(DENSE) for _ in range(REPEATS)), key=lambda run: run.seconds)
    yield Line(
        f"captures in memory, {large.tasks:,} tasks",
        large.rate / 1e6,
        2,
        "M/s",
        False,
        f"fixed bound; {large.seconds:.1f} s",
    )
    small = with_steps(DENSE, DENSE.schedule.active // 5)
    ours = min(
        (in_memory(small, programs_are_ready=True) for _ in range(REPEATS)),
        key=lambda run: run.seconds,
    )
    plain = in_event_loop(small)
    assert (ours.tasks, ours.moments) == (plain.tasks, plain.moments), (ours, plain)
    yield Line(
        f"captures in memory, {ours.tasks:,} tasks",
        plain.seconds / ours.seconds,
        10,
        "x",
        False,
        f"plain event loop {plain.seconds:.1f} s, ours {ours.seconds:.1f} s",
    )
