"""What is wrong with a raw file, and where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

MOST_PLACES = 100
"""Of the damage of files of one kind that are stated each."""


class Unreadable(ValueError):
    """What was named is no raw file and no folder of raw files."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that cannot be read; the rest of the file is.

    ``offset``: the byte in the file where it begins; ``None`` where it is no place. ``kind``: what
    the spec calls the file, where ``file`` is the folder with all slices of it.
    """

    file: Path
    message: str
    offset: int | None = None
    kind: str | None = None

    def __str__(self) -> str:
        place = "" if self.offset is None else f"byte {self.offset:,}: "
        return f"{self.file}: {place}{self.message}"


class Damaged(Protocol):
    """Takes damage, as a list does."""

    def append(self, one: Damage, /) -> None:
        """Take one."""


class _Few:
    """Hands over the first of many; ``left``: how many more there were, ``last``: of these."""

    def __init__(self, damage: Damaged) -> None:
        self._damage = damage
        self._stated = 0
        self.left = 0
        self.last: Damage | None = None

    def append(self, one: Damage) -> None:
        self._stated += 1
        if self._stated <= MOST_PLACES:
            self._damage.append(one)
        else:
            self.left, self.last = self.left + 1, one


@contextmanager
def few(damage: Damaged) -> Iterator[Damaged]:
    """Takes any number of damages, of files of one kind: the first are stated each, of the others
    the last and how many there are.
    """
    taken = _Few(damage)
    yield taken
    if taken.last is not None:
        more = f"; {taken.left - 1:,} more before it are not listed" if taken.left > 1 else ""
        damage.append(replace(taken.last, message=taken.last.message + more))
