"""What a sampler may look at."""

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
from ..world.timeline import Scene
from .grids import MICROSECOND
from .traffic import Curve, Traffic

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
