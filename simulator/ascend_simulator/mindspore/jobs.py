"""What MindSpore's profiler leaves of a simulated run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from ascend_ref.capture import Capture
from ascend_ref.mindspore.write.write import write_ascend_job, write_gpu_job

from ..choices import Scenario
from ..documents.text import ScenarioError
from ..world.disturbance import Disturbances
from .data import data_pipeline


def of_mindspore(scenario: Scenario) -> Scenario:
    """The same run as MindSpore's profiler takes it: of a compiled graph, with AI CPUs."""
    return replace(
        scenario,
        model=replace(scenario.model, graph=True),
        capture=replace(scenario.capture, aicpu=True),
    )


def write_jobs(
    folder: Path,
    capture: Capture,
    scenario: Scenario,
    seed: int,
    day: str,
    forms: Collection[str],
    not_held: list[str],
) -> Iterator[Path]:
    """Write the jobs of a rank below a folder. forms: ``ascend``, ``gpu``.

    ``not_held`` takes what they do not hold. Raises as :func:`write_ascend_job`, but
    :class:`ScenarioError` for what files of the day cannot hold.
    """
    pipeline = data_pipeline(scenario, Disturbances.of(scenario), capture, seed)
    try:
        if "ascend" in forms:
            yield write_ascend_job(folder, capture, day, pipeline, not_held)
        if "gpu" in forms:
            yield write_gpu_job(folder, capture, day, pipeline)
    except ValueError as error:
        raise ScenarioError(f"{scenario.name}: rank {capture.origin.rank}: {error}") from None
