"""Intermediate files of CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from .run import LINE_ENDS, Run


def write_rows(run: Run, path: Path, rows: Iterable[Iterable[object]]) -> None:
    """Write rows, the header first. Nothing stands in a cell that is ``None``."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        csv.writer(file, lineterminator=LINE_ENDS[run.line_end]).writerows(rows)
