"""What differs between an answer and the truth, but for habits that servers may have."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import Any

import msgspec

from ascend_ref.tools.serve.values import FLOAT32_MAX, float32, member
from ascend_spec.core import packaged
from ascend_spec.core.pointer import ANY, escaped, place_of

from ...engine.json_values import shown
from ...engine.schema_judge import Tokens
from .rules import Finds

NOTHING = "nothing"

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True)
class Habits:
    """Where servers may answer otherwise than the reference, by column (``habits.yaml``).

    ``own``: compared with nothing. ``optional``: may be missing. ``unordered``: by which members
    elements are known, none for the whole. ``ties``: the member that orders the list. ``json``:
    texts compared as JSON.
    """

    own: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    unordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ties: Mapping[str, str] = field(default_factory=dict)
    json: frozenset[str] = frozenset()


@cache
def habits_of(name: str, *, compared: bool = False) -> Habits:
    """The habits of a command or an event; ``compared``: with a baseline."""
    stated: Mapping[str, Any] = packaged(__package__, "habits.yaml").get(name, {})
    unordered = {
        one["at"]: one.get("by", ())
        for one in stated.get("unordered", ())
        if compared or not one.get("compared", False)
    }
    ties = {one["at"]: one["by"] for one in stated.get("ties", ())}
    return msgspec.convert({**stated, "unordered": unordered, "ties": ties}, Habits)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place at which an answer is not the truth. Values are in the words of a report."""

    finds: Finds
    tokens: Tokens
    expected: str
    actual: str


def differences(
    expected: Any,
    actual: Any,
    habits: Habits,
    tokens: Tokens = (),
    condemned: Collection[Tokens] = (),
) -> Iterator[Difference]:
    """The differences between what is true and what was answered, at ``tokens`` of the message.

    What stands at or below one of the ``condemned`` places is left out.
    """
    walk = _Walk(habits, condemned)
    return walk.differences(expected, actual, tokens, place_of(tokens))


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through two values side by side; ``column`` is always that of ``tokens``."""

    habits: Habits
    condemned: Collection[Tokens]

    def differences(
        self, expected: Any, actual: Any, tokens: Tokens, column: str
    ) -> Iterator[Difference]:
        if tokens in self.condemned or column in self.habits.own:
            return
        if isinstance(expected, dict) and isinstance(actual, dict):
            yield from self._of_objects(expected, actual, tokens, column)
        elif isinstance(expected, list) and isinstance(actual, list):
            if column in self.habits.unordered:
                yield from self._of_sets(expected, actual, tokens, column)
            else:
                yield from self._of_lists(expected, actual, tokens, column)
        elif finds := _of_scalars(expected, actual, column in self.habits.json):
            yield Difference(finds, tokens, shown(expected), shown(actual))

    def _of_objects(
        self, expected: dict[str, Any], actual: dict[str, Any], tokens: Tokens, column: str
    ) -> Iterator[Difference]:
        for key, value in expected.items():
            inner, name = (*tokens, key), f"{column}/{escaped(key)}"
            if key in actual:
                yield from self.differences(value, actual[key], inner, name)
            elif inner not in self.condemned and name not in self.habits.own | self.habits.optional:
                yield Difference("elements", inner, shown(value), NOTHING)
        for key, value in actual.items():
            if key not in expected and (*tokens, key) not in self.condemned:
                yield Difference("elements", tokens, f"no key {shown(key)}", shown(value))

    def _of_lists(
        self, expected: list[Any], actual: list[Any], tokens: Tokens, column: str
    ) -> Iterator[Difference]:
        """Elements side by side; where one list is longer, one difference where they part."""
        true, received = expected, list(enumerate(actual))
        if order := self.habits.ties.get(column):
            true = [element for _, element in self._by_ties(expected, order, column)]
            received = self._by_ties(actual, order, column)
        inner = f"{column}/{ANY}"
        same = 0
        for element, (place, other) in zip(true, received, strict=False):
            found = self.differences(element, other, (*tokens, place), inner)
            if len(true) == len(received):
                yield from found
            elif any(found):
                break
            same += 1
        if len(true) != len(received):
            counts = f"{len(true):,} elements", f"{len(received):,} elements"
            yield Difference("elements", (*tokens, same), *counts)

    def _of_sets(
        self, expected: list[Any], actual: list[Any], tokens: Tokens, column: str
    ) -> Iterator[Difference]:
        """Elements of one name side by side, best those that are equal; then the rest in order."""
        members, inner = self.habits.unordered[column], f"{column}/{ANY}"
        waiting: dict[str, list[int]] = defaultdict(list)
        for place, element in enumerate(actual):
            waiting[_name(element, members)].append(place)
        left: list[Any] = []
        for element in expected:
            same_name = waiting.get(_name(element, members))
            if not same_name:
                left.append(element)
                continue
            place = next((one for one in same_name if element == actual[one]), same_name[0])
            same_name.remove(place)
            yield from self.differences(element, actual[place], (*tokens, place), inner)
        rest = sorted(place for places in waiting.values() for place in places)
        for element, place in zip(left, rest, strict=False):
            yield from self.differences(element, actual[place], (*tokens, place), inner)
        for element in left[len(rest) :]:
            yield Difference("elements", (*tokens, len(actual)), _title(element, members), NOTHING)
        for place in rest[len(left) :]:
            yield Difference("elements", (*tokens, place), "no such element", shown(actual[place]))

    def _by_ties(self, elements: list[Any], order: str, column: str) -> list[tuple[int, Any]]:
        """Elements with their places; neighbours of one ``order`` by all that is compared of
        them, so that both sides have the same order."""

        def rest(placed: tuple[int, Any]) -> str:
            element = placed[1]
            if isinstance(element, dict):
                kept = [
                    key
                    for key in element
                    if f"{column}/{ANY}/{escaped(key)}" not in self.habits.own
                ]
                element = {key: element[key] for key in kept}
            return json.dumps(element, sort_keys=True)

        runs = groupby(enumerate(elements), key=lambda one: json.dumps(_member(one[1], order)))
        return [placed for _, run in runs for placed in sorted(run, key=rest)]


def _title(element: Any, members: tuple[str, ...]) -> str:
    return ", ".join(shown(_member(element, name)) for name in members) or shown(element)


def _name(element: Any, members: tuple[str, ...]) -> str:
    """What distinguishes an element from the others, as text."""
    parts = [_member(element, name) for name in members] if members else element
    return json.dumps(parts, sort_keys=True)


def _member(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = member(value, key)
    return value


def _of_scalars(expected: Any, actual: Any, is_json: bool) -> Finds | None:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return None if expected is actual else "value"
    if isinstance(expected, str) and isinstance(actual, str):
        if expected == actual or (is_json and _same_json(expected, actual)):
            return None
        return "spelling" if _same_number(expected, actual) else "value"
    if _is_number(expected) and _is_number(actual):
        return None if _equal(expected, actual) else "value"
    if _is_number(actual) and isinstance(expected, str):
        return None if _same_number(expected, repr(actual)) else "value"
    return None if expected == actual else "value"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _equal(one: int | float, other: int | float) -> bool:
    """Of two fractions the first 32 bits count: the viewer keeps no more (bin-blocks.md 3.4)."""
    if one == other:
        return True
    if isinstance(one, int) and isinstance(other, int):
        return False
    return max(abs(one), abs(other)) <= FLOAT32_MAX and float32(one) == float32(other)


def _same_number(one: str, other: str) -> bool:
    if not (_NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)):
        return False
    return float(one) == float(other)


def _same_json(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return False
