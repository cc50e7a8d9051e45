"""The slices of a kind of raw files. A folder may have a million, so they are kept as numbers."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

AGING = "aging"
Parts: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """One file of a kind. ``number`` is its place among the slices, 0 where there are none.

    ``parts``: the other changing parts of its name, as ageing, group, core and process. Only files
    that agree in them follow each other.
    """

    path: Path
    number: int
    parts: Parts


class _Named(NamedTuple):
    """What files are called that differ in their number alone; ``None`` in place of the text behind
    it where the number is no part of the name.
    """

    stem: str
    is_numbered: bool
    parts: Parts

    def at(self, number: int) -> Slice:
        name = f"{self.stem}{number}" if self.is_numbered else self.stem
        return Slice(Path(name), number, self.parts)


class Slices(Sequence[Slice]):
    """Slices in the order in which they belong together."""

    def __init__(
        self,
        names: Sequence[_Named],
        named: npt.NDArray[np.int32],
        numbers: npt.NDArray[np.int64],
    ) -> None:
        self._names = names
        self._named = named
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> Slice: ...

    @overload
    def __getitem__(self, place: slice) -> Slices: ...

    def __getitem__(self, place: int | slice) -> Slice | Slices:
        if isinstance(place, slice):
            return Slices(self._names, self._named[place], self._numbers[place])
        name: _Named = self._names[int(self._named[place])]
        return name.at(int(self._numbers[place]))

    def runs(self) -> Iterator[tuple[Parts, Slices]]:
        """The slices that agree in the changing parts of their names, with these parts."""
        every = list(dict.fromkeys(one.parts for one in self._names))
        parts = np.array([every.index(one.parts) for one in self._names], np.int32)[self._named]
        ends = [*(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(self)]
        for start, end in zip([0, *ends], ends, strict=False):
            yield every[parts[start]], self[start:end]


class Gathered:
    """Slices of a kind as they are found, in any order."""

    def __init__(self) -> None:
        self._names: dict[_Named, int] = {}
        self._named = array("i")
        self._numbers = array("q")

    def add(self, folder: str, stem: str, text: str, parts: Parts) -> None:
        """Add the file of a folder whose name is a stem, and behind it the text of its number."""
        number = int(text or 0)
        is_numbered = text == str(number)
        place = os.path.join(folder, stem if is_numbered else f"{stem}{text}")
        name = _Named(place, is_numbered, parts)
        self._named.append(self._names.setdefault(name, len(self._names)))
        self._numbers.append(number)

    def ordered(self) -> Slices:
        """All of them: exporters read what is kept before what may be dropped (raw-prof 2)."""
        names = list(self._names)
        named, numbers = np.asarray(self._named), np.asarray(self._numbers)
        ranks = {one: place for place, one in enumerate(sorted(names, key=_order))}
        ranked = np.array([ranks[one] for one in names], np.int32)[named]
        parts = sorted({one.parts for one in names}, key=_age)
        first = np.array([parts.index(one.parts) for one in names], np.int32)[named]
        order = np.lexsort((ranked, numbers, first))
        return Slices(names, named[order], numbers[order])


def _order(one: _Named) -> tuple[str, str]:
    return os.path.basename(one.stem), one.stem


def _age(parts: Parts) -> list[tuple[bool, str]]:
    return [(text == AGING, text) for _, text in parts]
