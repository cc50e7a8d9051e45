"""The texts of a capture; columns hold their numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .batch import Integers


class Texts:
    """Numbers texts from 0 in order of first use. Equal texts have one number."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._numbers: dict[str, int] = {}
        for text in texts:
            self.number(text)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> str:
        return self.all[number]

    def copy(self) -> Texts:
        """The same texts with the same numbers, to add others to."""
        copied = Texts()
        copied._numbers.update(self._numbers)
        return copied

    @property
    def all(self) -> list[str]:
        """Every text, at the place of its number."""
        return list(self._numbers)

    def number(self, text: str) -> int:
        """The number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def numbers(self, texts: Iterable[str]) -> Integers:
        """The numbers of several texts, in their order."""
        return np.array([self.number(text) for text in texts], np.int64)
