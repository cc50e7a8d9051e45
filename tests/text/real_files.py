"""Real CSV files and a real timeline, read with the standard library alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
RANK = "text/pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT"
FILES = (
    "api_statistic",
    "kernel_details",
    "l2_cache",
    "memory_record",
    "npu_module_mem",
    "op_statistic",
    "operator_details",
    "operator_memory",
    "step_trace_time",
)


def path_of(name: str) -> Path:
    """A real file; skips the test where it is not there."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"needs the real files of {DATA}")
    return path


@cache
def bytes_of(name: str) -> bytes:
    """A CSV file of the rank as it is."""
    return path_of(f"{RANK}/{name}.csv").read_bytes()


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    """Rows of a CSV file of the rank."""
    with path_of(f"{RANK}/{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def trace() -> list[dict[str, Any]]:
    """The events of the rank's timeline."""
    return json.loads(path_of(f"{RANK}/trace_view.json").read_text(), parse_float=Decimal)


def layer(name: str, phase: str = "X") -> list[dict[str, Any]]:
    """The events of one process of the timeline, in order of the file."""
    (pid,) = (
        event["pid"]
        for event in trace()
        if event["name"] == "process_name" and event["args"]["name"] == name
    )
    return [event for event in trace() if event["ph"] == phase and event["pid"] == pid]


def nanoseconds(cells: Iterable[object]) -> list[int]:
    """us as whole ns; what is finer is rounded."""
    return [round(Decimal(str(cell).strip()) * 1000) for cell in cells]
