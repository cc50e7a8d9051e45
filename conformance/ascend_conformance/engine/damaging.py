"""What a rule's break does to files: the cells, rows and files that are others afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from ..finding import Scalar

MOST_LISTED = 1_000
"""Changes that are recorded one by one; a break of every row of a large file has millions."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that is another now, or a row or file that came or is gone.

    ``file``: its path. ``where``: the row, as its medium names it.
    ``before`` and ``after`` are ``None`` where there is no such value.
    """

    file: str
    where: str
    column: str | None = None
    before: Scalar = None
    after: Scalar = None

    @property
    def words(self) -> str:
        """The change for people."""
        if self.column is None:
            return f"{self.file}, {self.where}"
        return f"{self.file}, {self.where}: {self.column} {self.before!r} -> {self.after!r}"
