"""Where servers may answer otherwise than the reference: ``habits.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ascend_spec.core import packaged


@dataclass(frozen=True, slots=True)
class Habits:
    """Tolerances of one command or event, by column.

    ``own``: compared with nothing. ``optional``: may be missing. ``unordered``: by which members
    elements are known, none for the whole. ``ties``: the member that orders the list. ``json``:
    texts compared as JSON.
    """

    own: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    unordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ties: Mapping[str, str] = field(default_factory=dict)
    json: frozenset[str] = frozenset()


def habits_of(name: str, *, compared: bool = False) -> Habits:
    """The habits of a command or an event; ``compared``: with a baseline."""
    return _habits(name, compared)


@cache
def _habits(name: str, compared: bool) -> Habits:
    document: Mapping[str, Any] = _documents().get(name, {})
    return Habits(
        own=frozenset(document.get("own", ())),
        optional=frozenset(document.get("optional", ())),
        unordered={
            one["at"]: tuple(one.get("by", ()))
            for one in document.get("unordered", ())
            if compared or not one.get("compared", False)
        },
        ties={one["at"]: one["by"] for one in document.get("ties", ())},
        json=frozenset(document.get("json", ())),
    )


def _documents() -> Mapping[str, Any]:
    documents: Mapping[str, Any] = packaged(__package__, "habits.yaml")
    return documents
