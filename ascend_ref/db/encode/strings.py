"""The three id spaces of STRING_IDS (db-schema.md 4.6)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ascend_ref.capture import Integers, Texts
from ascend_ref.capture.model import NONE
from ascend_spec import catalog

from ..carrier import FRAMEWORK_STRINGS

CANN = 0
FRAMEWORK = FRAMEWORK_STRINGS
MEMORY = 2 * FRAMEWORK_STRINGS
"""First ids of the three spaces."""

UNKNOWN = -2
FIRST_ROWS, CHUNK_ROWS = 1 << 10, 1 << 16
"""Rows translated at once: the first ones know nearly all texts, the others stay in the cache."""


class StringIds:
    """Gives the texts that are really used their ids: each space without holes and repetitions.

    Ids follow the order of first use, so they do not depend on the numbers of the texts.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._empty = texts.number("")
        self._spaces: dict[int, _Space] = {}

    def ids(self, numbers: Integers, space: int) -> Integers:
        """Ids of a column of text numbers; NONE stays NONE."""
        if space not in self._spaces:
            self._spaces[space] = _Space(space, self._texts, self._empty)
        return self._spaces[space].ids(numbers)

    def columns(self) -> dict[str, npt.NDArray[np.int64] | pa.Array]:
        """The columns of STRING_IDS."""
        used = [self._spaces[space] for space in sorted(self._spaces)]
        values = self._texts.all
        numbers = [number for space in used for number in space.used]
        ids = [space.base + np.arange(len(space.used)) for space in used]
        return {
            "id": np.concatenate([np.empty(0, np.int64), *ids]),
            "value": pa.array([values[number] for number in numbers], pa.large_string()),
        }


class _Space:
    def __init__(self, base: int, texts: Texts, empty: int) -> None:
        self.base = base
        self.used: list[int] = []
        self._texts = texts
        self._empty = empty
        self._table = np.array([NONE])
        self._first = np.empty(1, np.int64)

    def ids(self, numbers: Integers) -> Integers:
        self._grow()
        ids = np.empty(len(numbers), np.int64)
        inner = (FIRST_ROWS, *range(CHUNK_ROWS, len(numbers), CHUNK_ROWS))
        bounds = [0, *(bound for bound in inner if bound < len(numbers)), len(numbers)]
        for begin, end in pairwise(bounds):
            chunk, found = numbers[begin:end], ids[begin:end]
            self._table.take(chunk, out=found, mode="wrap")
            pending = np.flatnonzero(found == UNKNOWN)
            if pending.size:
                self._add(chunk[pending])
                found[pending] = self._table[chunk[pending]]
        return ids

    def _add(self, numbers: Integers) -> None:
        """Ids for these texts, in order of first use."""
        rows = np.arange(len(numbers))
        # Of repeated indices the last assignment stays: here the first use.
        self._first[numbers[::-1]] = rows[::-1]
        fresh = numbers[self._first[numbers] == rows]
        self._table[fresh] = self.base + len(self.used) + np.arange(fresh.size)
        self.used.extend(fresh.tolist())

    def _grow(self) -> None:
        """One entry for each text, and the last one for NONE, which is index -1."""
        missing = len(self._texts) + 1 - len(self._table)
        if missing:
            known = self._table[:-1]
            self._first = np.empty(len(self._texts) + 1, np.int64)
            self._table = np.concatenate([known, np.full(missing, UNKNOWN), [NONE]])
            if self.base != CANN:
                # The framework's exporter has no id for the empty text (db-schema.md 4.4).
                (self._table[self._empty],) = catalog().tables["PYTORCH_API"].columns["name"].none
