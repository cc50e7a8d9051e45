"""What MindSpore's profiler leaves of a simulated run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from ascend_ref.capture import Capture
from ascend_ref.mindspore.write.aicore import GROUP
from ascend_ref.mindspore.write.gpu import KIND as OF_GPU
from ascend_ref.mindspore.write.write import (
    gpu_folder,
    job_folder,
    job_of,
    write_ascend_job,
    write_gpu_job,
)
from ascend_spec import mindspore_catalog

from ..choices import LOSSES_OF_JOBS, Scenario
from ..documents.text import ScenarioError
from ..draws import Draws
from ..formats import FORMATS
from ..world.disturbance import Disturbances
from .damage import JobDamage, damage_job
from .data import data_pipeline
from .expected import expected_of_gpu, expected_of_job
from .exported import expected_of_export
from .record import JobRecord


def first_day(formats: Collection[str]) -> str:
    """The day (ISO) of the first generation, or of the first GPU that was profiled, where a format
    is of a GPU.
    """
    days = [next(iter(mindspore_catalog().generations.values())).day]
    if any(FORMATS[name] == ("mindspore-jobs", "gpu") for name in formats):
        days.append(mindspore_catalog().files[OF_GPU].since or "")
    return max(days)


def of_mindspore(scenario: Scenario) -> Scenario:
    """The same run as MindSpore's profiler takes it: of a compiled graph, with AI CPUs, counting
    what operators compute.
    """
    return replace(
        scenario,
        model=replace(scenario.model, graph=True),
        capture=replace(scenario.capture, aicpu=True, aic_metrics=GROUP),
    )


@dataclass(frozen=True, slots=True)
class WrittenJob:
    """A job that was written: its folder, what is to be found in it, and what faults did to it.

    ``damages``: by the place of the fault, with paths in the folder.
    """

    path: Path
    expected: Mapping[str, Any]
    damages: Mapping[int, Sequence[JobDamage]]

    def truth(self, folder: Path) -> dict[str, Any]:
        """Its entry in truth.json, which stands in ``folder``."""
        return {"path": self.path.relative_to(folder).as_posix(), **self.expected}

    def damages_of(self, place: int, folder: Path) -> Iterator[JobDamage]:
        """What the fault of a place did, with paths as seen from ``folder``."""
        below = self.path.relative_to(folder)
        for one in self.damages.get(place, ()):
            yield replace(one, path=(below / one.path).as_posix())


def write_jobs(
    folder: Path,
    capture: Capture,
    scenario: Scenario,
    seed: int,
    day: str,
    forms: Collection[str],
    not_held: list[str],
) -> Iterator[WrittenJob]:
    """Write the jobs of a rank below a folder. forms: ``ascend``, ``gpu``.

    ``not_held`` takes what they do not hold. Raises as :func:`write_ascend_job`, but
    :class:`ScenarioError` for what files of the day cannot hold.
    """
    disturbances = Disturbances.of(scenario)
    pipeline = data_pipeline(scenario, disturbances, capture, seed)
    try:
        if "ascend" in forms:
            # A worker that was lost may have written and damaged it before.
            rmtree(folder / job_folder(capture, day), ignore_errors=True)
            path = write_ascend_job(folder, capture, day, pipeline, not_held)
            record = JobRecord.of(job_of(path, capture, day))
            damages = dict(_damages(path, record, disturbances, seed))
            expected = {**expected_of_job(record, pipeline), **expected_of_export(record.job)}
            yield WrittenJob(path, {**_whose(capture, day), **expected}, damages)
        if "gpu" in forms:
            rmtree(folder / gpu_folder(capture), ignore_errors=True)
            path = write_gpu_job(folder, capture, day, pipeline)
            expected = expected_of_gpu(job_of(path, capture, day), pipeline)
            yield WrittenJob(path, {**_whose(capture, day), **expected}, {})
    except ValueError as error:
        raise ScenarioError(f"{scenario.name}: rank {capture.origin.rank}: {error}") from None


def _whose(capture: Capture, day: str) -> dict[str, Any]:
    return {"rank": capture.origin.rank, "device": capture.origin.devices[0], "day": day}


def _damages(
    path: Path, record: JobRecord, disturbances: Disturbances, seed: int
) -> Iterator[tuple[int, list[JobDamage]]]:
    """Apply the faults of jobs, one after the other; what each did, by its place."""
    rank = record.job.capture.origin.rank
    for place, fault in enumerate(disturbances.faults):
        if fault.kind in LOSSES_OF_JOBS and rank in disturbances.ranks_of(fault):
            yield place, damage_job(path, record, fault, Draws(seed, "job", place, rank))
