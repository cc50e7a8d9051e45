"""Specimens on disk, in the directories that the exporters leave behind (consumers.md 3)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from ascend_ref import names
from ascend_ref.atomic import staged
from ascend_ref.db.writer import write_database
from ascend_ref.profile.information import Schedule, profiler_info
from ascend_spec import catalog, layout_catalog

from .encode import build, capture
from .record import HOST_NAME
from .shape import Shape
from .world import FIRST_STEP, PROCESS, SESSION_START_NS

LETTERS = "ABCDEFGHIJKLMNOP"


def write_rank_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``{host}_{pid}_{time}_ascend_pt`` below a folder, for one rank; returns its path.

    It holds the profiler database, analysis.db and profiler_info. Ranks of one group differ in
    their process id, so several of them fit side by side. Raises ``FileExistsError`` when the
    directory exists.
    """
    shape = shape or Shape()
    name = names.pytorch_folder(HOST_NAME, PROCESS + shape.rank, SESSION_START_NS)
    with staged(folder / name) as draft:
        output = draft / layout_catalog().folder("pytorch", "output")
        output.mkdir()
        columns = build(revision, "pytorch", shape)
        schema = catalog().at(revision, "pytorch")
        write_database(
            output / layout_catalog().file("pytorch", "database", rank=shape.rank), schema, columns
        )
        analysis = build(revision, "analysis", shape)
        write_database(
            output / layout_catalog().file("pytorch", "analysis"),
            catalog().at(revision, "analysis"),
            analysis,
        )
        information = json.dumps(_information(revision, shape), indent=4)
        path = draft / layout_catalog().file("pytorch", "profiler_info", copy=shape.rank)
        path.write_text(information, encoding="utf-8")
    return folder / name


def write_msprof_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``PROF_{number}_{time}_{letters}/msprof_{14 digits}.db`` below a folder.

    Returns the directory. Raises ``FileExistsError`` when it exists.
    """
    name = names.prof_folder(SESSION_START_NS, LETTERS)
    with staged(folder / name) as draft:
        path = draft / names.msprof_database(SESSION_START_NS)
        write_database(path, catalog().at(revision, "msprof"), build(revision, "msprof", shape))
    return folder / name


def _information(revision: str, shape: Shape) -> dict[str, object]:
    """The switches that a capture of this shape had, and the clocks at its bounds."""
    recorded = capture(shape, "pytorch")
    origin = replace(recorded.origin, devices=(shape.rank,))
    schedule = Schedule(0, shape.steps, 0, 1, FIRST_STEP)
    return profiler_info(catalog().revision(revision), recorded.switches, schedule, origin)
