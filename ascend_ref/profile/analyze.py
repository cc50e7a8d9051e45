"""What ``msprof --analyze`` makes of a capture: communication, operator by operator, without steps.

The adapter of torch_npu reads it and divides it into steps (text-outputs.md 7.8).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ascend_ref.atomic import atomic_file
from ascend_ref.capture import Capture
from ascend_ref.db.encode import encode
from ascend_ref.db.writer import write_database
from ascend_ref.derive.communication_report import (
    CLASSES,
    TOTAL,
    communication_report,
    matrix_report,
)
from ascend_spec import catalog, layout_catalog

ANALYZE = "analyze"
"""The folder below PROF_*."""
ANALYSIS_FORMS = ("db", "text")


def write_analysis(
    folder: Path, capture: Capture, revision: str, forms: Collection[str] = ANALYSIS_FORMS
) -> list[Path]:
    """Write what there is of communication into the existing ``folder``; returns the paths.

    forms: ``db`` for communication_analyzer.db, ``text`` for the two JSON documents. Nothing is
    written of a capture without communication operators, or at level 0. Raises ``KeyError`` for an
    unknown revision, ``OSError`` where ``folder`` cannot be written.
    """
    schema = catalog().at(revision, "analysis").without_adapter
    tables = encode(capture, schema)
    written: list[Path] = []
    if not tables:
        return written
    if "db" in forms:
        written.append(folder / layout_catalog().file("mindspore", "analysis"))
        write_database(written[-1], schema, tables)
    if "text" in forms:
        for name, document in _documents(tables).items():
            written.append(folder / layout_catalog().file("pytorch", name))
            with atomic_file(written[-1]) as file:
                file.write(json.dumps(document, ensure_ascii=False).encode())
    return written


def _documents(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    times, bandwidths, matrix = (
        _undivided(tables[name])
        for name in ("CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix")
    )
    operators, flows = (
        {name: one for _, report in some for name, one in report[CLASSES[0]].items()}
        for some in (communication_report(times, bandwidths), matrix_report(matrix))
    )
    operators.pop(TOTAL, None)
    return {"communication": operators, "communication_matrix": flows}


def _undivided(columns: Mapping[str, Any]) -> pa.Table:
    """A table in which every row is of one step and class, and of no operator besides its own."""
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    for name, text in (("step", ""), ("type", CLASSES[0]), ("op_name", "")):
        table = table.append_column(name, pa.repeat(pa.scalar(text), table.num_rows))
    return table
