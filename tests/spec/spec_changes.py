"""Random changes of single values of the spec, and which of them the pins notice.

Every fact of every document is as likely as any other, and so is every element of a list. A changed
word takes a value that the same fact has elsewhere: the document could have been written so.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spec_pins import denied, others, places, unpinned


@dataclass(frozen=True)
class Change:
    """One fact of one place with another value; ``gone`` where the fact was taken away."""

    place: str
    fact: str
    was: Any
    becomes: Any
    gone: bool = False

    def __str__(self) -> str:
        after = "gone" if self.gone else repr(self.becomes)
        return f"{self.place} {self.fact}: {self.was!r} -> {after}"


def changes(count: int, seed: int) -> Iterator[Change]:
    """So many changes, always the same ones for a seed."""
    drawn = random.Random(seed)
    population = [
        (place, fact, value)
        for place, own in sorted(places().items())
        for fact, value in sorted(own.items())
        for _ in range(len(value) if isinstance(value, list) and value else 1)
    ]
    for place, fact, value in drawn.sample(population, count):
        yield _changed(place, fact, value, drawn)


def _changed(place: str, fact: str, value: Any, drawn: random.Random) -> Change:
    if isinstance(value, bool):
        return Change(place, fact, value, not value)
    if drawn.random() < 0.1:
        return Change(place, fact, value, None, gone=True)
    if isinstance(value, list) and len(value) > 1 and drawn.random() < 0.5:
        left = list(value)
        del left[drawn.randrange(len(left))]
        return Change(place, fact, value, left)
    if isinstance(value, int | float):
        by = drawn.choice((1, -1, value or 1, 9 * (value or 1)))
        return Change(place, fact, value, value + by)
    becomes = [one for one in others(place, fact, value) if one != value]
    return Change(place, fact, value, drawn.choice(becomes) if becomes else f"{value}x")


def kills(change: Change) -> bool:
    """Whether a pin denies the changed spec."""
    own = {key: value for key, value in places()[change.place].items() if key != change.fact}
    if not change.gone:
        own[change.fact] = change.becomes
    return bool(denied({change.place: own}, [change.place]))


def main() -> None:
    """Print the share of changes that the pins notice, by kind of document, and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    drawn = list(changes(asked.changes, asked.seed))
    alive = [change for change in drawn if not kills(change)]
    for change in alive:
        print(f"survives: {change}")
        print(f"  {unpinned().get((change.place, change.fact), 'without a reason')}")
    of = Counter(change.place.split("/")[0] for change in drawn)
    left = Counter(change.place.split("/")[0] for change in alive)
    for kind, count in sorted(of.items()):
        print(f"{kind:12} {count - left[kind]:4} of {count:4} noticed")
    print(f"{'all':12} {len(drawn) - len(alive):4} of {len(drawn):4} noticed")


if __name__ == "__main__":
    main()
