"""What a loss is, and how one is registered."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, TypeVar


class Traceless(str):
    """What is gone, and nothing that is left is known to show it; it counts all the same."""


def gone_from(words: str, is_seen: object) -> str:
    """What is gone, in words, marked where nothing is seen of it."""
    return words if is_seen else Traceless(words)


Held = TypeVar("Held")
Taken = str | None
Change = Callable[[Held, random.Random], Taken]
Opened = Callable[[Path, random.Random], AbstractContextManager[tuple[str, Held] | None]]
"""What to change of a copy, under its name; nothing where the copy has none."""


class Loss(NamedTuple):
    """One way to lose something. ``causes``: words of which a finding has to call one lost."""

    name: str
    causes: tuple[str, ...]
    take: Callable[[Path, random.Random], Taken]


DATABASE: list[Loss] = []
TEXT: list[Loss] = []
TIMELINE: list[Loss] = []


def registering(
    opened: Opened[Held], *into: list[Loss]
) -> Callable[..., Callable[[Change[Held]], Change[Held]]]:
    """A decorator of changes of what is opened, whose arguments are the causes of the loss."""

    def of(*causes: str) -> Callable[[Change[Held]], Change[Held]]:
        def register(change: Change[Held]) -> Change[Held]:
            def take(folder: Path, source: random.Random) -> Taken:
                with opened(folder, source) as found:
                    gone = found and change(found[1], source)
                if not found or not gone:
                    return None
                return gone_from(f"{found[0]}: {gone}", not isinstance(gone, Traceless))

            for losses in into:
                losses.append(Loss(change.__name__, causes, take))
            return change

        return register

    return of


def whole(folder: Path, _source: random.Random) -> AbstractContextManager[tuple[str, Path] | None]:
    """The folder itself."""
    return nullcontext((folder.name, folder))


def span(rows: Sequence[Any], where: str, source: random.Random) -> Sequence[Any]:
    """The first, the last or some rows from the middle: 3 to 40, at most a third of them."""
    number = min(source.randint(3, 40), len(rows) // 3)
    if where == "head":
        return rows[:number]
    if where == "tail":
        return rows[len(rows) - number :]
    begin = source.randint(number, len(rows) - 2 * number) if number else 0
    return rows[begin : begin + number]
