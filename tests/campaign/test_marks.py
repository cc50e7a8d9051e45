"""Marks stand where :func:`conftest.pytest_ignore_collect` looks for them: in texts of modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ANY_MARK

TESTS = Path(__file__).parent.parent
MARK = re.compile(r"\bmark\.(exhaustive|campaign)\b")
OF_ALL = "slices.py"
"""Marks cases for the modules that import it, which the filter knows by its name."""


def modules() -> list[Path]:
    """All modules of the tests but what others mark their cases with."""
    return [path for path in TESTS.rglob("*.py") if path.name not in (OF_ALL, "conftest.py")]


def test_no_module_takes_marks_from_another_one() -> None:
    helpers = [path for path in modules() if not path.name.startswith("test_")]
    found = [path for path in helpers if MARK.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_each_mark_is_looked_for(pytestconfig: pytest.Config) -> None:
    names = [str(one).split(":")[0] for one in pytestconfig.getini("markers")]
    marks = [name for name in names if MARK.search(f"mark.{name}")]
    assert marks == ["exhaustive", "campaign"]
    assert all(ANY_MARK.fullmatch(name) for name in (*marks, Path(OF_ALL).stem))
