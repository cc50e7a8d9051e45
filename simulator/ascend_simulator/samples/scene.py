"""What a sampler may look at, and the moments at which it reads its counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers

from ..draws import Draws
from ..memory import Footprint
from ..world.timeline import RankTimeline, Scene
from .traffic import Curve, Traffic

MICROSECOND = 1_000
SECOND = 1_000_000_000
FIRST_US = (1_200, 2_800)
"""From the start of the session to the first sample (real ones: 1.6 to 2.6 ms)."""
LAST_US = (200, 1_000)
LATE_US = 3
"""Samplers are late by up to so much."""


@dataclass(frozen=True, slots=True)
class Window:
    """Start and end of a session, and what part of it moved data; ns.

    Samplers read before the first motion and after the last one, so that no Byte goes unseen.
    """

    start: int
    end: int
    busy_from: int
    busy_until: int

    @classmethod
    def of(cls, timeline: RankTimeline, traffic: Traffic) -> Window:
        """The window of a rank's session."""
        start, end = timeline.session
        flows = [flow for flow in traffic.flows().values() if len(flow)]
        firsts = [timeline.step_starts[0], *(flow.start.min() for flow in flows)]
        lasts = [timeline.end.max(), timeline.step_ends[-1], *(flow.end.max() for flow in flows)]
        return cls(start, end, max(int(min(firsts)), start), min(int(max(lasts)), end))


def regular(window: Window, period: int, draws: Draws) -> Integers:
    """Samples at a fixed period, a little late each, and a last one close to the session's end.

    Whole microseconds from the start of the session on, ascending, at least one.
    """
    latest = min(window.busy_from, window.start + (window.end - window.start) // 4) - window.start
    first = min(draws.one(*FIRST_US), latest // MICROSECOND) * MICROSECOND
    close = window.end - window.start - draws.one(*LAST_US) * MICROSECOND
    until = -((window.start - window.busy_until) // MICROSECOND) * MICROSECOND
    last = min(max(close, until, first), window.end - window.start)
    count = max(last - period // 8 - first, 0) // period + 1
    times = first + np.arange(count, dtype=np.int64) * period
    times[1:] += draws.between(0, LATE_US, count - 1) * MICROSECOND
    times = times[times < last]
    return window.start + np.append(times, last)


def period_of(frequency: int) -> int:
    """ns between the samples of a frequency in samples per second; whole microseconds."""
    return max(SECOND // frequency // MICROSECOND, 1) * MICROSECOND


def kept(times: Integers, table: str, scene: Scene) -> npt.NDArray[np.bool_]:
    """Which samples faults leave; the next one after a gap covers it, as it reads counters."""
    timeline, found = scene.timeline, np.ones(len(times), bool)
    for fault, first, last in scene.disturbances.hits("lost-samples", timeline.rank):
        if fault.sampler == table:
            begin, end = timeline.step_starts[first], timeline.step_ends[last]
            found &= (times < begin) | (times >= end)
    return found


Columns: TypeAlias = dict[str, npt.NDArray[Any]]
MEBI = 1 << 20
MILLION = 1_000_000


@dataclass(frozen=True)
class DeviceScene(Scene):
    """One rank's device during the session, and the moments at which each sampler reads it.

    traffic: what the device moved. grids: by table, ascending moments. Noise comes from a stream of
    each sampler's own, so that none changes what another one sees.
    """

    footprint: Footprint
    traffic: Traffic
    grids: Mapping[str, Integers] = field(default_factory=dict)
    _curves: dict[str, Curve] = field(default_factory=dict)

    @cached_property
    def moments(self) -> Integers:
        """Every moment of the grids, ascending."""
        return np.unique(np.concatenate([*self.grids.values(), np.empty(0, np.int64)]))

    def noise(self, table: str) -> Draws:
        """The noise of a table."""
        return self.draws("noise", table)

    def curve(self, flow: str) -> Curve:
        """What a flow of :class:`Traffic` moved until the moments of the grids."""
        if flow not in self._curves:
            self._curves[flow] = Curve(self.traffic.flows()[flow], self.moments)
        return self._curves[flow]

    def read(self, grid: Integers, *flows: str) -> Integers:
        """Byte that flows read or received between neighbouring moments of a grid."""
        return np.diff(sum((self.curve(flow).read(grid) for flow in flows), np.int64(0)))

    def written(self, grid: Integers, *flows: str) -> Integers:
        """Byte that flows wrote or sent between neighbouring moments of a grid."""
        return np.diff(sum((self.curve(flow).written(grid) for flow in flows), np.int64(0)))

    def memory_read(self, grid: Integers) -> Integers:
        """Byte that left the device's memory, what links sent included."""
        return self.read(grid, "memory") + self.written(grid, *LINKS)

    def memory_written(self, grid: Integers) -> Integers:
        """Byte that went into the device's memory, what links received included."""
        return self.written(grid, "memory") + self.read(grid, *LINKS)


LINKS = ("hccs", "sio", "roce", "pcie")


def per_second(amount: Integers, grid: Integers) -> Integers:
    """Amounts between the moments of a grid as whole numbers per second."""
    rates: Integers = amount * MILLION // (np.diff(grid) // MICROSECOND)
    return rates
