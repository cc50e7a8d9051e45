"""Keys that an object of a JSON text has more than once: the last counts, the others are lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any


class Doubled(dict[str, Any]):
    """An object whose text has some keys more than once; ``doubled`` names them in their order."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__(members)
        times = Counter(name for name, _ in members)
        self.doubled = tuple(name for name, count in times.items() if count > 1)


def object_of(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """An ``object_pairs_hook`` for :mod:`json` that keeps in mind which keys were doubled."""
    found = dict(members)
    return found if len(found) == len(members) else Doubled(members)


def doubled_keys(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The keys and indices that lead to each doubled key of a value read with :func:`object_of`."""
    if isinstance(value, Doubled):
        yield from ((name,) for name in value.doubled)
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inside:
        if isinstance(one, (dict, list)):
            yield from ((key, *below) for below in doubled_keys(one))
