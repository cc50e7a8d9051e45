"""Which records of the log are the start and the end of one execution of an operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Known:
    """Starts and ends of tasks whose operator is known, in order. ``key``: of the task."""

    operator: Integers
    is_start: npt.NDArray[np.bool_]
    key: Integers
    stream: Integers
    tick: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.operator)

    def at(self, places: npt.NDArray[np.integer | np.bool_]) -> Known:
        """Those at these places."""
        return Known(*(getattr(self, one.name)[places] for one in fields(self)))

    def behind(self, first: Known) -> Known:
        """The records of another behind which these stand, and these."""
        if not len(first):
            return self
        pairs = ((getattr(first, one.name), getattr(self, one.name)) for one in fields(self))
        return Known(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, slots=True)
class Executions:
    """Executions of operators in order: the record of their start, and that of their end."""

    start: Known
    end: Known

    def __len__(self) -> int:
        return len(self.start)


class Pairing(Protocol):
    """Takes records block by block, and gives the executions that end in each."""

    def __call__(self, block: Known, /) -> Executions:
        """The executions that end in the block."""


class Adjacent:
    """A start and an end of one operator that directly follow each other."""

    def __init__(self) -> None:
        self._last: Known | None = None

    def __call__(self, block: Known) -> Executions:
        """The executions that end in the block."""
        every = block if self._last is None else block.behind(self._last)
        if len(every):
            self._last = every.at(np.array([len(every) - 1]))
        follows = every.is_start[:-1] & ~every.is_start[1:]
        follows &= every.operator[:-1] == every.operator[1:]
        places = np.flatnonzero(follows)
        return Executions(every.at(places), every.at(places + 1))


class LastStart:
    """An end and the last start of its operator that has no end yet."""

    def __init__(self) -> None:
        self._open: Known | None = None

    def __call__(self, block: Known) -> Executions:
        """The executions that end in the block."""
        every = block if self._open is None else block.behind(self._open)
        order = np.argsort(every.operator, kind="stable")
        operator, is_start = every.operator[order], every.is_start[order]
        same = operator[:-1] == operator[1:]
        ends = np.flatnonzero(same & is_start[:-1] & ~is_start[1:]) + 1
        is_last = np.append(~same, True)[: len(every)]
        self._open = every.at(order[is_last & is_start])
        ends = ends[np.argsort(order[ends], kind="stable")]
        return Executions(every.at(order[ends - 1]), every.at(order[ends]))


def pairing(way: str) -> Pairing:
    """The pairing of a way of ``execution``."""
    return Adjacent() if way == "adjacent" else LastStart()


def executions(blocks: Iterator[Known], way: str) -> Iterator[Executions]:
    """The executions of blocks, in the order of their ends."""
    pair = pairing(way)
    for block in blocks:
        yield pair(block)
