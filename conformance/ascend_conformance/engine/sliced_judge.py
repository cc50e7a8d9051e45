"""Values with long lists against a schema, in bounded memory.

Lists are judged in slices, so that the errors of a hostile one are never all held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import jsonschema_rs

from ascend_spec.core.dialect import Node, walk

from .schema_judge import Groups, SchemaJudge, SchemaPath, Tokens

SLICE = 256
"""Elements of a list that are judged at a time; their errors are held in memory together."""

KEPT = 200
"""Elements kept of an inner list while a value is explained whose lists a condition spans."""


@dataclass(frozen=True, slots=True)
class _List:
    """A list below a value: the names that lead to it, its first element judged, its elements."""

    names: tuple[str, ...]
    start: int
    elements: _Part


@dataclass(frozen=True, slots=True)
class _Part:
    """Judges values without what their lists hold. ``path`` is where it stands in the schema."""

    path: SchemaPath
    validator: jsonschema_rs.Draft202012Validator
    lists: tuple[_List, ...]


class SlicedJudge(SchemaJudge):
    """Judges values by one compiled schema until the groups are full."""

    def __init__(self, schema: Node, restore: Callable[[Any], Any] = lambda value: value) -> None:
        super().__init__(schema, restore)
        self._part = _part(self.schema, (), self.schema.get("$defs", {}))
        self._described = frozenset(
            name for _, node in walk(self.schema) for name in node.get("properties", ())
        )

    def judge(self, document: int, value: Any, groups: Groups, without: str | None = None) -> None:
        """Sum up what is wrong with the value of a document; ``without`` is a list in it that is
        not looked into.

        Raises ``UnicodeEncodeError`` for half surrogates.
        """
        if without is not None:
            lists = tuple(found for found in self._part.lists if found.names[0] != without)
            part = replace(self._part, lists=lists)
            self._judge(document, part, [value], lambda _index: (), groups)
        elif not self.is_valid(value):
            self._judge(document, self._part, [value], lambda _index: (), groups)

    def judge_elements(
        self, document: int, name: str, first: int, elements: Sequence[Any], groups: Groups
    ) -> None:
        """The same for some elements of a top-level list, the first of which has an index."""
        for found in self._part.lists:
            if found.names == (name,):
                self._judge(
                    document, found.elements, elements, lambda index: (name, first + index), groups
                )

    def _judge(
        self,
        document: int,
        part: _Part,
        values: Sequence[Any],
        tokens_of: Callable[[int], Tokens],
        groups: Groups,
        start: int = 0,
    ) -> None:
        for begin in range(start, len(values), SLICE):
            some = values[begin : begin + SLICE]
            if part.validator.is_valid(some):
                continue
            if groups.is_full:
                return

            def located(
                error: jsonschema_rs.ValidationError, begin: int = begin
            ) -> tuple[SchemaPath, Tokens]:
                index, *inside = error.instance_path
                path = (*part.path, *error.evaluation_path[1:])
                return path, (*tokens_of(begin + int(index)), *inside)

            errors = part.validator.iter_errors([self._shortened(value) for value in some])
            for departure in self._explain(errors, located):
                groups.add(departure, document)
        for index, value in enumerate(values if part.lists else ()):
            for found in part.lists:
                inner = _follow(value, found.names)
                if isinstance(inner, list):
                    below = _below((*tokens_of(index), *found.names))
                    self._judge(document, found.elements, inner, below, groups, found.start)

    def _shortened(self, value: Any) -> Any:
        """The value with its lists and its undescribed keys cut: each error holds a copy of it."""
        if isinstance(value, dict):
            if len(value) > KEPT:
                others = islice((key for key in value if key not in self._described), KEPT)
                kept = {*others, *(self._described & value.keys())}
                value = {key: inner for key, inner in value.items() if key in kept}
            return {key: self._shortened(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._shortened(inner) for inner in value[:KEPT]]
        return value


def _part(schema: Node, path: SchemaPath, definitions: Node) -> _Part:
    lists: list[_List] = []
    shallow = _without_elements(schema, path, (), lists, definitions)
    validator = jsonschema_rs.Draft202012Validator({"items": shallow, "$defs": definitions})
    return _Part(path, validator, tuple(lists))


def _without_elements(
    node: Node,
    path: SchemaPath,
    names: tuple[str, ...],
    lists: list[_List],
    definitions: Node,
) -> Node:
    """The schema without the elements of its lists, which are added to ``lists`` instead."""
    shallow: Node = {}
    for key, inner in node.items():
        if key == "properties":
            shallow[key] = {
                name: _without_elements(one, (*path, key, name), (*names, name), lists, definitions)
                for name, one in inner.items()
            }
        elif key == "items" and isinstance(inner, dict):
            start = len(node.get("prefixItems", ()))
            lists.append(_List(names, start, _part(inner, (*path, key), definitions)))
        elif key != "$defs":
            shallow[key] = inner
    return shallow


def _follow(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _below(above: Tokens) -> Callable[[int], Tokens]:
    return lambda index: (*above, index)
