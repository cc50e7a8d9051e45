"""Cases of which the suite tries some and ``make exhaustive`` the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

ParameterSet = type(pytest.param())


def some(cases: Iterable[Any], *, every: int) -> list[Any]:
    """The cases, all but every so manieth of them marked as exhaustive."""
    return [one if not at % every else _exhaustive(one) for at, one in enumerate(cases)]


def _exhaustive(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=(*case.marks, pytest.mark.exhaustive), id=case.id)
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.exhaustive)
