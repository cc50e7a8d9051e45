"""From a capture to the folder of a job."""

from __future__ import annotations

from pathlib import Path

from ascend_ref.atomic import staged
from ascend_ref.capture import Capture
from ascend_ref.names import letters_of, prof_folder
from ascend_ref.raw.lines import Entry

from .aicore import write_aicore
from .aicpu import write_aicpu, write_fetches
from .device import write_log, write_points
from .exported import write_exports
from .framework import write_framework
from .gpu import write_gpu_fetches, write_gpu_steps
from .graph import Graph
from .hccl import write_hccl
from .job import SLICE, Job, is_of_records
from .memory import write_memory
from .minddata import DataPipeline, write_data_pipeline

LAST_DEVICE = 9
"""The greatest number that names of text of the framework have a place for."""

_LETTERS = 8
_MONOTONIC = 261_003_032_627
"""What the monotonic clock of the host shows as the collection starts, as in a real capture."""


def write_ascend_job(
    folder: Path,
    capture: Capture,
    day: str,
    pipeline: DataPipeline | None = None,
    lost: list[str] | None = None,
    slice_size: int = SLICE,
) -> Path:
    """Write ``JOB<letters>``, or ``PROF_*`` of days with records, below ``folder``: the raw files
    that MindSpore's profiler leaves on a day of what one rank recorded. Returns its path.

    day (ISO): decides about names, records and lines. pipeline: of the data, None without one.
    lost: takes what the raw files do not hold, a phrase each. slice_size: most bytes of a slice.
    The folder appears complete or not at all.

    Raises ``FileExistsError`` for a job that exists, ``ValueError`` for a capture that the files of
    the day cannot hold, ``OSError``.
    """
    path = folder / job_folder(capture, day)
    with staged(path) as draft:
        job = job_of(draft, capture, day, slice_size)
        draft.mkdir(exist_ok=True)
        write_log(job)
        missing = write_points(job)
        write_framework(job)
        write_aicpu(job)
        write_fetches(job)
        write_hccl(job)
        write_aicore(job)
        write_memory(job)
        _write_clocks(job)
        write_exports(job)
        if pipeline is not None:
            write_data_pipeline(job, pipeline)
    if lost is not None:
        lost += missing
    return path


def write_gpu_job(
    folder: Path, capture: Capture, day: str, pipeline: DataPipeline | None = None
) -> Path:
    """Write ``rank_<rank>`` below ``folder``: what MindSpore's profiler leaves on a day of the same
    run on a GPU. Arguments and errors as of :func:`write_ascend_job`.
    """
    path = folder / gpu_folder(capture)
    with staged(path) as draft:
        job = job_of(draft, capture, day)
        draft.mkdir(exist_ok=True)
        write_gpu_steps(job)
        write_gpu_fetches(job)
        if pipeline is not None:
            write_data_pipeline(job, pipeline)
    return path


def job_of(folder: Path, capture: Capture, day: str, slice_size: int = SLICE) -> Job:
    """The job of a capture of one device. Raises ``ValueError`` for a graph that is too large, and
    for a device that names of the day do not have.
    """
    (device,) = capture.origin.devices
    job = Job(folder, day, capture, device, Graph.of(capture, device, day), slice_size)
    if not is_of_records(day) and device > LAST_DEVICE:
        raise ValueError(
            f"device {device}: names of {day} have one digit for it; expected at most {LAST_DEVICE}"
        )
    return job


def job_folder(capture: Capture, day: str) -> str:
    """The name of the folder of a rank's job on a day."""
    letters = letters_of(capture.origin.pid)
    if is_of_records(day):
        return prof_folder(capture.origin.start, letters)
    return f"JOB{letters[:_LETTERS]}"


def gpu_folder(capture: Capture) -> str:
    """The name of the folder of a rank on a GPU."""
    return f"rank_{capture.origin.rank}"


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
