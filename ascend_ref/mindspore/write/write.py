"""From a capture to the folder of a job."""

from __future__ import annotations

from pathlib import Path

from ascend_ref.atomic import staged
from ascend_ref.capture import Capture
from ascend_ref.names import letters_of, prof_folder
from ascend_ref.raw.lines import Entry

from .aicpu import write_aicpu, write_fetches
from .device import write_log, write_points
from .framework import write_framework
from .graph import Graph
from .job import SLICE, Job, is_of_records

_LETTERS = 8
_MONOTONIC = 261_003_032_627
"""What the monotonic clock of the host shows as the collection starts, as in a real capture."""


def write_ascend_job(
    folder: Path,
    capture: Capture,
    day: str,
    lost: list[str] | None = None,
    slice_size: int = SLICE,
) -> Path:
    """Write ``JOB<letters>``, or ``PROF_*`` of days with records, below ``folder``: the raw files
    that MindSpore's profiler leaves on a day of what one rank recorded. Returns its path.

    day (ISO): decides about names, records and lines. lost: takes what the raw files do not hold, a
    phrase each. slice_size: most bytes of a slice. The folder appears complete or not at all.

    Raises ``FileExistsError`` for a job that exists, ``ValueError`` for a capture that the files of
    the day cannot hold, ``OSError``.
    """
    path = folder / job_folder(capture, day)
    (device,) = capture.origin.devices
    graph = Graph.of(capture, device, day)
    with staged(path) as draft:
        job = Job(draft, day, capture, device, graph, slice_size)
        draft.mkdir(exist_ok=True)
        write_log(job)
        missing = write_points(job)
        write_framework(job)
        write_aicpu(job)
        write_fetches(job)
        _write_clocks(job)
    if lost is not None:
        lost += missing
    return path


def job_folder(capture: Capture, day: str) -> str:
    """The name of the folder of a rank's job on a day."""
    letters = letters_of(capture.origin.pid)
    if is_of_records(day):
        return prof_folder(capture.origin.start, letters)
    return f"JOB{letters[:_LETTERS]}"


def _write_clocks(job: Job) -> None:
    origin = job.capture.origin
    job.write_lines(
        "host_start",
        [
            Entry("section", {"section": f"Device{job.device}"}),
            Entry("realtime", {"clock_realtime": origin.start}),
            Entry("monotonic", {"clock_monotonic_raw": _MONOTONIC}),
        ],
    )
