"""Losses of CSV files and documents, file by file and row by row."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from .model import TEXT, Taken, gone_from, registering, span, whole
from .timelines import DEVICE_LAYERS, lose_layers, text_files, timelines

in_texts = registering(whole, TEXT)

FREE_FILES = ("npu_module_mem", "l2_cache")
"""Beginnings of files that a switch alone decides on."""


def is_of_framework(folder: Path) -> bool:
    """Whether a framework's profiler wrote the folder and says with which settings."""
    return any(folder.rglob("profiler_info*.json"))


@in_texts("file")
def file(folder: Path, source: random.Random) -> Taken:
    gone = source.choice(text_files(folder))
    gone.unlink()
    is_listed = any(folder.rglob("README.txt"))
    is_due = is_of_framework(folder) and not gone.name.startswith(FREE_FILES)
    return gone_from(gone.name, is_listed or is_due)


@in_texts("rows", "tasks", "kernels", "memory", "samples", "steps")
def rows_of_a_csv_file(folder: Path, source: random.Random) -> Taken:
    found = [path for path in text_files(folder) if path.suffix == ".csv"]
    long = {path: lines for path in found if len(lines := csv_lines(path)) > 12}
    if not long:
        return None
    chosen = source.choice(sorted(long))
    lines = long[chosen]
    where = source.choice(["head", "middle", "tail"])
    at_an_end = chosen.name.startswith(("memory_record", "operator_memory")) and where != "middle"
    gone = set(span(range(1, len(lines)), where, source))
    chosen.write_bytes(b"".join(one for at, one in enumerate(lines) if at not in gone))
    is_seen = not at_an_end and not chosen.name.startswith("l2_cache")
    return gone_from(f"{len(gone)} rows of {chosen.name} from {min(gone)}, {where}", is_seen)


def csv_lines(path: Path) -> list[bytes]:
    """The rows of a CSV file as they stand there; a row goes on where a quote is open."""
    found: list[bytes] = []
    for line in path.read_bytes().splitlines(keepends=True):
        if found and found[-1].count(b'"') % 2:
            found[-1] += line
        else:
            found.append(line)
    return found


@in_texts("steps", "rows")
def step_of_a_csv_file(folder: Path, source: random.Random) -> Taken:
    found = []
    for path in text_files(folder):
        if path.suffix == ".csv":
            with path.open(newline="", encoding="utf-8") as lines:
                head = next(csv.reader(lines), [])
                at = next((one for one, name in enumerate(head) if name in ("Step", "Step Id")), -1)
                steps = {row[at] for row in csv.reader(lines) if len(row) > at and row[at]}
            if at >= 0 and len(steps) > 1:
                found.append((path, at, sorted(steps)))
    if not found:
        return None
    path, at, numbers = source.choice(found)
    gone = source.choice(numbers)
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))
    text = io.StringIO(newline="")
    csv.writer(text).writerows(one for one in rows if one[at] != gone)
    path.write_bytes(text.getvalue().encode())
    return f"step {gone} of {path.name}"


@in_texts("tasks", "device", "file")
def side_of_the_device(folder: Path, source: random.Random) -> Taken:
    """All columns of the device: what an analysis writes that found no data of a device."""
    gone = (
        "kernel_details",
        "op_summary",
        "op_statistic",
        "task_time",
        "communication",
        "l2_cache",
    )
    if not is_of_framework(folder):
        return None
    found = [path for path in text_files(folder) if path.name.startswith(gone)]
    for path in found:
        path.unlink()
    for path in timelines(folder):
        lose_layers(path, lambda name: name in DEVICE_LAYERS)
    return "all" if found else None
