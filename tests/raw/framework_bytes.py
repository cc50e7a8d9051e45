"""Files of FRAMEWORK written by hand, as the adapter's encoders write them (data_reporter.cpp)."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PROCESS = 4242
BASE = 1_700_000_000_000_000_000
"""Unix time at which the monotonic clock of the written profile was 0."""
COUNTER = 5_000
"""What the counter of 100 MHz showed when that clock was 1,000,000 ns."""


def tlv(tag: int, value: bytes) -> bytes:
    return struct.pack("<HI", tag, len(value)) + value


def operator(
    name: str,
    start: int,
    end: int,
    thread: int = 1,
    *,
    sequence: int = -1,
    forward: int = 0,
    texts: dict[int, str] | None = None,
) -> bytes:
    """A record of torch.op_range; texts: further ones by their tags."""
    fixed = struct.pack("<3q4QB?", start, end, sequence, PROCESS, thread, thread, forward, 0, False)
    every = {2: name, **(texts or {})}
    return tlv(1, fixed + b"".join(tlv(tag, text.encode()) for tag, text in every.items()))


def mark(category: int, name: str, time: int, correlation: int, thread: int) -> bytes:
    """A record of torch.op_mark."""
    fixed = struct.pack("<q4Q", time, category, correlation, thread, PROCESS)
    return tlv(2, fixed + tlv(1, name.encode()))


def function(tag: int, key: int, time: int, thread: int = 1) -> bytes:
    """A record of torch.python_tracer_func: 0 and 1 of Python, 2 and 3 of C."""
    return struct.pack("<4QB", time, thread, PROCESS, key, tag)


def function_name(key: int, name: str) -> bytes:
    """A record of torch.python_tracer_hash."""
    return tlv(4, struct.pack("<Q", key) + tlv(1, name.encode()))


def information(**changed: Any) -> dict[str, Any]:
    """profiler_info of a profile of the host alone, by a counter of 100 MHz."""
    found: dict[str, Any] = {
        "config": {
            "common_config": {
                "activities": ["ProfilerActivity.CPU"],
                "record_shapes": True,
                "profile_memory": False,
                "with_stack": True,
            },
            "experimental_config": {"_profiler_level": "Level1", "_export_type": ["db"]},
        },
        "start_info": {
            "syscnt_enable": True,
            "freq": 100,
            "start_cnt": COUNTER,
            "start_monotonic": 1_000_000,
        },
        "end_info": {"collectionTimeEnd": BASE + 9_000_000, "MonotonicTimeEnd": 9_000_000},
        "rank_id": 3,
    }
    return {**found, **changed}


def unix(count: int) -> int:
    """The Unix time of a count of that counter."""
    return BASE + 1_000_000 + (count - COUNTER) * 10


def write_profile(
    folder: Path, files: dict[str, Sequence[bytes]], info: dict[str, Any] | None = None
) -> Path:
    """A profile of these files of FRAMEWORK, by the names behind ``torch.``."""
    profile = folder / f"node1_{PROCESS}_20231115061320000_ascend_pt"
    (profile / "FRAMEWORK").mkdir(parents=True)
    for name, records in files.items():
        (profile / "FRAMEWORK" / f"torch.{name}").write_bytes(b"".join(records))
    document = information() if info is None else info
    (profile / "profiler_info_3.json").write_text(json.dumps(document))
    return profile
