"""What Perfetto's trace processor made of a timeline, by its own tables."""

from __future__ import annotations

import csv
import io
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from consumer_traces import program

SEEN = """
SELECT 'stat' AS kind, name AS a, value AS b, 0 AS c FROM stats WHERE value > 0
  AND (name GLOB 'slice_*' OR name GLOB 'flow_*' OR name GLOB 'json_*')
UNION ALL SELECT 'slice', s.name, ifnull(p.name, ''), s.dur FROM slice s
  LEFT JOIN slice p ON p.id = s.parent_id
UNION ALL SELECT 'flow', a.name, b.name, 0 FROM flow
  JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in;
"""


@dataclass(frozen=True)
class View:
    """Its own statistics; by each slice what it is shown in; the arrows by the names of slices."""

    stats: dict[str, int]
    parents: Counter[tuple[str, str]]
    arrows: Counter[tuple[str, str]]


def view(trace: Path) -> View | None:
    """What it shows; ``None`` where it refuses the file."""
    script = trace.with_suffix(".sql")
    script.write_text(SEEN)
    ran = subprocess.run(
        [program(), "-q", script, trace], capture_output=True, text=True, timeout=60, check=False
    )
    if ran.returncode != 0:
        return None
    rows = list(csv.reader(io.StringIO(ran.stdout)))[1:]
    return View(
        stats={name: int(value) for kind, name, value, _ in rows if kind == "stat"},
        parents=Counter((name, parent) for kind, name, parent, _ in rows if kind == "slice"),
        arrows=Counter((start, end) for kind, start, end, _ in rows if kind == "flow"),
    )
