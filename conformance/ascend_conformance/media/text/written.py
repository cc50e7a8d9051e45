"""What a change of the facts is in the files: the bytes to replace, and a record of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ascend_ref.db.display import clip, printable

from ...engine.damaging import MOST_LISTED, Change
from ...finding import Scalar
from .folder import Folder
from .splices import Splice, rewrite

Row: TypeAlias = Mapping[str, Any]

Pair: TypeAlias = tuple[list[Row], list[Row]]
"""The rows of one place before and after, only those that differ."""


Rows: TypeAlias = Mapping[tuple[int, int], Pair]
"""By file and row."""

_SHOWN = 200
"""Characters of a value."""


@dataclass
class Written:
    """What is to be written: bytes by file, and files that go."""

    changes: list[Change] = field(default_factory=list)
    splices: dict[int, list[Splice]] = field(default_factory=lambda: defaultdict(list))
    gone: list[int] = field(default_factory=list)

    def note(self, change: Change) -> None:
        """Record a change, one of the first."""
        if len(self.changes) < MOST_LISTED:
            self.changes.append(change)

    def write(self, folder: Folder) -> None:
        """Carry everything out. Raises ``OSError``."""
        for file in self.gone:
            folder.files[file].path.unlink()
        for file, splices in self.splices.items():
            if file not in self.gone:
                rewrite(folder.files[file].path, splices)


def change_of(file: str, where: str, column: str, before: Any, after: Any) -> Change:
    """The record of a value that is another now."""
    return Change(file, where, column, _scalar(before), _scalar(after))


def _scalar(value: Any) -> Scalar:
    if isinstance(value, str):
        return clip(printable(value), _SHOWN)
    return value if isinstance(value, (int, float)) or value is None else str(value)
