"""Floats that are whole, such as ``1.0``: integers to JSON Schema, and to no viewer.

A schema that asks for an integer gets their neighbours towards 0 instead, so that it finds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

_LEAST = math.ulp(0.0)
_SCALARS = frozenset({str, int, bool, type(None)})


def told_apart(value: Any) -> Any:
    """The value with every whole float replaced by its neighbour.

    From 2^53 on the neighbour is whole as well, and the schema takes it for an integer.
    """
    if isinstance(value, float):
        return (math.nextafter(value, 0.0) or _LEAST) if value.is_integer() else value
    if isinstance(value, list):
        return [told_apart(item) for item in value] if _may_hold_floats(value) else value
    if isinstance(value, dict):
        if _may_hold_floats(value.values()):
            return {key: told_apart(inner) for key, inner in value.items()}
        return value
    return value


def _may_hold_floats(values: Iterable[Any]) -> bool:
    """Fast, for most containers of a large payload hold texts and integers only."""
    return not _SCALARS.issuperset(map(type, values))


def as_written(value: Any) -> Any:
    """The whole float that a number stands for since :func:`told_apart`, or the value itself."""
    if not isinstance(value, float) or value.is_integer():
        return value
    if value == _LEAST:
        return 0.0
    away = math.nextafter(value, math.copysign(math.inf, value))
    return away if away.is_integer() else value
