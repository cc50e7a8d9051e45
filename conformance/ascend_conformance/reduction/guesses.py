"""What of a profile is likely to show a finding: the rows that it points at, and what is near."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .items import Items
from .reducible import Flags, Integers
from .surroundings import Surroundings

WIDER = (4, 32, 256, 2048)
"""Groups before and behind a seed that are guessed to be enough."""


class Guesses:
    """Copies of a profile by what findings on it point at: ``seeds``, rows, and their files."""

    def __init__(
        self, items: Items, surroundings: Surroundings, seeds: Integers, files: Integers
    ) -> None:
        self._items, self._surroundings = items, surroundings
        self._seeds = seeds
        self._every = np.arange(len(items.files))
        is_some = 0 < len(files) < len(self._every)
        self._chosen = (files, self._every) if is_some else (self._every,)

    def small(self) -> Iterator[Flags]:
        """Rows of the findings and what these refer to, of their files and of all, with the rows
        that describe all others.
        """
        for files in self._chosen if len(self._seeds) else ():
            yield self._guess(files, self._seeds, is_described=False)
            yield self._guess(files, self._surroundings.near(self._seeds), is_described=False)
            yield self._guess(files, self._seeds)
            yield self._guess(files, self._surroundings.around(self._seeds))

    def wider(self) -> Iterator[Flags]:
        """Ever more of what comes before and behind, and whole files."""
        for width in WIDER if len(self._seeds) else ():
            yield self._guess(self._every, self._surroundings.around(self._seeds, width))
        for files in self._chosen[:-1]:
            yield self._with_files(files)

    def _guess(self, files: Integers, rows: Integers, *, is_described: bool = True) -> Flags:
        holder = self._items.holder
        found = self._with_files(np.union1d(files, holder[holder[rows]]))
        is_there = found.copy()
        found[self._items.is_row] = False
        if is_described:
            described = self._items.describing
            found[described] = is_there[described]
        return self._items.with_rows(found, rows)

    def _with_files(self, files: Integers) -> Flags:
        found = np.ones(self._items.count, np.bool_)
        found[: len(self._items.files)] = False
        found[files] = True
        return self._items.whole(found)
