"""A file of a profile, and what of it can be left out."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Integers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

SMALL = 10
"""Rows of a part that are all taken to describe the others."""

NEVER = np.iinfo(np.int64).max
"""The time of a row that has none."""


class Seed(NamedTuple):
    """Where a finding points: a file of the profile, a table of it, and a rowid or byte."""

    file: Path
    part: str | None
    place: int | None


class Tie(NamedTuple):
    """Rows of a file that show one value of a kind each: rows with equal values belong together.

    What is no number stands as its hash.
    """

    kind: str
    rows: Integers
    values: Integers


def tie(kind: str, rows: Sequence[int] | Integers, values: Iterable[Any]) -> Tie:
    """Rows of a file with their values of a kind."""
    return Tie(kind, np.array(rows, np.int64), np.array([hash(one) for one in values], np.int64))


def tie_of_times(times: Integers) -> Tie:
    """Rows of a file with their times, those that have one."""
    rows = np.flatnonzero(times != NEVER)
    return Tie("time", rows, times[rows])


class Reducible:
    """A file that is left out as a whole, unless a kind of file knows of its rows.

    ``parts``: names of what its rows are in (tables, lanes); ``part``: for each row which of them
    it is in.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: Sequence[str] = ()
        self.part: Integers = np.empty(0, np.int64)

    @property
    def labels(self) -> Sequence[Sequence[str]]:
        """What findings call the parts."""
        return [(part,) for part in self.parts]

    @property
    def times(self) -> Integers:
        """For each row its time in ns, or :data:`NEVER`."""
        return np.full(len(self.part), NEVER)

    @property
    def ties(self) -> Sequence[Tie]:
        """What ties rows to those of this file and of others."""
        return ()

    @property
    def metadata(self) -> Integers:
        """The rows that say nothing of what was recorded, but what others mean: texts, names."""
        return np.empty(0, np.int64)

    @property
    def later_times(self) -> Sequence[Tie]:
        """Times that rows show besides their first: there others may be that they need."""
        return ()

    def write(self, target: Path, parts: Flags, rows: Flags) -> None:
        """Write the file with these parts and rows of it only. Raises ``OSError``."""
        shutil.copyfile(self.path, target)

    def keep(self, written: Path | None, parts: Flags, rows: Flags) -> None:
        """Of what was written, further files may be written from now on, and of no other one."""

    def row_at(self, written: Path, rows: Flags, part: str | None, place: int) -> int | None:
        """The row that a finding on a file that was written with some rows names by its part and
        rowid, or by its byte.
        """
        return None

    @property
    def describing(self) -> Integers:
        """The rows that are likely to describe the others: those of small parts."""
        if not len(self.part):
            return np.empty(0, np.int64)
        return np.flatnonzero(np.bincount(self.part)[self.part] <= SMALL)

    def needed_by(self, rows: Integers) -> Iterable[int]:
        """Rows that others refer to by a key."""
        return ()
