"""What the schemas of ``vocabulary/`` find wrong with documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from ascend_spec.core import Folder
from ascend_spec.core.pointer import keys_of

from .places import similar, vocabularies_of

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

BASE = "json-schema:///"

Path = tuple[str | int, ...]


class Words:
    """The words that the documents of a folder may use."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read: dict[str, Any] = {}
        self._names, self._shared = (
            frozenset(folder.names(one)) for one in ("api/vocabulary", "vocabulary")
        )

    def mistakes(self, name: str, document: Any) -> Iterator[tuple[Path, str]]:
        """The mistakes of a document of a name: the place of each, and what is expected there.

        None where the words of such documents are nowhere stated.
        """
        import jsonschema_rs

        known = self._names | self._shared
        chosen = next((one for one in vocabularies_of(name) if one in known), None)
        if chosen is None:
            return
        validator = jsonschema_rs.validator_for(
            self._schema(f"{BASE}{chosen}"), retriever=self._schema, base_uri=f"{BASE}{chosen}"
        )
        for error in validator.iter_errors(document):
            meant = _meant(error)
            expected = _expected(meant, self._schema_of(meant, chosen))
            yield (*error.instance_path, *_below(error, meant)), expected

    def _schema(self, uri: str) -> Any:
        """A schema; those of the API refer to the others as if they stood next to them."""
        name = uri.removeprefix(BASE)
        if name not in self._names | self._shared:
            name = f"vocabulary/{name.rpartition('/')[2]}"
        if name not in self._read:
            self._read[name] = self._folder.read(name)
        return self._read[name]

    def _schema_of(self, error: ValidationError, name: str) -> Any:
        """The schema whose keyword an error is about, from that of the whole document on."""
        node: Any = self._schema(f"{BASE}{name}")
        for step in error.evaluation_path[:-1]:
            if step == "$ref":
                other, _, pointer = str(node[step]).partition("#")
                name = f"{name.rpartition('/')[0]}/{other}" if other else name
                node = reduce(
                    lambda inner, key: inner[key], keys_of(pointer), self._schema(f"{BASE}{name}")
                )
            else:
                node = node[step]
        return node


def _meant(error: ValidationError) -> ValidationError:
    """Of an error of alternatives, that of the one which fits best."""
    if error.kind.name not in ("anyOf", "oneOf"):
        return error
    branches = [one for one in error.kind.as_dict().get("context", ()) if len(one) == 1]
    deep = max(branches, key=lambda one: len(one[0].instance_path), default=None)
    return error if deep is None or not _below(error, deep[0]) else _meant(deep[0])


def _below(error: ValidationError, meant: ValidationError) -> Path:
    return tuple(meant.instance_path[len(error.instance_path) :])


def _expected(error: ValidationError, schema: Mapping[str, Any]) -> str:
    stated = error.kind.as_dict()
    if error.kind.name == "required":
        return f"expected the key {stated['property']!r} as well"
    if error.kind.name == "additionalProperties":
        (key, *_) = stated["unexpected"]
        return f"unknown key {key!r}{similar(key, schema.get('properties', ()))}"
    text = " ".join(error.message.split())
    described = schema.get("description")
    return f"{text}; expected: {described}" if described else text
