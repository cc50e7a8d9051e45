"""What there is to judge: files, and folders of files that are judged together."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ascend_ref.atomic import is_hidden
from ascend_ref.db.display import show_path
from ascend_spec import layout_catalog
from ascend_spec.layout import Match

AnyFact = TypeVar("AnyFact")


def _unchanged(details: Any) -> Any:  # of a module, for other processes
    return details


@dataclass(frozen=True, slots=True)
class Candidate:
    """One file, or files of one folder that are judged together, for one medium.

    ``named`` is how reports call it, where that is not its path. ``files`` are those that it
    consists of; none: its path. ``details`` is what the medium must know of it, such as the files
    next to it; with ``absolute`` that is made independent of the working directory.
    """

    medium: str
    path: Path
    named: Path | None = None
    files: tuple[Path, ...] = ()
    details: Any = None
    absolute: Callable[[Any], Any] = _unchanged

    @property
    def label(self) -> str:
        """What reports call it."""
        return show_path(self.named or self.path)

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(map(size_of, self.files or (self.path,)))

    def anywhere(self) -> Candidate:
        """The same candidate, with paths that do not depend on the working directory."""
        return replace(
            self,
            path=self.path.absolute(),
            named=self.named or self.path,
            files=tuple(path.absolute() for path in self.files),
            details=self.absolute(self.details),
        )


def size_of(path: Path) -> int:
    """Bytes of a file; 0 for one that cannot be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


class Listing:
    """The files of a folder, listed once however many of them, or of folders in it, are judged."""

    def __init__(self, folder: Path, above: Listing | None = None) -> None:
        self.folder = folder
        self._above = above
        self._facts: dict[str, Any] = {}

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """Everything in the folder, sorted; nothing of a folder that cannot be read."""
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            return ()
        return tuple(self.folder / name for name in names)

    @cached_property
    def matches(self) -> tuple[tuple[Path, Match], ...]:
        """What of it has a name of a profile, and what that name means."""
        match = layout_catalog().match
        return tuple((path, found) for path in self.paths if (found := match(path.name)))

    @cached_property
    def hidden(self) -> tuple[Path, ...]:
        """What of it has a hidden name."""
        return tuple(path for path in self.paths if is_hidden(path.name))

    @property
    def is_first(self) -> bool:
        """Whether no folder that it is in is searched as well."""
        return self._above is None

    @cached_property
    def above(self) -> Listing:
        """The folder that this one is in."""
        return self._above or Listing(self.folder.absolute().parent)

    def fact(self, name: str, find: Callable[[Listing], AnyFact]) -> AnyFact:
        """What a medium finds out about the folder, once for all of its files."""
        if name not in self._facts:
            self._facts[name] = find(self)
        found: AnyFact = self._facts[name]
        return found
