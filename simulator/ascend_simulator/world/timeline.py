"""What the parts of the world pass to each other. Times are Unix ns of the rank's own host clock.

Arrays that describe runs have the shape (steps, items) or (steps, operators): one row per captured
step, one column per item (or operator) of the rank's program. -1 stands where an item has no such
moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ascend_ref.capture import Integers, Texts

from ..choices import Scenario
from ..draws import Draws
from ..faker import RunNames, run_names
from ..hardware.model import Machine
from ..program.model import Program
from .disturbance import Disturbances


@dataclass(frozen=True, slots=True)
class HostPlan:
    """How long the host is busy with each item; one value per item, ns, independent of switches.

    The framework thread spends ``before`` on an item (its share of the operator's work up to the
    moment at which the item is handed to the task queue) and ``after`` once it is handed over. The
    queue's consumer thread is then busy for ``occupied``; ``visible`` of these ns after it began,
    the device may see the task. Items that never go through the queue have ``occupied`` 0.
    """

    before: Integers
    after: Integers
    occupied: Integers
    visible: Integers


@dataclass(frozen=True, slots=True)
class HostTimes:
    """The host's side of one rank, arrays of shape (steps, items).

    begin: the framework thread turns to the item. handed: it puts it into the queue. left: it is
    done with it (for Synchronize and Prepare: the waiting or working is over). taken, done: the
    queue's consumer begins and ends it; -1 for items that do not pass the queue. ``taken`` to
    ``done`` is the plan's ``occupied``, longer or shorter by a factor of the run.
    seen: the device may start it.
    collections: start and end of garbage collections, shape (n, 2), all inside Prepare-like pauses
    of the framework thread before ``begin`` of some item.
    """

    begin: Integers
    handed: Integers
    left: Integers
    taken: Integers
    done: Integers
    seen: Integers
    collections: Integers


class Connections(NamedTuple):
    """The calls that tasks of a program's items point to, by connection or by row; NONE for none.

    launch: of the item's own task: the kernel (and the task around it), the copy, the wait of an
    Await, the tasks of a communication operator. The others are of communication operators alone.
    record: of the event that the compute stream records before. wait, record_after, record_future:
    of the wait for that event on the operator's own stream, and of the two events recorded there at
    the end, the second one for the framework's future.
    """

    launch: Integers
    record: Integers
    wait: Integers
    record_after: Integers
    record_future: Integers


@dataclass(frozen=True, slots=True)
class RankTimeline:
    """Everything that happened to one rank.

    step_numbers, step_starts, step_ends: the captured steps (ProfilerStep on the framework thread).
    session: start and end of the profiler's session, whole microseconds.
    variant: which variant of a Launch ran, shape (steps, items), 0 for other items.
    start, end: the device's side of each item: the kernel (a sub-task kernel without its enclosing
    task), the copy, the whole of a collective's tasks, the wait of an Await, the mark of an
    Annotate on the device; shape (steps, items).
    frequency: clock in force, MHz, one value per step.
    """

    rank: int
    stage: int
    device: int
    program: Program
    plan: HostPlan
    session: tuple[int, int]
    step_numbers: Integers
    step_starts: Integers
    step_ends: Integers
    host: HostTimes
    variant: Integers
    start: Integers
    end: Integers
    frequency: Integers

    @property
    def steps(self) -> int:
        """Number of captured steps."""
        return len(self.step_numbers)


@dataclass(frozen=True)
class Scene:
    """One rank's session as those see it who record it; ``texts`` grows by what they need."""

    scenario: Scenario
    seed: int
    machine: Machine
    timeline: RankTimeline
    texts: Texts

    @property
    def names(self) -> RunNames:
        """The names of the run."""
        return run_names(self.seed)

    @property
    def disturbances(self) -> Disturbances:
        """What the faults of the scenario change in the captured steps."""
        timeline, ranks = self.timeline, self.scenario.parallelism.ranks
        first = int(timeline.step_numbers[0])
        return Disturbances(self.scenario.faults, ranks, timeline.steps, first)

    def draws(self, *name: str) -> Draws:
        """Random numbers of the rank for one purpose."""
        return Draws(self.seed, *name, self.timeline.rank)
