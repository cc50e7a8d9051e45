"""What a sampler may look at."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers, Texts

from ..draws import Draws
from ..hardware.model import Machine
from ..memory import Footprint
from ..world.timeline import RankTimeline
from .grids import MICROSECOND
from .traffic import Curve, Traffic

Columns: TypeAlias = dict[str, npt.NDArray[Any]]
MEBI = 1 << 20
MILLION = 1_000_000


class Scene:
    """One rank's device during the session, and the moments at which each sampler reads it.

    grids: by table, ascending moments. Noise comes from a stream of each sampler's own, so that
    none changes what another one sees.
    """

    def __init__(
        self,
        timeline: RankTimeline,
        machine: Machine,
        traffic: Traffic,
        footprint: Footprint,
        texts: Texts,
        seed: int,
        grids: Mapping[str, Integers],
    ) -> None:
        self.timeline = timeline
        self.machine = machine
        self.footprint = footprint
        self.texts = texts
        self.grids = grids
        self._traffic = traffic
        self._seed = seed
        self._curves: dict[str, Curve] = {}

    @cached_property
    def moments(self) -> Integers:
        """Every moment of the grids, ascending."""
        return np.unique(np.concatenate([*self.grids.values(), np.empty(0, np.int64)]))

    def draws(self, table: str) -> Draws:
        """The noise of a table."""
        return Draws(self._seed, "noise", table, self.timeline.rank)

    def curve(self, flow: str) -> Curve:
        """What a flow of :class:`Traffic` moved until the moments of the grids."""
        if flow not in self._curves:
            self._curves[flow] = Curve(self._traffic.flows()[flow], self.moments)
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
