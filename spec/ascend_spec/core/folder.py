"""The documents of one spec: a folder of YAML files, the packaged one or a working copy."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import ryaml

Document = dict[str, Any]


class SpecError(ValueError):
    """A document of a spec that cannot be used: the file, the place in it, what is expected."""


class Folder:
    """A folder of documents; names are relative to it, with ``/`` between their parts."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def identity(self) -> Hashable:
        """What two folders share that hold the same documents."""
        return self.root

    def text(self, name: str) -> str:
        """The text of one document; raises :class:`SpecError` for one that cannot be read."""
        try:
            return (self.root / name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise self._unreadable(name, error) from error

    def read(self, name: str) -> Any:
        """One document; raises :class:`SpecError` for one that is missing or is no YAML."""
        text = self.text(name)
        try:
            return parse(text)
        except ValueError as error:
            raise self._unreadable(name, error) from error

    def names(self, folder: str) -> Iterator[str]:
        """The names of the YAML documents below a folder, in their order."""
        for entry in sorted((self.root / folder).iterdir(), key=lambda item: item.name):
            name = f"{folder}/{entry.name}"
            if entry.is_dir():
                yield from self.names(name)
            elif entry.suffix == ".yaml":
                yield name

    def documents(self, folder: str) -> Iterator[tuple[str, Document]]:
        """Every YAML document below a folder, as (name, content), by name."""
        return ((name, self.read(name)) for name in self.names(folder))

    def _unreadable(self, name: str, error: Exception) -> SpecError:
        reason = " ".join(str(error).split())
        return SpecError(f"{self.root / name}: cannot be read: {reason}")

    def contents(self, folder: str) -> dict[str, bytes]:
        """The bytes of every YAML document below a folder, or of one document, by name; of a
        missing one nothing.
        """
        root = self.root / folder
        found = [root] if root.is_file() else sorted(root.rglob("*.yaml"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}


def parse(text: str) -> Any:
    """YAML text to plain Python values; raises ``ValueError`` for what is no YAML 1.2.

    Loading documents is most of what a short command does, hence the parser in Rust.
    """
    return ryaml.loads(text)


@cache
def packaged(package: str, name: str) -> Any:
    """The YAML document of a package, read once and not to be changed."""
    return parse((files(package) / name).read_text(encoding="utf-8"))
