"""The one error of this package, and how it names a file."""

from __future__ import annotations

from pathlib import Path

from .escape import visible

_PATH_SHOWN = 400


class ReportError(ValueError):
    """A report, baseline or expectation file that cannot be used: one line that names it."""


def named(path: str | Path) -> str:
    """A path in an error message, on one line."""
    return visible(str(path), _PATH_SHOWN)
