"""Random numbers that are the same on every platform: raw PCG64 bits, integer arithmetic."""

from __future__ import annotations

from zlib import crc32

import numpy as np


class Draws:
    """One named sub-stream of a seed. Drawing from one stream never moves another one."""

    def __init__(self, seed: int, name: str) -> None:
        """Start the sub-stream; ``seed`` is not negative."""
        self._bits = np.random.PCG64([seed, crc32(name.encode())])

    def between(self, smallest: int, largest: int, step: int = 1) -> int:
        """An integer in ``smallest..largest`` at a whole number of steps above ``smallest``."""
        choices = (largest - smallest) // step + 1
        return smallest + step * (int(self._bits.random_raw()) % choices)
