"""Reports: the same findings as text, JSON, JSON lines, JUnit, SARIF, annotations or Markdown."""

from __future__ import annotations

from .baseline import Outcome, baseline_document, judge, read_baseline, read_expected
from .collapse import collapse
from .detail import BYTES_PER_FILE, Renderer
from .errors import ReportError
from .json_forms import report_schema
from .phrases import conclusion
from .write import FORMATS, render_to_stdout, write_report

__all__ = [
    "BYTES_PER_FILE",
    "FORMATS",
    "Outcome",
    "Renderer",
    "ReportError",
    "baseline_document",
    "collapse",
    "conclusion",
    "judge",
    "read_baseline",
    "read_expected",
    "render_to_stdout",
    "report_schema",
    "write_report",
]
