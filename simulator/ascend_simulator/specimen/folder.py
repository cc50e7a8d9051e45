"""Specimens on disk, in the directories that the exporters leave behind (consumers.md 3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, cast

from ascend_ref.capture import Origin, Switches
from ascend_ref.db.writer import write_database
from ascend_ref.profile import grammar
from ascend_ref.profile.information import Schedule, profiler_info
from ascend_ref.profile.staging import staged
from ascend_spec import catalog

from .encode import HOST_NAME, HOST_UID, build
from .shape import Shape
from .world import FIRST_STEP, PROCESS, SESSION_START_NS

LETTERS = "ABCDEFGHIJKLMNOP"
SAMPLES_PER_SECOND = 1_000


def write_rank_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``{host}_{pid}_{time}_ascend_pt`` below a folder, for one rank; returns its path.

    It holds the profiler database, analysis.db and profiler_info. Ranks of one group differ in
    their process id, so several of them fit side by side. Raises ``FileExistsError`` when the
    directory exists.
    """
    shape = shape or Shape()
    name = grammar.pytorch_folder(HOST_NAME, PROCESS + shape.rank, SESSION_START_NS)
    with staged(folder / name) as draft:
        output = draft / grammar.OUTPUT
        output.mkdir()
        columns = build(revision, "pytorch", shape)
        schema = catalog().at(revision, "pytorch")
        write_database(output / grammar.pytorch_database(shape.rank), schema, columns)
        analysis = build(revision, "analysis", shape)
        write_database(output / grammar.ANALYSIS, catalog().at(revision, "analysis"), analysis)
        end: int = columns["SESSION_TIME_INFO"]["endTimeNs"][0]
        information = json.dumps(_information(revision, shape, end), indent=4)
        path = draft / grammar.profiler_info(shape.rank)
        path.write_text(information, encoding="utf-8")
    return folder / name


def write_msprof_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``PROF_{number}_{time}_{letters}/msprof_{14 digits}.db`` below a folder.

    Returns the directory. Raises ``FileExistsError`` when it exists.
    """
    name = grammar.prof_folder(SESSION_START_NS, LETTERS)
    with staged(folder / name) as draft:
        path = draft / grammar.msprof_database(SESSION_START_NS)
        write_database(path, catalog().at(revision, "msprof"), build(revision, "msprof", shape))
    return folder / name


def _information(revision: str, shape: Shape, end: int) -> dict[str, object]:
    """The switches that a capture of this shape had, and the clocks at its bounds."""
    sampled = SAMPLES_PER_SECOND if shape.with_samples else 0
    switches = Switches(
        level=cast("Literal[0, 1, 2]", shape.level),
        aic_metrics="PipeUtilization" if shape.with_pmu else None,
        memory=shape.with_memory,
        stack=shape.with_stack,
        mstx=shape.with_mstx,
        gc=shape.with_gc,
        sys_hardware_mem=sampled,
        sys_io=sampled,
        sys_interconnection=sampled,
        host_sys=("cpu", "mem", "disk", "network", "osrt") if shape.with_host else (),
    )
    origin = Origin(
        rank=shape.rank,
        ranks=shape.ranks,
        devices=(shape.rank,),
        chip=shape.product,
        pid=PROCESS,
        host_name=HOST_NAME,
        host_uid=HOST_UID,
        start=SESSION_START_NS,
        end=end,
    )
    schedule = Schedule(0, shape.steps, 0, 1, FIRST_STEP)
    return profiler_info(catalog().revision(revision), switches, schedule, origin)
