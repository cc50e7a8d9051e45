"""Cases of which the suite tries some and ``make exhaustive`` the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], *, every: int) -> list[Any]:
    """The cases, all but every so manieth of them marked as exhaustive."""
    return [one if not at % every else _exhaustive(one) for at, one in enumerate(cases)]


def _exhaustive(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.exhaustive)
