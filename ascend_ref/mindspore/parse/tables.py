"""Intermediate files of CSV and of JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path

from .run import LINE_ENDS, Run


def write_rows(run: Run, path: Path, rows: Iterable[Iterable[object]]) -> None:
    """Write rows, the header first. Nothing stands in a cell that is ``None``."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        csv.writer(file, lineterminator=LINE_ENDS[run.line_end]).writerows(rows)


def write_document(run: Run, table: str, document: object) -> None:
    """Write a file of JSON, where there is one on the day."""
    path = run.path(table)
    if path is not None:
        path.write_text(json.dumps(document), encoding="utf-8")
