"""What the library has written, as the raw files of the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ascend_ref.capture import Origin, Switches
from ascend_ref.raw.encode.side import write_side_files
from ascend_ref.raw.encode.tree import RawTree, Rows
from ascend_ref.raw.encode.write import sample_of
from ascend_ref.raw.machine import chip_of
from ascend_ref.raw.moments import MOMENTS

from .library import Library, Report

TIMES = ("beginTime", "endTime", "timeStamp")
AGES = "aging"
"""What executions report while they run may age (ge-profiling 5.11)."""


def write_host_files(folder: Path, library: Library, origin: Origin) -> None:
    """Write what is on the disk as ``host`` of a ``PROF_*`` folder, with its dictionaries.

    folder: an empty one. origin: the machine; times begin with its capture. Records of a file are
    in the order in which they were reported.
    """
    side = write_side_files(folder, origin, {None: sample_of(Switches())}, MOMENTS, {}, {})
    tree = RawTree(folder, chip_of(origin), side)
    start = int(tree.host.host.ticks(np.array([origin.start]))[0])
    groups: dict[str, list[Report]] = {}
    for one in library.written:
        groups.setdefault(one.file, []).append(one)
        tree.known_type(one.level, one.type, one.type_name)
    for text in library.texts.values():
        tree.hash(text)
    for file, reports in groups.items():
        first = reports[0].record if file != "api_event" else "API_EVENT"
        rows = tree.rows(file, len(reports), first)
        for place, one in enumerate(reports):
            rows[place : place + 1] = _row(tree, one, start).view(rows.dtype)
        tree.write(file, rows, age=AGES, record=first)
    tree.finish()


def _row(tree: RawTree, report: Report, start: int) -> Rows:
    row = tree.rows(report.file, 1, report.record, report.level)
    row["level"], row["type"], row["threadId"] = report.level, report.type, report.thread
    for name, value in report.fields.items():
        target = row[name][0]
        if isinstance(value, tuple):
            words = np.zeros(row.dtype[name].itemsize // 4, np.uint32)
            words[: len(value)] = value
            row[name] = words.view(row.dtype[name].base).reshape(row[name].shape)
        elif name in TIMES:
            row[name] = value + start
        else:
            row[name] = np.array(value).astype(target.dtype)
    return row
