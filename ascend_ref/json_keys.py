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


class ObjectReader:
    """An ``object_pairs_hook`` for :mod:`json` that keeps in mind which keys were doubled."""

    def __init__(self) -> None:
        self._any_doubled = False

    def __call__(self, members: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object of these members; of equal keys the last counts."""
        found = dict(members)
        if len(found) == len(members):
            return found
        self._any_doubled = True
        return Doubled(members)

    def doubled_keys(self, value: Any) -> Iterator[tuple[str | int, ...]]:
        """The keys and indices that lead to each doubled key of the value that was read."""
        return _doubled_keys(value) if self._any_doubled else iter(())


def _doubled_keys(value: Any) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, Doubled):
        yield from ((name,) for name in value.doubled)
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inside:
        if isinstance(one, (dict, list)):
            yield from ((key, *below) for below in _doubled_keys(one))
