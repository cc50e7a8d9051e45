"""A folder whose files were read into facts, whatever its medium."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

from .sqlite_facts import SqliteFacts


@dataclass
class FolderOfFacts:
    """What was read of a folder or a single file.

    ``numbers``: of its files, which is ``file`` in the facts, whose table ``file`` has the columns
    ``kind`` and ``device``. ``of_kinds``: tables whose rows are about files of the kind in their
    column ``of``. ``unreadable``: the first file that the system refused.
    """

    of_kinds: ClassVar[Collection[str]]

    facts: SqliteFacts
    path: Path
    label: str
    numbers: dict[Path, int] = field(default_factory=dict)
    unreadable: str | None = None

    @cached_property
    def files(self) -> Mapping[int, Path]:
        """Files by their number."""
        return {number: path for path, number in self.numbers.items()}

    def number(self, path: Path) -> int:
        """The number of a file."""
        return self.numbers.setdefault(path, len(self.numbers))

    def shown(self, path: Path) -> str:
        """How reports call a file of the folder."""
        if path == self.path:
            return self.label
        try:
            return str(Path(self.label) / path.relative_to(self.path))
        except ValueError:
            return str(path)

    def moved(self, copy: Path) -> Self:
        """The same with its files at another place, where they were copied to."""
        numbers = {copy / one.relative_to(self.path): own for one, own in self.numbers.items()}
        return replace(self, path=copy, numbers=numbers)
