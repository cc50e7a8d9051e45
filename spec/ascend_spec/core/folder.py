"""The documents of one spec: a folder of YAML files, the packaged one or a working copy."""

from __future__ import annotations

from collections.abc import Iterator
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

    def read(self, name: str) -> Any:
        """One document; raises :class:`SpecError` for one that is missing or is no YAML."""
        try:
            return parse((self.root / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise SpecError(f"{self.root / name}: cannot be read: {reason}") from error

    def documents(self, folder: str) -> Iterator[tuple[str, Document]]:
        """Every YAML document below a folder, as (name, content), by name."""
        for entry in sorted((self.root / folder).iterdir(), key=lambda item: item.name):
            name = f"{folder}/{entry.name}"
            if entry.is_dir():
                yield from self.documents(name)
            elif entry.suffix == ".yaml":
                yield name, self.read(name)

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
