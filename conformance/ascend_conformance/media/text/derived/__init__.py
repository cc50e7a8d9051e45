"""Tables that Python computes from the facts, for agreements to compare with what files say."""

from __future__ import annotations

from ..made import Derived
from . import (
    activity,
    communication,
    framework,
    host,
    iterations,
    memory,
    operators,
    statistics,
    steps,
    tasks,
)

TABLES: tuple[Derived, ...] = (
    *tasks.TABLES,
    *operators.TABLES,
    *statistics.TABLES,
    *activity.TABLES,
    *steps.TABLES,
    *communication.TABLES,
    *framework.TABLES,
    *host.TABLES,
    *memory.TABLES,
    *iterations.TABLES,
)
