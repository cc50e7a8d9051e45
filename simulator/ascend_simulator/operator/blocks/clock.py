"""Cycles as microseconds."""

from __future__ import annotations

from ascend_ref.bin import canonical

from .numbers import single


class Clock:
    """A clock of so many MHz; texts are made once for each number of cycles."""

    def __init__(self, frequency: int) -> None:
        self._frequency = frequency
        self._texts: dict[int, bytes] = {}

    def microseconds(self, cycles: int) -> float:
        """In single precision, as the simulator has it."""
        return single(cycles / self._frequency)

    def text(self, cycles: int) -> bytes:
        """The same as JSON text."""
        found = self._texts.get(cycles)
        if found is None:
            found = self._texts[cycles] = canonical(self.microseconds(cycles))
        return found
