"""What to say about a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def close_to(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names most like ``name``, capitals aside, best first."""
    spelled: dict[str, str] = {}
    for candidate in known:
        spelled.setdefault(candidate.casefold(), candidate)
    return [spelled[key] for key in get_close_matches(name.casefold(), spelled, most)]


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """``unknown table 'TASKS'; did you mean TASK?``, or the known names where few exist."""
    names = list(known)
    close = close_to(name, names)
    if close:
        return f"unknown {kind} {name!r}; did you mean {' or '.join(close)}?"
    if len(names) <= 10:
        return f"unknown {kind} {name!r}; known: {', '.join(sorted(names))}"
    return f"unknown {kind} {name!r}"
