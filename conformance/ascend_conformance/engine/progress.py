"""How a long judgement reports its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Is called with how many units of work are done, of how many, and the last of them."""
