"""The documents of a folder with a draft laid over them, as a folder."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from ascend_spec.core import Folder

from .draft import Draft
from .laying import Laid, Laying


class Overlay(Folder):
    """The documents of another folder with a draft laid over them."""

    def __init__(self, base: Folder, draft: Draft) -> None:
        super().__init__(base.root)
        self.base = base
        self.draft = draft
        laying = Laying(base, tuple(draft.pieces()), draft.name)
        self.changed: Mapping[str, Any] = laying.documents
        """Documents that are new or different, by name."""
        self.laid: Sequence[Laid] = laying.laid
        """What each piece has become."""

    def __reduce__(self) -> tuple[Callable[..., Overlay], tuple[Folder, Draft]]:
        return Overlay, (self.base, self.draft)

    @property
    def identity(self) -> Hashable:
        """What two folders share that hold the same documents."""
        return self.base.identity, self.draft

    def text(self, name: str) -> str:
        """The text of one document, written anew where the draft changes it."""
        return _yaml(self.changed[name]) if name in self.changed else self.base.text(name)

    def read(self, name: str) -> Any:
        """One document; raises :class:`SpecError` for one that is missing or is no YAML."""
        return deepcopy(self.changed[name]) if name in self.changed else self.base.read(name)

    def names(self, folder: str) -> Iterator[str]:
        """The names of the YAML documents below a folder, in their order."""
        own = (one for one in self.changed if one.startswith(f"{folder}/"))
        return iter(sorted({*self.base.names(folder), *own}, key=lambda one: one.split("/")))

    def contents(self, folder: str) -> dict[str, bytes]:
        """The bytes of every YAML document below a folder, or of one document, by name; of a
        missing one nothing.
        """
        own = (one for one in self.changed if one == folder or one.startswith(f"{folder}/"))
        return {**self.base.contents(folder), **{one: self.text(one).encode() for one in own}}


def _yaml(document: Any) -> str:
    import yaml

    class Writer(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Quotes texts that YAML 1.2 would read as numbers, which PyYAML knows by YAML 1.1."""

    def text(writer: Any, value: str) -> Any:
        style = None if value[:1].isalpha() else '"'
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Writer.add_representer(str, text)
    written: str = yaml.dump(
        document,
        Dumper=Writer,
        default_flow_style=None,  # rows of plain values each on a line
        sort_keys=False,
        allow_unicode=True,
        width=1000,
    )
    return written
