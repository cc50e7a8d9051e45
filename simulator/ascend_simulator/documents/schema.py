"""The JSON Schema of a kind of scenario: its document, completed by the types of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ascend_spec.core import packaged

from .text import Path

TYPES = {bool: "boolean", int: "integer", str: "string", NoneType: "null"}


class ScenarioSchema:
    """The schema (2020-12) of a dataclass.

    ``value`` is the whole of it; nobody may change it. The document describes every field of the
    dataclass, and in ``$defs`` those of each section, and adds bounds; ``type``, ``enum`` of a
    ``Literal``, ``default`` and ``required`` follow from the dataclass.
    """

    def __init__(self, document: Mapping[str, Any], kind: type) -> None:
        self.value: dict[str, Any] = deepcopy(dict(document))
        self._complete(self.value, kind)

    def fields(self, section: str) -> Mapping[str, Mapping[str, Any]]:
        """The schemas of a section's fields, by name."""
        found: Mapping[str, Mapping[str, Any]] = self.value["$defs"][section]["properties"]
        return found

    def at(self, path: Path) -> Mapping[str, Any]:
        """The schema of the value at a path that exists in it."""
        at: Mapping[str, Any] = self.value
        for part in path:
            at = at["items"] if isinstance(part, int) else at["properties"][part]
            if "$ref" in at:
                at = self._section(at["$ref"])
        return at

    def read_by(self, section: str, kind: str) -> tuple[str, ...]:
        """The fields of a section that one of its kinds reads, its kind among them."""
        return next(
            tuple(branch["then"]["propertyNames"]["enum"])
            for branch in self.value["$defs"][section]["allOf"]
            if kind in branch["if"]["properties"]["kind"]["enum"]
        )

    def _section(self, reference: str) -> dict[str, Any]:
        found: dict[str, Any] = self.value["$defs"][reference.rpartition("/")[2]]
        return found

    def _complete(self, node: dict[str, Any], kind: type) -> None:
        hints, described = get_type_hints(kind), node["properties"]
        for field in fields(kind):
            hint, own = hints[field.name], described[field.name]
            part = get_args(hint)[0] if get_origin(hint) is tuple else hint
            if isinstance(part, type) and is_dataclass(part):
                reference = own["$ref"] if part is hint else own["items"]["$ref"]
                self._complete(self._section(reference), part)
            if not is_dataclass(hint):
                described[field.name] = _merged(own, _of_hint(hint), field)
        required = [one.name for one in fields(kind) if _default(one) is MISSING]
        node |= {"type": "object", "additionalProperties": False}
        if required:
            node["required"] = required


def read_schema(package: str, name: str, kind: type) -> ScenarioSchema:
    """The schema in a YAML file of a package, completed by a dataclass."""
    return ScenarioSchema(packaged(package, name), kind)


def _merged(own: dict[str, Any], derived: dict[str, Any], field: Field[Any]) -> dict[str, Any]:
    items = {"items": {**derived.get("items", {}), **own.get("items", {})}}
    whole = {**own, **derived, **own, **(items if "items" in derived else {})}
    default = _default(field)
    if default is MISSING:
        return whole
    return {**whole, "default": list(default) if isinstance(default, tuple) else default}


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _of_hint(hint: Any) -> dict[str, Any]:
    """What a type says: ``int | None``, ``Literal[...]``, ``tuple[int, ...]`` and the like."""
    if get_origin(hint) is UnionType:
        (one,) = (part for part in get_args(hint) if part is not NoneType)
        found = _of_hint(one)
        return {**found, "type": [found["type"], "null"]}
    if get_origin(hint) is Literal:
        choices = list(get_args(hint))
        return {"type": TYPES[type(choices[0])], "enum": choices}
    if get_origin(hint) is not tuple:
        return {} if is_dataclass(hint) else {"type": TYPES[hint]}
    parts = get_args(hint)
    found = {"type": "array", "items": _of_hint(parts[0])}
    return (
        found if parts[1:] == (...,) else {**found, "minItems": len(parts), "maxItems": len(parts)}
    )
