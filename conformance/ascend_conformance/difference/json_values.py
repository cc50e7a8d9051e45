"""Differences of JSON: by kind of place the first value that differs, and how many do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from ascend_spec.core.pointer import place_of, pointer_of


class Written(str):
    """A number as it is written: 1.0 is not 1.00."""

    __slots__ = ()


ABSENT = object()


@dataclass(frozen=True, slots=True)
class Unlike:
    """Values that differ at places which differ in indices alone. ``kind``: the place without
    indices; ``pointer``: the first one; ``name``: of the innermost object around it; ``left``,
    ``right``: what stands there, as JSON.
    """

    kind: str
    pointer: str
    name: str
    left: str
    right: str
    count: int = 1


def as_written(text: str) -> Any:
    """A JSON text with numbers as they are written. Raises ``ValueError``, ``RecursionError``."""
    return json.loads(text, parse_int=Written, parse_float=Written, parse_constant=Written)


def unlike_values(left: Any, right: Any, *, ordered_keys: bool = False) -> Iterator[Unlike]:
    """What of two JSON values differs; ``ordered_keys``: the order of keys as well."""
    first: dict[str, Unlike] = {}
    counts: dict[str, int] = {}
    for path, name, one, other in _leaves((), "", left, right, ordered_keys):
        kind = place_of(path)
        counts[kind] = counts.get(kind, 0) + 1
        if kind not in first:
            first[kind] = Unlike(kind, pointer_of(path), name, one, other)
    for kind, found in first.items():
        yield replace(found, count=counts[kind])


def _leaves(
    path: tuple[str | int, ...], name: str, one: Any, other: Any, ordered: bool
) -> Iterator[tuple[tuple[str | int, ...], str, str, str]]:
    """The innermost places that differ: path, name of the object around, both values as shown."""
    if isinstance(one, dict) and isinstance(other, dict):
        known = other.get("name", name)
        inner = known if isinstance(known, str) else name
        for key in dict.fromkeys([*other, *one]):
            pair = one.get(key, ABSENT), other.get(key, ABSENT)
            yield from _leaves((*path, key), inner, *pair, ordered)
        if ordered and one.keys() == other.keys() and list(one) != list(other):
            yield path, inner, f"keys {', '.join(one)}", f"keys {', '.join(other)}"
    elif isinstance(one, list) and isinstance(other, list) and _are_reordered(one, other):
        first = next(
            at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right
        )
        yield (*path, first), name, "the same items", "in another order"
    elif isinstance(one, list) and isinstance(other, list):
        # First what explains that all items behind a lost one differ.
        if len(one) != len(other):
            yield path, name, f"{len(one):,} items", f"{len(other):,} items"
        for place, (left, right) in enumerate(zip(one, other, strict=False)):
            yield from _leaves((*path, place), name, left, right, ordered)
    elif _are_unlike(one, other):
        yield path, name, _shown(one), _shown(other)


def _are_unlike(one: Any, other: Any) -> bool:
    numbers = (int, float)
    if type(one) in numbers and type(other) in numbers:
        return bool(one != other) and not (isnan(one) and isnan(other))
    return type(one) is not type(other) or bool(one != other)


def _are_reordered(one: list[Any], other: list[Any]) -> bool:
    """Whether two lists have the same items, but not in the same order."""
    if len(one) != len(other) or one == other:
        return False
    return sorted(map(json.dumps, one)) == sorted(map(json.dumps, other))


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "absent"
    return str(value) if isinstance(value, Written) else json.dumps(value, ensure_ascii=False)
