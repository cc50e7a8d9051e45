"""Folders ``*_ascend_ms`` of a simulated run, by the writer of a day."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from ascend_ref.capture import Capture
from ascend_ref.mindspore.write.folders import write_pipeline_of_folder
from ascend_ref.mindspore.write.minddata import DataPipeline
from ascend_ref.profile import write_mindspore_profile
from ascend_spec import layout_catalog, mindspore_catalog, text_catalog

from ..choices import Scenario
from ..documents.text import ScenarioError
from ..loss.without import without_steps
from ..world.disturbance import Disturbances
from .data import data_pipeline

FOLDERS_SINCE = "2024-11-12"
"""From then on the analysis itself writes all files, those of the data pipeline as well."""
FIRST: Final = "G5a"
OUTPUT: Final = "mindspore"
"""The first generation of folders, and whose output they are."""


def viewer_on(day: str) -> str:
    """The writer of folders on a day (ISO); on one before there were any, today's."""
    if day >= mindspore_catalog().generations[FIRST].since:
        return text_catalog().writer_on(OUTPUT, day)
    return next(
        one.id for one in text_catalog().writers.values() if one.output == OUTPUT and one.current
    )


def require_database(scenario: str, viewer: str) -> None:
    """Raises :class:`ScenarioError` where a writer is older than the databases of MindSpore."""
    database = layout_catalog().files["mindspore", "database"]
    if not database.is_written_on(text_catalog().writers[viewer].date):
        raise ScenarioError(
            f"{scenario}: MindSpore writes a database since {database.since}; "
            "expected mindspore-text alone for this generation"
        )


def pipeline_of(
    scenario: Scenario, disturbances: Disturbances, seed: int
) -> Callable[[Capture], DataPipeline] | None:
    """The data pipeline of a rank; ``None`` where the program does not look at it.

    One whose only trouble is the loading of data does, and so sets no schedule: the profiler
    records one of the two.
    """
    if {fault.kind for fault in scenario.faults} != {"data-loading-stall"}:
        return None
    return partial(data_pipeline, scenario, disturbances, seed=seed)


def write_folder(
    folder: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str],
    without_arrows: Collection[str],
    viewer: str,
    pipeline: Callable[[Capture], DataPipeline] | None,
) -> Path:
    """Write the folder of a rank; the data pipeline is in it where one is given and text exported.

    There is no schedule then, and no step is marked.
    """
    shown = capture
    if pipeline is not None:
        shown = without_steps(capture)
        shown = replace(shown, origin=replace(shown.origin, scheduled=shown.steps))
    profile = write_mindspore_profile(
        folder,
        shown,
        revision,
        forms,
        without_arrows,
        writer=viewer,
        data_process=pipeline is not None,
    )
    day = text_catalog().writers[viewer].date
    if pipeline is not None and "text" in forms and day >= FOLDERS_SINCE:
        write_pipeline_of_folder(profile, max(capture.origin.rank, 0), day, pipeline(capture))
    return profile
