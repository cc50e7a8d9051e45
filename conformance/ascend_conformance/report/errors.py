"""The one error of this package."""

from __future__ import annotations


class ReportError(ValueError):
    """A report, baseline or expectation file cannot be read or written; one line, names the file."""
