"""The clocks of a capture, and what their numbers are as Unix time (raw-prof 3.5).

All of it is exact: frequencies are the decimal numbers that the side files have, and a time is
rounded once, to the nearest nanosecond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ascend_spec.core.packed import ClockName

Times = npt.NDArray[np.int64]

LIMIT = 1 << 62
"""No clock shows a greater number, nor is any time that far from 1970."""

OUT_OF_RANGE = np.iinfo(np.int64).min
"""What stands for the time of a number that no clock shows."""

DEFAULT_FREQUENCY = Fraction(1000)
"""MHz at which the host's records hold nanoseconds of its monotonic clock."""


@dataclass(frozen=True, slots=True)
class Clock:
    """``at`` ticks are the Unix time ``ns``; each tick takes ``step`` ns."""

    at: int
    ns: Fraction
    step: Fraction

    def times(self, ticks: npt.NDArray[np.unsignedinteger] | Times) -> Times:
        """Unix times of ticks, :data:`OUT_OF_RANGE` where there is none."""
        right = ticks < LIMIT
        since = np.where(right, ticks, 0).astype(np.int64) - self.at
        found, fits = _scaled(since, self.step, self.ns)
        return np.where(right & fits, found, OUT_OF_RANGE)

    def ticks(self, times: Times) -> Times:
        """The ticks nearest to Unix times, :data:`OUT_OF_RANGE` where there are none."""
        found, fits = _scaled(times, 1 / self.step, self.at - self.ns / self.step)
        return np.where(fits & (found >= 0), found, OUT_OF_RANGE)


def _scaled(
    numbers: Times, factor: Fraction, offset: Fraction
) -> tuple[Times, npt.NDArray[np.bool_]]:
    """``numbers * factor + offset`` to the nearest whole number, and which of them fit.

    Whole turns of the denominator are taken out first, so that no product exceeds 64 bits.
    """
    # round(n * a / b + c / d) = floor((2 d a n + 2 b c + b d) / (2 b d))
    bottom = 2 * factor.denominator * offset.denominator
    top = 2 * offset.denominator * factor.numerator
    added = 2 * factor.denominator * offset.numerator + factor.denominator * offset.denominator
    if bottom * top >= LIMIT or not -LIMIT < added // bottom < LIMIT:
        exact = [(top * int(one) + added) // bottom for one in numbers.tolist()]
        fits = np.array([-LIMIT < one < LIMIT for one in exact], np.bool_)
        return np.array([one if -LIMIT < one < LIMIT else 0 for one in exact], np.int64), fits
    turns, rest = np.divmod(numbers, bottom)
    fits = np.abs(turns) < LIMIT // max(top, 1)
    whole = np.where(fits, turns, 0) * top
    inner = (rest * top + added % bottom) // bottom
    fits &= np.abs(whole) < LIMIT
    return np.where(fits, whole, 0) + inner + added // bottom, fits


UNIX = Clock(0, Fraction(0), Fraction(1))
"""Unix time in ns, by which records of layout 2.0 have theirs."""

CLOCKS: Mapping[ClockName, str] = {
    "host-counter": "host",
    "host-monotonic": "monotonic",
    "device-counter": "device",
    "device-monotonic": "sampling",
    "device-start": "since_start",
    "unix": "unix",
}
"""What side files call the clocks of the spec."""


def host_clock(
    base: int, frequency: Fraction, monotonic: int, counter: int, difference: int
) -> Clock:
    """The host's counter.

    ``base``: Unix time at which the monotonic clock was 0, in ns. ``monotonic``, ``counter`` and
    ``difference`` as in ``host_start.log``.
    """
    if frequency == DEFAULT_FREQUENCY:
        return monotonic_clock(base)
    step = Fraction(1000) / frequency
    return Clock(counter, base + monotonic + difference * step, step)


def monotonic_clock(base: int) -> Clock:
    """The host's monotonic clock in ns."""
    return Clock(0, Fraction(base), Fraction(1))


def device_clock(base: int, frequency: Fraction, monotonic: Fraction, counter: int) -> Clock:
    """The device's counter; ``monotonic``: the host's clock when the counter was ``counter``."""
    return Clock(counter, base + monotonic, Fraction(1000) / frequency)


def sampling_clock(base: int, monotonic: Fraction, device_monotonic: int) -> Clock:
    """The device's monotonic clock in ns."""
    return Clock(device_monotonic, base + monotonic, Fraction(1))


def since_start(base: int, monotonic: Fraction) -> Clock:
    """Microseconds since the device started."""
    return Clock(0, base + monotonic, Fraction(1000))
