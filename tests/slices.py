"""Cases of which the suite tries some, ``make exhaustive`` some more and ``make campaign`` all."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import Any

import pytest

ParameterSet = type(pytest.param())


def some(cases: Iterable[Any], *, every: int) -> list[Any]:
    """The cases, but every so manieth marked: one of eight exhaustive, seven campaign."""
    further = cycle((pytest.mark.exhaustive, *[pytest.mark.campaign] * 7))
    return [marked(one, next(further)) if at % every else one for at, one in enumerate(cases)]


def few(cases: Iterable[Any], *, every: int) -> list[Any]:
    """The cases, all but every so manieth marked exhaustive."""
    mark = pytest.mark.exhaustive
    return [marked(one, mark) if at % every else one for at, one in enumerate(cases)]


def marked(case: Any, mark: pytest.MarkDecorator) -> Any:
    """A case of a parametrized test with one more mark."""
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=(*case.marks, mark), id=case.id)
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=mark)
