"""The documents of one spec: a folder of YAML files, the packaged one or a working copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"

PACKAGED = Path(__file__).parent.parent


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
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
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


def parse(text: str) -> Any:
    """YAML text to plain Python values, with libyaml where it was built in.

    Texts, mappings and sequences are taken from the nodes directly, which needs two thirds of the
    time of ``yaml.load``: loading documents is most of what a short command does.
    """
    loader = LOADER(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _value(loader, node)
    finally:
        loader.dispose()


def _value(loader: Any, node: Any) -> Any:
    if isinstance(node, yaml.MappingNode) and not any(key.tag == MERGE for key, _ in node.value):
        return {_value(loader, key): _value(loader, value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, value) for value in node.value]
    return node.value if node.tag == TEXT else loader.construct_object(node, deep=True)
