"""What the side files of a capture state about its clocks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


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
    counted: int = 5_000_000
    host_counter: int = 17_385_622_409_200
    device_counter: int = 3_000_000_000
    device_monotonic: int = 60_000_000_000


MOMENTS = Moments()
"""Those of the simulated machines."""
