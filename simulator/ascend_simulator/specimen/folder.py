"""Specimens on disk, in the directories that the exporters leave behind (consumers.md 3)."""

from __future__ import annotations

import json
from pathlib import Path

from ascend_ref.db.encode.habits import PUBLIC_SOURCE
from ascend_ref.db.writer import write_database
from ascend_spec import catalog

from .encode import HOST_NAME, build
from .shape import Shape
from .world import FIRST_STEP, PROCESS, SESSION_START_NS

FOLDER_TIME = "20260101170000000"
"""SESSION_START_NS in the zone of the simulated host (UTC+8), as yyyymmddHHMMSSmmm."""


HOST_SAMPLERS = ("cpu", "mem", "disk", "network", "osrt")


def write_rank_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``{host}_{pid}_{time}_ascend_pt`` below a folder, for one rank; returns its path.

    It holds the profiler database, analysis.db and profiler_info. Ranks of one group differ in
    their process id, so several of them fit side by side. Raises ``FileExistsError`` when the
    directory exists.
    """
    shape = shape or Shape()
    rank_folder = folder / f"{HOST_NAME}_{PROCESS + shape.rank}_{FOLDER_TIME}_ascend_pt"
    output = rank_folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    columns = build(revision, "pytorch", shape)
    name = f"ascend_pytorch_profiler_{shape.rank}.db"
    write_database(output / name, catalog().at(revision, "pytorch"), columns)
    analysis = build(revision, "analysis", shape)
    write_database(output / "analysis.db", catalog().at(revision, "analysis"), analysis)
    end: int = columns["SESSION_TIME_INFO"]["endTimeNs"][0]
    information = json.dumps(_profiler_info(revision, shape, end), indent=4)
    (rank_folder / f"profiler_info_{shape.rank}.json").write_text(information, encoding="utf-8")
    return rank_folder


def write_msprof_folder(folder: Path, revision: str, shape: Shape | None = None) -> Path:
    """Write ``PROF_{number}_{time}_{letters}/msprof_{14 digits}.db`` below a folder.

    Returns the directory. Raises ``FileExistsError`` when it exists.
    """
    prof_folder = folder / f"PROF_000001_{FOLDER_TIME}_ABCDEFGHIJKLMNOP"
    prof_folder.mkdir(parents=True)
    path = prof_folder / f"msprof_{FOLDER_TIME[:14]}.db"
    write_database(path, catalog().at(revision, "msprof"), build(revision, "msprof", shape))
    return prof_folder


def _profiler_info(revision: str, shape: Shape, end: int) -> dict[str, object]:
    """The switches that a capture of this shape had, and the clocks at its bounds."""
    first_monotonic = 173_856_219_092_400
    counters = shape.with_pmu and shape.level > 0
    experimental: dict[str, object] = {
        "_profiler_level": f"Level{shape.level}",
        "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION" if counters else "ACL_AICORE_NONE",
        "_l2_cache": False,
        "_msprof_tx": shape.with_mstx,
        "_data_simplification": True,
        "record_op_args": False,
        "_export_type": "db",
        "_op_attr": False,
        "_gc_detect_threshold": 0 if shape.with_gc else None,
    }
    if catalog().revision(revision).date >= PUBLIC_SOURCE:
        experimental |= {
            "_msprof_tx": False,
            "_export_type": ["db"],
            "_mstx": shape.with_mstx,
            "_mstx_domain_include": [],
            "_mstx_domain_exclude": [],
            "_host_sys": list(HOST_SAMPLERS) if shape.with_host else [],
            "_sys_io": shape.with_samples,
            "_sys_interconnection": shape.with_samples,
        }
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
            "experimental_config": experimental,
        },
        "start_info": {
            "syscnt_enable": True,
            "freq": 100,
            "start_cnt": first_monotonic // 10,
            "start_monotonic": first_monotonic,
        },
        "end_info": {
            "collectionTimeEnd": end,
            "MonotonicTimeEnd": first_monotonic + end - SESSION_START_NS,
        },
        "rank_id": shape.rank,
    }
