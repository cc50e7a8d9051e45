"""The JSON types of an event's own keys: checked while decoding, explained where they are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from ascend_spec import per_spec, timeline_catalog
from ascend_spec.timeline.model import JsonType

MAX_FAULTS = 100
"""Kinds of faults that are counted separately; hostile files invent keys without end."""

FURTHER = "..."
"""The key of the faults beyond :data:`MAX_FAULTS`."""

UNKNOWN = "unknown"
"""What is found at a key that no event has."""

_Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class _Object(msgspec.Struct, gc=False):
    """Any object; what it holds is not kept."""


_TYPES: Mapping[JsonType, Any] = {
    "string": str,
    "integer": _Int64,
    "number": int | float,
    "object": _Object,
    "null": None,
}
LENGTH = "dur"
_DECIMAL = r"^-?[0-9]+(\.[0-9]+)?$"
_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]{0,18})")


@per_spec
def key_types(*, text_lengths: bool) -> Mapping[str, frozenset[JsonType]]:
    """For each key of an event the JSON types that any writer gives it, and readers can use.

    ``text_lengths``: of the writers whose lengths can be texts too.
    """
    found: dict[str, set[JsonType]] = {}
    for form in timeline_catalog().forms.values():
        for key, types in form.types.items():
            found.setdefault(key, set()).update(types)
    if not text_lengths:
        found[LENGTH].discard("string")
    for flow in timeline_catalog().flows.values():
        found.setdefault("id", set()).update(one.json for one in flow.ids)
    return {key: frozenset(types) for key, types in sorted(found.items())}


@per_spec
def event_type(*, text_lengths: bool) -> type[msgspec.Struct]:
    """A structure that decodes what :func:`key_types` allows; every key may be missing."""
    fields = []
    for key, types in key_types(text_lengths=text_lengths).items():
        of_key = {**_TYPES, "string": Annotated[str, msgspec.Meta(pattern=_DECIMAL)]}
        known = of_key if key == LENGTH else _TYPES
        allowed: Any = known[min(types)]
        for one in sorted(types)[1:]:
            allowed = allowed | known[one]
        fields.append((key, allowed, msgspec.field(default=None)))
    return msgspec.defstruct("Event", fields, gc=False, forbid_unknown_fields=True)


@dataclass(slots=True)
class KeyFault:
    """A key whose values have a type that no reader expects, over all events.

    ``found`` is the JSON type or :data:`UNKNOWN`; ``key`` is empty where an element is no object at
    all. ``row`` and ``offset`` are of the first event.
    """

    key: str
    found: str
    row: int
    offset: int
    count: int = 0


@dataclass
class KeyFaults:
    """All faults of a file, by key and what was found there."""

    found: dict[tuple[str, str], KeyFault] = field(default_factory=dict)

    def note(self, raw: bytes, row: int, offset: int, *, text_lengths: bool = False) -> bool:
        """Note what is wrong with an event that could not be decoded; false for no object."""
        sound = True
        for key, found in _wrong_keys(raw, text_lengths):
            sound = sound and key != ""
            place = (key, found)
            if place not in self.found and len(self.found) >= MAX_FAULTS:
                place = (FURTHER, UNKNOWN)
            self.found.setdefault(place, KeyFault(*place, row, offset)).count += 1
        return sound


def _wrong_keys(raw: bytes, text_lengths: bool) -> Iterator[tuple[str, str]]:
    try:
        members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        yield "", json_type(raw)
        return
    allowed = key_types(text_lengths=text_lengths)
    for key, value in members.items():
        found = json_type(bytes(value))
        if key not in allowed:
            yield key, UNKNOWN
        elif not (_is_length(key, found, bytes(value)) and _is_one_of(found, allowed[key])):
            yield key, found


def _is_one_of(found: str, types: frozenset[JsonType]) -> bool:
    return found in types or (found == "integer" and "number" in types)


def _is_length(key: str, found: str, raw: bytes) -> bool:
    """Whether a text that is a length is a number."""
    text = raw.decode("latin-1")[1:-1]
    return key != LENGTH or found != "string" or re.match(_DECIMAL, text) is not None


def json_type(raw: bytes) -> str:
    """The JSON type of a sound value; ``"number"`` also for integers beyond 64 bits."""
    kinds = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean"}
    mark = raw[:1].decode("latin-1")
    if mark == "n":
        return "null"
    if mark in kinds:
        return kinds[mark]
    found = _INTEGER.fullmatch(raw)
    return "integer" if found and -(1 << 63) <= int(raw) < 1 << 63 else "number"
