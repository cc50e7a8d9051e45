"""A program as columns, ready to be laid out in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers

from ..program.model import (
    COMPUTE_STREAM,
    Annotate,
    Await,
    Collective,
    Copy,
    Item,
    Kernel,
    Launch,
    Program,
    Synchronize,
)
from .timeline import HostPlan

HEAD_NS = 1_440
TAIL_NS = 300
"""What an enclosing FFTS+ task adds before and after its sub-tasks."""
EVENT_NS = 20
"""An EVENT_RECORD occupies its stream for one tick of the device's clock."""

GRAPH_KIND = "AI_CORE"
"""Task type of an FFTS+ task that holds a graph: of a compiled operator or a collective."""

Flags = npt.NDArray[np.bool_]


class Compiled:
    """Columns of a program. ``kinds`` holds every kernel once; ``first_kind`` and ``variants``
    state which of them a launch may run, ``load`` which launches draw together."""

    def __init__(self, program: Program, plan: HostPlan, kernel_gap: int = 0) -> None:
        """``kernel_gap``: ns for which the compute stream rests after a kernel."""
        self.program = program
        self.plan = plan
        self.kernel_gap = kernel_gap
        self.kinds: list[Kernel] = []
        items = program.items
        count = len(items)
        self.first_kind = np.full(count, -1, np.int64)
        self.variants = np.zeros(count, np.int64)
        self.copy_length = np.zeros(count, np.int64)
        self.load = np.zeros(count, np.int64)
        known: dict[tuple[int, ...], int] = {}
        for place, item in enumerate(items):
            if isinstance(item, Launch):
                group = tuple(map(id, item.variants))
                if group not in known:
                    known[group] = len(self.kinds)
                    self.kinds.extend(item.variants)
                self.first_kind[place] = known[group]
                self.variants[place] = len(item.variants)
                self.load[place] = item.load
            elif isinstance(item, Copy):
                self.copy_length[place] = item.duration

    def places(self, kind: type) -> Integers:
        """Places of the items of one kind."""
        return np.flatnonzero(self._flags(lambda item: isinstance(item, kind)))

    def _flags(self, chosen: Callable[[Item], bool]) -> Flags:
        return np.array([chosen(item) for item in self.program.items], bool)

    @cached_property
    def on_compute(self) -> Flags:
        """Items that take a place on the compute stream."""
        return self._flags(
            lambda item: (
                (isinstance(item, Launch) and item.stream == COMPUTE_STREAM)
                or isinstance(item, Copy | Collective | Await)
                or (isinstance(item, Annotate) and item.on_device)
            )
        )

    @cached_property
    def on_other(self) -> Flags:
        """Launches that are not on the compute stream."""
        return self._flags(lambda item: isinstance(item, Launch) and item.stream != COMPUTE_STREAM)

    @cached_property
    def meetings(self) -> list[int]:
        """Places of collectives, waits and synchronisations, where ranks or streams meet."""
        return np.flatnonzero(
            self._flags(lambda item: isinstance(item, Collective | Await | Synchronize))
        ).tolist()

    @cached_property
    def collectives(self) -> list[tuple[int, Collective]]:
        """Places and items of the communication operators, in order of launch."""
        return [
            (place, item)
            for place, item in enumerate(self.program.items)
            if isinstance(item, Collective)
        ]

    @cached_property
    def awaited(self) -> Integers:
        """For every Await the number of its collective, -1 for other items."""
        numbers = {place: number for number, (place, _) in enumerate(self.collectives)}
        return np.array(
            [numbers[item.item] if isinstance(item, Await) else -1 for item in self.program.items],
            np.int64,
        )

    def runs(self, kind: Integers, flags: Flags) -> Flags:
        """Which runs are of kernel kinds with a flag; ``kind``: row of kinds, -1 for none."""
        if not self.kinds:
            return np.zeros(kind.shape, bool)
        chosen: Flags = (kind >= 0) & flags[kind]
        return chosen

    @cached_property
    def from_host(self) -> Flags:
        """Copies from the host."""
        return self._flags(
            lambda item: isinstance(item, Copy) and item.operation == "host to device"
        )

    @cached_property
    def families(self) -> list[tuple[Collective, Integers]]:
        """Collectives that differ in nothing but their place, with their numbers in the program."""
        found: dict[object, list[int]] = {}
        for number, (_, item) in enumerate(self.collectives):
            found.setdefault(replace(item, operator=0, tag=0), []).append(number)
        return [
            (self.collectives[numbers[0]][1], np.array(numbers, np.int64))
            for numbers in found.values()
        ]

    def kernel_column(self, name: str) -> Integers:
        """One number of every kernel kind."""
        return np.array([int(getattr(kernel, name)) for kernel in self.kinds], np.int64)

    @cached_property
    def enclosed(self) -> Flags:
        """Kernel kinds that run inside an FFTS+ task."""
        return np.array([kernel.subtask for kernel in self.kinds], bool)

    @cached_property
    def enclosing(self) -> list[str]:
        """Task type of the FFTS+ task around every kernel kind that runs inside one.

        Where a compiled graph holds the kernel, that of a graph (db-schema.md 7.3).
        """
        return [
            GRAPH_KIND if kernel.task_type.startswith("MIX_") else kernel.task_type
            for kernel in self.kinds
        ]

    @cached_property
    def rests(self) -> Flags:
        """Kernel kinds after which the compute stream rests: all but those inside of a graph."""
        of_graph = np.array([kind == GRAPH_KIND for kind in self.enclosing], bool)
        flags: Flags = ~(self.enclosed & of_graph)
        return flags

    @cached_property
    def on_ai_cpu(self) -> Flags:
        """Kernel kinds of the AI CPU."""
        return np.array([kernel.core == "AI_CPU" for kernel in self.kinds], bool)
