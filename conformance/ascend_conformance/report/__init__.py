"""Reports: the same findings as text, JSON, JSON lines, JUnit, SARIF, annotations or Markdown."""

from __future__ import annotations

from .baseline import Outcome as Outcome
from .baseline import baseline_document as baseline_document
from .baseline import judge as judge
from .baseline import read_baseline as read_baseline
from .baseline import read_expected as read_expected
from .collapse import collapse as collapse
from .detail import BYTES_PER_FILE as BYTES_PER_FILE
from .errors import ReportError as ReportError
from .json_forms import report_schema as report_schema
from .phrases import conclusion as conclusion
from .write import FORMATS as FORMATS
from .write import render_to_stdout as render_to_stdout
from .write import write_report as write_report
