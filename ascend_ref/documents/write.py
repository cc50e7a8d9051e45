"""From a recording to the documents about communication (text-outputs.md 7.8)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ascend_ref.atomic import atomic_file
from ascend_ref.derive.communication_report import (
    START,
    Report,
    communication_report,
    matrix_report,
    starts_of_operators,
)
from ascend_ref.derive.mindspore_steps import COPIER, Step
from ascend_ref.recorded import Recorded
from ascend_ref.recorded.mindspore import steps_of
from ascend_spec import layout_catalog

from .mindspore import operators_by_step

WITHOUT_STEPS = Step("", None, None)


def write_documents(recorded: Recorded, folder: Path, writer: str | None = None) -> list[Path]:
    """Write the documents of a recording into ``folder``; returns their paths.

    writer: of the spec (text/writers.yaml); None: the current one.

    Both stand in the folder of a framework's exporter, and each only where its table of the
    analysis has rows, which is not so at level 0. A file appears complete or not at all; equal
    recordings give equal bytes. Only the tables and one step are in memory at a time.

    Raises ``OSError`` where ``folder`` cannot be written.
    """
    if recorded.output == "msprof":
        return []
    # Numbers of foreign recordings may exceed all bounds; the result is written as it is.
    with np.errstate(all="ignore"):
        return _written(recorded, folder, writer)


def _written(recorded: Recorded, folder: Path, writer: str | None) -> list[Path]:
    if recorded.output == "mindspore":
        return _written_by_mindspore(recorded, folder, writer)
    found: list[Path] = []
    times = recorded.table("CommAnalyzerTime")
    if times.num_rows:
        bandwidths = recorded.table("CommAnalyzerBandwidth")
        steps = _steps(recorded.table("StepTraceTime"))
        starts = starts_of_operators(times, recorded.table("COMMUNICATION_OP"))
        times = times.set_column(times.column_names.index(START), START, starts)
        report = communication_report(times, bandwidths, steps)
        found.append(_write(folder / layout_catalog().file("pytorch", "communication"), report))
    matrix = recorded.table("CommAnalyzerMatrix")
    if matrix.num_rows:
        found.append(
            _write(
                folder / layout_catalog().file("pytorch", "communication_matrix"),
                matrix_report(matrix),
            )
        )
    return found


def _written_by_mindspore(recorded: Recorded, folder: Path, writer: str | None) -> list[Path]:
    times, bandwidths, matrix = (
        recorded.table(name)
        for name in ("CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix")
    )
    if not times.num_rows:
        return []
    steps = [WITHOUT_STEPS] if writer == COPIER else steps_of(recorded)
    reports = operators_by_step(times, bandwidths, matrix, steps)
    return [
        _write(folder / layout_catalog().file("mindspore", name), report)
        for name, report in zip(("communication", "communication_matrix"), reports, strict=True)
        if name == "communication" or matrix.num_rows
    ]


def _steps(traces: pa.Table) -> list[str]:
    """Every step of the recording as the documents call it, one without operators too."""
    numbers = traces.column("step").cast(pa.string()).fill_null("").to_pylist()
    return list(dict.fromkeys(f"step{number}" for number in numbers))


def _write(path: Path, steps: Iterable[tuple[str, Report]]) -> Path:
    with atomic_file(path) as file:
        separator = "{"
        for name, report in steps:
            file.write(f"{separator}{_text(name)}: {_text(report)}".encode())
            separator = ", "
        file.write(b"}" if separator != "{" else b"{}")
    return path


def _text(value: object) -> str:
    """JSON as the exporter's ``json.dumps`` has it; JSON knows no infinity, null stands for it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
