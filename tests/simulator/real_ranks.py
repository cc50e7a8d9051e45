"""The real databases of PyTorch ranks, which lie next to the project."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2].resolve() / ".." / "shared" / "data"
RANKS = (
    "db/level0_rank0/ascend_pytorch_profiler_0.db",
    "db/level1_rank0/ascend_pytorch_profiler_0.db",
    "db/level1_rank1/ascend_pytorch_profiler_1.db",
    "generations/db_910a_2024_level1_rank0/ascend_pytorch_profiler_0.db",
)


def connected(path: str) -> sqlite3.Connection:
    """One of RANKS, to be read; skips the test where it is absent."""
    if not (DATA / path).exists():
        pytest.skip(f"{path} is not next to the project in ../shared/data")
    return sqlite3.connect(f"file:{DATA / path}?mode=ro&immutable=1", uri=True)
