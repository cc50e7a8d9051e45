"""Keys that a schema does not describe, gathered over all objects of a payload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ascend_ref.db.display import clip, first_of, printable
from ascend_spec import bin_catalog, per_spec
from ascend_spec.core.pointer import ANY, escaped, keys_of

from ...engine.schema_judge import Group

KEYS = 200
"""Different keys noted of one place; a hostile object holds any number."""

LISTED = 5

Tokens: TypeAlias = tuple[str | int, ...]


@dataclass
class _Place:
    """A place that schemas describe as an object, and what was met there."""

    inside: dict[str, _Place] = field(default_factory=dict)
    described: bool = False
    met: dict[str, tuple[int, Tokens, int]] = field(default_factory=dict)


@per_spec
def _known_keys(code: int, epoch: str) -> Mapping[str, frozenset[str]]:
    return bin_catalog().known_keys(code, epoch)


class KeyInventory:
    """The keys met in the payloads of one block type, at the places that any epoch describes."""

    def __init__(self, code: int) -> None:
        self._code = code
        self._root = _Place()
        for epoch in bin_catalog().epochs:
            for place in _known_keys(code, epoch.id):
                node = self._root
                for name in keys_of(place):
                    node = node.inside.setdefault(name, _Place())
                node.described = True

    def see(self, block: int, value: Any, tokens: Tokens) -> None:
        """Note the keys of a value that stands at some tokens of a payload."""
        place = self._root
        for token in tokens:
            found = place.inside.get(ANY if isinstance(token, int) else token)
            if found is None:
                return
            place = found
        self._see(block, value, tokens, place)

    def _see(self, block: int, value: Any, tokens: Tokens, place: _Place) -> None:
        if isinstance(value, dict):
            if place.described:
                for key in value:
                    times, first, where = place.met.get(key, (0, tokens, block))
                    if times or len(place.met) < KEYS:
                        place.met[key] = times + 1, first, where
            for name, inner in place.inside.items():
                if name == ANY:
                    for key, one in value.items():
                        self._see(block, one, (*tokens, key), inner)
                elif name in value:
                    self._see(block, value[name], (*tokens, name), inner)
        elif isinstance(value, list) and ANY in place.inside:
            inner = place.inside[ANY]
            for index, one in enumerate(value):
                self._see(block, one, (*tokens, index), inner)

    def unknown(self, epoch: str) -> Iterator[Group]:
        """One group for each object with keys that the epoch's schema does not describe."""
        known = _known_keys(self._code, epoch)
        for place, node in _places(self._root, ""):
            strange = {key: met for key, met in node.met.items() if key not in known.get(place, ())}
            if not strange or place not in known:
                continue
            key, (_, tokens, block) = next(iter(strange.items()))
            yield Group(
                place=place,
                keyword="unknown",
                tokens=(*tokens, key),
                document=block,
                shown=first_of([clip(printable(key), 40) for key in strange], LISTED),
                expected=", ".join(sorted(known[place])),
                count=sum(times for times, _, _ in strange.values()),
            )


def _places(node: _Place, place: str) -> Iterator[tuple[str, _Place]]:
    yield place, node
    for name, inner in node.inside.items():
        token = name if name == ANY else escaped(name)
        yield from _places(inner, f"{place}/{token}")
