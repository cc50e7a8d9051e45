"""Files of a checkout: found by name below a folder, read with a bound, links not followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .stated import Unreadable

LARGEST = 2**20
"""Bytes of a source file that is still read; the largest of those read here has 60 KB."""


class Checkout:
    """A folder with the sources of one exporter or viewer."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def files(self, *patterns: str) -> Iterator[Path]:
        """Files that a pattern such as ``analysis/**/msprof_db.cpp`` finds, in order of path."""
        found = {path for pattern in patterns for path in self.root.glob(pattern)}
        for path in sorted(found):
            if path.is_file() and not path.is_symlink():
                yield path

    def only(self, pattern: str) -> Path:
        """The one file of a pattern; raises :class:`Unreadable` for none or several."""
        found = list(self.files(pattern))
        if len(found) != 1:
            where = ", ".join(map(self.name, found)) or "none"
            raise Unreadable(f"{self.root}: one file {pattern} is expected, found: {where}")
        return found[0]

    def name(self, path: Path) -> str:
        """A file as it is called within the checkout."""
        return path.relative_to(self.root).as_posix()

    def text(self, path: Path) -> str:
        """The text of a file; raises :class:`Unreadable` for what is none, or far too large."""
        try:
            if path.stat().st_size > LARGEST:
                raise Unreadable(
                    f"{path}: larger than the {LARGEST} bytes expected of a source file"
                )
            return path.read_text("utf-8")
        except UnicodeDecodeError as problem:
            raise Unreadable(f"{path}: no UTF-8 at byte {problem.start}") from None
        except OSError as problem:
            raise Unreadable(f"{path}: {problem.strerror}") from None
