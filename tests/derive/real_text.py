"""Real text deliverables of one rank, read with the standard library alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "text"
RANK = "pytorch_level1_rank0/ASCEND_PROFILER_OUTPUT"


@cache
def path_of(name: str) -> Path:
    """A real file; skips the test where it is not there."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"needs the real files of {DATA}")
    return path


@cache
def rows_of(name: str) -> list[dict[str, str]]:
    """Rows of a CSV file of the rank."""
    with path_of(f"{RANK}/{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@cache
def document(name: str) -> Any:
    """A JSON file of the rank or, with a folder, of elsewhere."""
    path = path_of(name if "/" in name else f"{RANK}/{name}.json")
    return json.loads(path.read_text(), parse_float=Decimal)


@cache
def layer(name: str) -> list[dict[str, Any]]:
    """The slices of one process of the rank's timeline, in order of the file."""
    events = document("trace_view")
    pids = [
        event["pid"]
        for event in events
        if event["name"] == "process_name" and event["args"]["name"] == name
    ]
    return [event for event in events if event["ph"] == "X" and event["pid"] in pids]


def nanoseconds(cells: Iterable[str | float | Decimal]) -> np.ndarray:
    """us as whole ns; what is finer is rounded."""
    return np.array([round(Decimal(str(cell).strip()) * 1000) for cell in cells], np.int64)


def places(keys: Iterable[Any]) -> tuple[list[Any], np.ndarray]:
    """Different keys in order of first use, and for each key its place among them."""
    order: dict[Any, int] = {}
    owner = [order.setdefault(key, len(order)) for key in keys]
    return list(order), np.array(owner, np.int64)
