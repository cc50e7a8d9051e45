"""Differences between what was found and what was expected, as short lines."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

TOLERANCE = 1e-9
SHOWN = 3

_brief = reprlib.Repr()
_brief.maxtuple = _brief.maxlist = _brief.maxset = 12
_brief.maxstring = _brief.maxother = 120


def different(what: str, found: Any, expected: Any) -> list[str]:
    """One line unless the two are the same; reals may differ by a part in 1e9."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        return _different_maps(what, found, expected)
    if _same(found, expected):
        return []
    return [f"{what}: {_brief.repr(found)} instead of {_brief.repr(expected)}"]


def _different_maps(
    what: str, found: Mapping[Hashable, Any], expected: Mapping[Hashable, Any]
) -> list[str]:
    lines = []
    for kind, keys in (
        ("is missing", expected.keys() - found.keys()),
        ("is too much", found.keys() - expected.keys()),
    ):
        shown = ", ".join(sorted(map(_brief.repr, keys))[:SHOWN])
        lines += [f"{what}: {len(keys)} times a row {kind}: {shown}"] if keys else []
    wrong = [
        line
        for key in expected.keys() & found.keys()
        for line in different(f"{what} {_brief.repr(key)}", found[key], expected[key])
    ]
    return [*lines, *sorted(wrong)[:SHOWN]]


def _same(found: Any, expected: Any) -> bool:
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if _is_sequence(found) and _is_sequence(expected):
        return len(found) == len(expected) and all(map(_same, found, expected))
    return bool(found == expected)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
