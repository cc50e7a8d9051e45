"""What a defect of an exporter is: a small function that puts it into a copy of a profile.

A defect names the medium that it changes, says in its docstring what it imitates, and under
``seen_by`` how any reader could notice it without knowing the truth. One that nobody could notice
has ``seen_by=None``; the reason stands in its docstring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Medium = Literal["database", "analysis", "csv", "timeline", "document", "bin", "ranks"]


class Inapplicable(Exception):
    """The base lacks what the defect changes."""


@dataclass(frozen=True)
class Defect:
    """One way in which exporters go wrong; ``apply`` changes a copy of a base."""

    name: str
    medium: Medium
    imitates: str
    seen_by: str | None
    apply: Callable[[Any], object]


DEFECTS: dict[str, Defect] = {}
"""All defects by name."""


def defect(
    medium: Medium, seen_by: str | None, name: str = ""
) -> Callable[[Callable[[Any], object]], Callable[[Any], object]]:
    """Register a function as a defect; its name, with hyphens, is that of the function."""

    def register(apply: Callable[[Any], object]) -> Callable[[Any], object]:
        chosen = name or apply.__name__.replace("_", "-")
        if chosen in DEFECTS:
            raise ValueError(f"two defects are called {chosen}")
        DEFECTS[chosen] = Defect(chosen, medium, (apply.__doc__ or "").strip(), seen_by, apply)
        return apply

    return register
