"""Several files that get their names together, once it is known how many they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, TypeAlias

from .hidden import hidden_path

Naming: TypeAlias = Callable[[int | None], str]
"""File name of a slice, counted from 0; of the whole for ``None``."""


class Drafts:
    """Files of a folder under hidden names, until :meth:`keep` names them or they are discarded."""

    def __init__(self, folder: Path, naming: Naming) -> None:
        self._folder, self._naming = folder, naming
        self._open: list[tuple[Path, BinaryIO]] = []

    def open(self) -> BinaryIO:
        """Another file, to write and to read. Raises ``OSError``."""
        path = hidden_path(self._folder / self._naming(None))
        file = path.open("x+b")
        self._open.append((path, file))
        return file

    def keep(self, numbers: Iterable[int | None]) -> list[Path]:
        """Close the files and name them as these slices; returns their paths."""
        paths = [self._folder / self._naming(number) for number in numbers]
        for (draft, file), path in zip(self._open, paths, strict=True):
            file.close()
            draft.replace(path)
        self._open = []
        return paths

    def discard(self) -> None:
        """Remove what has not been kept."""
        for path, file in self._open:
            file.close()
            path.unlink(missing_ok=True)
        self._open = []
