"""One payload schema, compiled to judge any payload in bounded memory.

Errors are summed by place in the schema, never by instance: a count, the first pointer and the
first value. Lists are judged in slices, so that the errors of a hostile one are never all held.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

import jsonschema_rs

from ascend_ref.db.display import clip, printable
from ascend_spec import per_spec
from ascend_spec.bin import bin_catalog
from ascend_spec.bin.schema import nearest

from .flatten import pointer_to
from .schematext import expectation, place_of
from .wholefloats import as_written

SLICE = 256
"""Elements of a list that are judged at a time; their errors are held in memory together."""

KEPT = 200
"""Elements kept of an inner list while a value is explained whose lists a condition spans."""

ERRORS = 20_000
"""Errors that are explained of one block type; then the judgement of its payloads ends."""

SHOWN = 400
"""Characters looked at of a value that is shown."""

Node: TypeAlias = dict[str, Any]
Tokens: TypeAlias = tuple[str | int, ...]
SchemaPath: TypeAlias = tuple[str | int, ...]


@dataclass
class Group:
    """The errors at one place of one schema, as many as there are instances.

    ``place`` is written as in ``facts.yaml``; for a missing key it is the place of that key.
    """

    code: int
    place: str
    keyword: str
    block: int
    pointer: str
    shown: str
    expected: str
    erratum: str | None = None
    advisory: bool = False
    count: int = 0

    @property
    def key(self) -> GroupKey:
        """What makes groups of different epochs the same."""
        return self.code, self.place, self.keyword


GroupKey: TypeAlias = tuple[int, str, str]


class Groups(dict[GroupKey, Group]):
    """Groups by their keys, and whether there were more errors than are explained."""

    @property
    def overrun(self) -> bool:
        """Whether the judgement ended early, so that counts are too small."""
        return sum(group.count for group in self.values()) >= ERRORS


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


class SchemaJudge:
    """Judges payloads of one block type by one schema."""

    def __init__(self, code: int, schema: Node) -> None:
        self._code = code
        self._schema = schema
        self._whole = jsonschema_rs.Draft202012Validator(schema)
        self._part = _part(schema, ())

    def judge(self, block: int, payload: Any, groups: Groups, without: str | None = None) -> None:
        """Sum up what is wrong with a payload; ``without`` is a list in it that is not looked into.

        Raises ``UnicodeEncodeError`` for half surrogates.
        """
        if without is not None:
            lists = tuple(found for found in self._part.lists if found.names[0] != without)
            part = replace(self._part, lists=lists)
            self._judge(block, part, [payload], lambda _index: (), groups)
        elif not self._whole.is_valid(payload):
            self._judge(block, self._part, [payload], lambda _index: (), groups)

    def judge_elements(
        self, block: int, name: str, first: int, elements: Sequence[Any], groups: Groups
    ) -> None:
        """The same for some elements of a top-level list, the first of which has an index."""
        for found in self._part.lists:
            if found.names == (name,):
                self._judge(
                    block, found.elements, elements, lambda index: (name, first + index), groups
                )

    def _judge(
        self,
        block: int,
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
            if groups.overrun:
                return
            for error in _telling(part.validator, some):
                index, *inside = error.instance_path
                tokens = (*tokens_of(begin + int(index)), *inside)
                self._add(block, part, error, tokens, groups)
        for index, value in enumerate(values if part.lists else ()):
            for found in part.lists:
                inner = _follow(value, found.names)
                if isinstance(inner, list):
                    below = _below((*tokens_of(index), *found.names))
                    self._judge(block, found.elements, inner, below, groups, found.start)

    def _add(
        self,
        block: int,
        part: _Part,
        error: jsonschema_rs.ValidationError,
        tokens: Tokens,
        groups: Groups,
    ) -> None:
        path = (*part.path, *error.schema_path[1:])
        keyword = str(path[-1])
        missing = str(error.kind.as_dict()["property"]) if keyword == "required" else None
        key = self._code, place_of(path, missing), keyword
        if key not in groups:
            noted = nearest(self._schema, path, "erratum")
            advisory = nearest(self._schema, path, "advisory")
            groups[key] = Group(
                *key,
                block=block,
                pointer=pointer_to(tokens),
                shown="absent" if missing else _shown(error.instance),
                expected=expectation(self._schema, path, missing),
                erratum=noted["erratum"] if noted else None,
                advisory=bool(advisory and advisory["advisory"]),
            )
        groups[key].count += 1


def _part(schema: Node, path: SchemaPath) -> _Part:
    lists: list[_List] = []
    shallow = _without_elements(schema, path, (), lists)
    return _Part(path, jsonschema_rs.Draft202012Validator({"items": shallow}), tuple(lists))


def _without_elements(
    node: Node, path: SchemaPath, names: tuple[str, ...], lists: list[_List]
) -> Node:
    """The schema without the elements of its lists, which are added to ``lists`` instead."""
    shallow: Node = {}
    for key, inner in node.items():
        if key == "properties":
            shallow[key] = {
                name: _without_elements(one, (*path, key, name), (*names, name), lists)
                for name, one in inner.items()
            }
        elif key == "items" and isinstance(inner, dict):
            start = len(node.get("prefixItems", ()))
            lists.append(_List(names, start, _part(inner, (*path, key))))
        else:
            shallow[key] = inner
    return shallow


def _telling(
    validator: jsonschema_rs.Draft202012Validator, values: Sequence[Any]
) -> list[jsonschema_rs.ValidationError]:
    """The errors of some values; of a value that has another type, only that it has."""
    errors = list(validator.iter_errors([_shortened(value) for value in values]))
    of_type = {tuple(error.instance_path) for error in errors if error.schema_path[-1] == "type"}
    return [
        error
        for error in errors
        if error.schema_path[-1] == "type" or tuple(error.instance_path) not in of_type
    ]


def _shortened(value: Any) -> Any:
    """The value with its lists and its undescribed keys cut: each error holds a copy of it."""
    if isinstance(value, dict):
        if len(value) > KEPT:
            others = islice((key for key in value if key not in _described()), KEPT)
            kept = {*others, *(_described() & value.keys())}
            value = {key: inner for key, inner in value.items() if key in kept}
        return {key: _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(inner) for inner in value[:KEPT]]
    return value


@per_spec
def _described() -> frozenset[str]:
    """Every key that any payload schema of any epoch describes."""
    facts = bin_catalog()
    return frozenset(
        name
        for code in facts.blocks
        if facts.has_schema(code)
        for epoch in facts.epochs
        for name in _properties(facts.payload_schema(code, epoch.id))
    )


def _properties(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        described = schema.get("properties")
        yield from described if isinstance(described, dict) else ()
        for inner in schema.values():
            yield from _properties(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _properties(inner)


def _follow(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _below(above: Tokens) -> Callable[[int], Tokens]:
    return lambda index: (*above, index)


def _shown(value: Any) -> str:
    """A value of the file on one short line; of a container, how large it is."""
    if isinstance(value, dict):
        return f"an object of {len(value):,} keys"
    if isinstance(value, list):
        return f"a list of {len(value):,} elements"
    text = value[:SHOWN] if isinstance(value, str) else as_written(value)
    return clip(printable(json.dumps(text, ensure_ascii=False)))
