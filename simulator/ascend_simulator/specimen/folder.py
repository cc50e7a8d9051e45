"""Specimens on disk, in the directories that the exporters leave behind (consumers.md 3)."""

from __future__ import annotations

import json
from pathlib import Path

from ascend_ref.db.writer import write_database
from ascend_spec import catalog
from ascend_spec.model import Carrier

from .encode import HOST_NAME, build
from .shape import Shape
from .world import FIRST_STEP, PROCESS, SESSION_START_NS

FOLDER_TIME = "20260101170000000"
"""SESSION_START_NS in the zone of the simulated host (UTC+8), as yyyymmddHHMMSSmmm."""


def write_rank_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``{host}_{pid}_{time}_ascend_pt`` below a folder, for one rank; returns its path.

    It holds the profiler database, analysis.db and profiler_info. Ranks of one group differ in
    their process id, so several of them fit side by side.
    """
    shape = shape or Shape()
    rank_folder = folder / f"{HOST_NAME}_{PROCESS + shape.rank}_{FOLDER_TIME}_ascend_pt"
    output = rank_folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    _write(output / f"ascend_pytorch_profiler_{shape.rank}.db", revision, "pytorch", shape)
    _write(output / "analysis.db", revision, "analysis", shape)
    information = json.dumps(_profiler_info(shape), indent=4)
    (rank_folder / f"profiler_info_{shape.rank}.json").write_text(information, encoding="utf-8")
    return rank_folder


def write_msprof_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``PROF_{number}_{time}_{letters}/msprof_{14 digits}.db`` below a folder."""
    prof_folder = folder / f"PROF_000001_{FOLDER_TIME}_ABCDEFGHIJKLMNOP"
    prof_folder.mkdir(parents=True)
    _write(prof_folder / f"msprof_{FOLDER_TIME[:14]}.db", revision, "msprof", shape or Shape())
    return prof_folder


def _write(path: Path, revision: str, carrier: Carrier, shape: Shape) -> None:
    write_database(path, catalog().at(revision, carrier), build(revision, carrier, shape))


def _profiler_info(shape: Shape) -> dict[str, object]:
    """The switches that a capture of this shape had, and the clocks at its bounds."""
    first_monotonic = 173_856_219_092_400
    length = 1_000_000_000
    return {
        "config": {
            "common_config": {
                "activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
                "schedule": {
                    "wait": 0,
                    "active": shape.steps,
                    "warmup": 0,
                    "repeat": 1,
                    "skip_first": FIRST_STEP,
                },
                "record_shapes": True,
                "profile_memory": shape.with_memory,
                "with_stack": shape.with_stack,
                "with_flops": False,
                "with_modules": False,
            },
            "experimental_config": {
                "_profiler_level": f"Level{shape.level}",
                "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION",
                "_l2_cache": False,
                "_msprof_tx": shape.with_mstx,
                "_data_simplification": True,
                "record_op_args": False,
                "_export_type": "db",
                "_op_attr": False,
                "_gc_detect_threshold": 0 if shape.with_gc else None,
            },
        },
        "start_info": {
            "syscnt_enable": True,
            "freq": 100,
            "start_cnt": first_monotonic // 10,
            "start_monotonic": first_monotonic,
        },
        "end_info": {
            "collectionTimeEnd": SESSION_START_NS + length,
            "MonotonicTimeEnd": first_monotonic + length,
        },
        "rank_id": shape.rank,
    }
