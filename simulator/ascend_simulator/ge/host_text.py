"""The text of GlobalProfiler about the host of a simulated rank (ge-profiling 5.10)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ascend_ref.capture import Capture
from ascend_ref.ge.dump import DumpRecord, Scope, TextDump, dump_lines, dump_of_scopes
from ascend_ref.raw.vocabulary import level
from ascend_spec import ge_catalog
from ascend_spec.ge.reports import DumpName

WRITER: DumpName = "GlobalProfiler"
PREPARE, LAUNCH, WHOLE = (
    "RT1_KernelLaunchPrepare",
    "StaticSingleOpKernelLaunch",
    "StaticSingleOpExecute",
)


def host_text(capture: Capture, capacity: int | None = None) -> TextDump:
    """What the host did for each operator: its launch with what prepares it, in one execution.

    Of more records than the ``capacity`` the first ones stay.
    """
    calls, texts = capture.calls, capture.texts.all
    operators = _operators(capture)
    rows = np.flatnonzero(calls.level == level("NODE"))
    scopes = []
    columns = (calls.start, calls.end, calls.thread, calls.name, calls.connection)
    for start, end, thread, name, connection in zip(
        *(one[rows].tolist() for one in columns), strict=True
    ):
        middle = (start + end) // 2
        element = texts[operators.get(connection, name)]
        scopes.append(Scope(thread, element, PREPARE, start, middle))
        scopes.append(Scope(thread, element, LAUNCH, middle, end))
        scopes.append(Scope(thread, element, WHOLE, start, end))
    found = dump_of_scopes(WRITER, scopes, capacity)
    return _executed(found) if scopes and found.dropped_after is None else found


def _operators(capture: Capture) -> dict[int, int]:
    """The text of the operator that each call launched."""
    tasks, kernels = capture.tasks, capture.kernels
    connections = np.empty(len(tasks), np.int64)
    connections[tasks.identity] = tasks.connection
    names = capture.kernel_kinds.name[kernels.kind]
    return dict(zip(connections[kernels.task].tolist(), names.tolist(), strict=True))


def _executed(dump: TextDump) -> TextDump:
    """The same in one execution of a model."""
    spec = ge_catalog().dumps[WRITER]
    begun, ended = sorted(spec.models)
    element, event = spec.model
    times = [one.time for one in dump.records]
    thread = dump.records[0].thread
    records = [
        DumpRecord(min(times), thread, element, event, begun),
        *dump.records,
        DumpRecord(max(times), thread, element, event, ended),
    ]
    return TextDump(dump.dump, dump.version, len(records), records)


def write_host_text(capture: Capture, folder: Path, process: int) -> Path:
    """Write the text under the name that the graph engine gives it. Raises ``OSError``."""
    form = ge_catalog().dumps[WRITER].file or ""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / form.format(pid=process)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(dump_lines(host_text(capture)))
    return path
