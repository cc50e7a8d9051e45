"""Random numbers that are the same on every platform: raw PCG64 bits, integer arithmetic."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import numpy.typing as npt

from ascend_ref.capture import Integers

BELL_UNIT = 37_837
"""Standard deviation of :meth:`Draws.bell`: sqrt(4 x 65536^2 / 12)."""


class Draws:
    """One named sub-stream of a seed. Drawing from one stream never moves another one."""

    def __init__(self, seed: int, *name: str | int) -> None:
        """Start the sub-stream; ``seed`` is not negative. ``name``: what it is for, which rank."""
        self._bits = np.random.PCG64([seed, *(_word(part) for part in name)])

    def raw(self, count: int) -> npt.NDArray[np.uint64]:
        """So many words of 64 random bits."""
        return self._bits.random_raw(count)

    def one(self, smallest: int, largest: int, step: int = 1) -> int:
        """An integer in ``smallest..largest`` at a whole number of steps above ``smallest``."""
        choices = (largest - smallest) // step + 1
        return smallest + step * (int(self._bits.random_raw()) % choices)

    def between(self, smallest: int, largest: int, count: int) -> Integers:
        """Integers in ``smallest..largest``, which lie less than 2^31 apart."""
        words = self.raw(count) >> np.uint64(32)
        spread = np.uint64(largest - smallest + 1)
        return smallest + ((words * spread) >> np.uint64(32)).astype(np.int64)

    def bell(self, count: int) -> Integers:
        """Bell-shaped integers around 0 with standard deviation :data:`BELL_UNIT`.

        The sum of four 16-bit numbers; never beyond 3.47 standard deviations.
        """
        words = self.raw(count)
        quarters: Integers = words.view(np.uint16).reshape(count, 4).sum(axis=1, dtype=np.int64)
        return quarters - 2 * 65_535

    def scaled(self, lengths: Integers, per_mille: int) -> Integers:
        """Lengths, each varied around its value by a standard deviation of so many per mille."""
        factors = self.bell(len(lengths)) * per_mille // (BELL_UNIT * 1000 // (1 << 20))
        return np.maximum(lengths + (lengths * factors >> 20), 0)


def _word(part: str | int) -> int:
    return part if isinstance(part, int) else crc32(part.encode())
