"""What to say about a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from itertools import zip_longest

CONSIDERED = 50
"""Names that are compared more closely."""


def close_to(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names most like ``name``, capitals aside, best first."""
    spelled: dict[str, str] = {}
    for candidate in known:
        spelled.setdefault(candidate.casefold(), candidate)
    asked = name.casefold()

    def distance(key: str) -> tuple[float, int]:
        """Of names that share as many characters, one with a wrong one comes first."""
        differing = sum(one != other for one, other in zip_longest(asked, key))
        return -SequenceMatcher(a=key, b=asked).ratio(), differing

    close = get_close_matches(asked, spelled, CONSIDERED)
    return [spelled[key] for key in sorted(close, key=distance)[:most]]


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """``unknown table 'TASKS'; did you mean TASK?``, or the known names where few exist."""
    names = list(known)
    close = close_to(name, names)
    if close:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(close)}?"
    if len(names) <= 10:
        return f"unknown {kind} {name!r}; known: {', '.join(sorted(names))}"
    return f"unknown {kind} {name!r}"
