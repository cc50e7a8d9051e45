"""What the side files of a capture state about its clocks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from ascend_spec.core.packed import ClockName

from .clocks import (
    CLOCKS,
    UNIX,
    Clock,
    device_clock,
    host_clock,
    monotonic_clock,
    sampling_clock,
    since_start,
)

MICROSECOND = 1_000
"""ns: side files state times in whole ones."""


class Clocks(NamedTuple):
    """The clocks of a capture: those of the host, and those that every device has."""

    host: Clock
    monotonic: Clock
    device: Clock
    sampling: Clock
    since_start: Clock
    unix: Clock = UNIX

    def by_name(self, name: ClockName) -> Clock:
        """The clock that the spec calls so."""
        clock: Clock = getattr(self, CLOCKS[name])
        return clock


@dataclass(frozen=True, slots=True)
class Moments:
    """Frequencies of the counters, and what every clock showed at one moment (raw-prof 3.3, 3.4).

    host_frequency, device_frequency: MHz; 1000 of the host means that its records hold ns of the
    monotonic clock. monotonic: of the host at the start of the collection, ns, a whole number of µs
    (erratum U12). counted: ns from there until the counters were read. host_counter,
    device_counter: ticks then. device_monotonic: the device's own clock then, ns.
    """

    host_frequency: Fraction = Fraction(100)
    device_frequency: Fraction = Fraction(50)
    monotonic: int = 173_856_219_092_000
    counted: int = 100_000
    host_counter: int = 17_385_621_919_200
    device_counter: int = 3_000_000_000
    device_monotonic: int = 60_000_000_000

    def clocks(self, start: int) -> Clocks:
        """The clocks of a collection that began at a Unix time, which is stated in whole µs."""
        base = beginning(start) - self.monotonic
        paired = self.monotonic + self.counted
        return Clocks(
            host_clock(base, self.host_frequency, paired, self.host_counter, 0),
            monotonic_clock(base),
            device_clock(base, self.device_frequency, Fraction(paired), self.device_counter),
            sampling_clock(base, Fraction(paired), self.device_monotonic),
            since_start(base, Fraction(paired)),
        )


def beginning(start: int) -> int:
    """The beginning of a collection as side files state it."""
    return start // MICROSECOND * MICROSECOND


MOMENTS = Moments()
"""Those of the simulated machines."""
