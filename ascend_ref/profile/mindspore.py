"""From captures to the profiles of MindSpore on disk, and what their JSON files say.

Source: mindspore-present.md 1 to 3.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ascend_ref import names
from ascend_ref.atomic import staged
from ascend_ref.capture import Capture, Switches
from ascend_ref.capture.metric_groups import aic_metrics
from ascend_ref.db.encode.metadata import program_facts
from ascend_ref.spill import Spill
from ascend_spec import layout_catalog

from .information import Form, Schedule
from .write import (
    TEXTS,
    prof_folder,
    require_known,
    write_database_of,
    write_json,
    write_machine,
)

MINDSPORE_FORMS: tuple[Form, ...] = ("text", "db")
USUAL_METRICS = "PipeUtilization"


class Program(NamedTuple):
    """The program that was profiled. ``worker``: in the name of its folder, by default the host.

    The others are those of simulated hosts, whose programs launch kernel by kernel: at O2 no steps
    are shown.
    """

    worker: str = ""
    ms_version: str = "2.7.0"
    cann_version: str = "9.0.0"
    jit_level: str = "O1"


SIMULATED = Program()
NOT_KNOWN = "not known"
"""In place of a version, as MindSpore writes it of CANN (mindspore-present.md 3)."""


def write_mindspore_profile(
    folder: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str] = ("db",),
    without_arrows: Collection[str] = (),
    lost: list[str] | None = None,
    program: Program = SIMULATED,
    spill: Spill | None = None,
) -> Path:
    """Write ``{host}_{process}_{time}_ascend_ms`` below ``folder``; returns its path.

    forms: ``db``, the database of the rank, which is that of msprof; ``text``, the text files of
    today's writer; or both. communication_analyzer.db stands next to either where there is
    communication. without_arrows: categories of flows that its timeline lacks. lost: takes nothing,
    since no raw files are written. spill: holds long columns. It appears complete or not at all.

    Raises as :func:`.write.write_pytorch_profile`.
    """
    require_known(forms, MINDSPORE_FORMS)
    origin = capture.origin
    name = names.mindspore_folder(program.worker or origin.host_name, origin.pid, origin.start)
    steps = capture.steps if origin.scheduled is None else origin.scheduled
    with staged(folder / name) as draft:
        write_mindspore_outputs(draft, capture, revision, forms, without_arrows, spill)
        info = mindspore_info(
            capture,
            Schedule.of(steps) if len(steps.number) else None,
            [form for form in MINDSPORE_FORMS if form in forms],
            program,
        )
        place = draft / layout_catalog().file("mindspore", "profiler_info", copy=rank_of(capture))
        write_json(place, info, indent=4)
        facts = program_facts(capture)
        if facts:
            write_json(draft / layout_catalog().file("mindspore", "profiler_metadata"), facts)
        if capture.switches.npu:
            prof = draft / prof_folder(origin)
            prof.mkdir()
            write_machine(prof, [origin])
    return folder / name


def write_mindspore_outputs(
    folder: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str],
    without_arrows: Collection[str] = (),
    spill: Spill | None = None,
) -> None:
    """What MindSpore's analysis makes of a capture: ASCEND_PROFILER_OUTPUT in the folder.

    forms: ``db``, or ``text`` or parts of it: ``csv``, ``timeline``, ``documents``. Other arguments
    and errors as of :func:`write_mindspore_profile`.
    """
    output = folder / layout_catalog().folder("mindspore", "output")
    output.mkdir()
    if capture.switches.npu:
        if "db" in forms:
            database = layout_catalog().file("mindspore", "database", rank=rank_of(capture))
            write_database_of(output / database, capture, revision, "msprof", spill)
        analysis = layout_catalog().file("mindspore", "analysis")
        write_database_of(output / analysis, capture, revision, "analysis", alone=True)
    kinds = TEXTS if "text" in forms else [kind for kind in TEXTS if kind in forms]
    if kinds:
        from .text import write_framework_texts  # slow: the spec of all files

        write_framework_texts(output, capture, "mindspore", revision, without_arrows, kinds)


def rank_of(capture: Capture) -> int:
    """The rank in names: that of a program without communication is 0."""
    return max(capture.origin.rank, 0)


def mindspore_info(
    capture: Capture, schedule: Schedule | None, forms: Sequence[Form], program: Program
) -> dict[str, Any]:
    """profiler_info: the switches of a capture (mindspore-present.md 3).

    schedule: ``None`` where none was set. Raises ``ValueError`` for a group of metrics that the
    framework's profiler does not have.
    """
    devices = capture.origin.devices
    return {
        "profiler_parameters": _parameters(capture.switches, schedule, forms),
        "ms_profiler_info": {
            "rank_id": str(rank_of(capture)),
            "device_id": str(devices[0] if devices else 0),
        },
        "cann_profiler_info": {},
        "analysis_cost_time": {},
        "ms_version": program.ms_version,
        "cann_version": program.cann_version,
        "jit_level": program.jit_level,
    }


def _parameters(
    switches: Switches, schedule: Schedule | None, forms: Sequence[Form]
) -> dict[str, Any]:
    return {
        "is_set_schedule": schedule is not None,
        "output_path": "./data",
        "profiler_level": f"Level{switches.level}",
        "activities": [name for name, on in (("CPU", switches.cpu), ("NPU", switches.npu)) if on],
        "aic_metrics": metrics_of(switches),
        "with_stack": switches.stack,
        "profile_memory": switches.memory,
        "data_process": False,
        "parallel_strategy": False,
        "start_profile": True,
        "l2_cache": switches.l2,
        "hbm_ddr": False,
        "pcie": False,
        "sys_io": switches.sys_io > 0,
        "sys_interconnection": switches.sys_interconnection > 0,
        "host_sys": list(switches.host_sys),
        "sync_enable": True,
        "data_simplification": True,
        "record_shapes": switches.record_shapes and switches.cpu,
        "export_type": list(forms),
        "mstx": switches.mstx,
        "mstx_domain_include": [],
        "mstx_domain_exclude": [],
        # Schedule.repeat counts the rounds; the profiler calls any number of them 0.
        "schedule": (schedule or Schedule(0, 1, 0, 0, 0))._asdict(),
    }


def metrics_of(switches: Switches) -> str:
    """The group of metrics as MindSpore spells it.

    Raises ``ValueError`` for one that its profiler does not have.
    """
    group = switches.aic_metrics if switches.level else None
    if group is None:
        # The profiler counts this group where none was chosen, but at level 0.
        return USUAL_METRICS if switches.level else "None"
    if group not in aic_metrics():
        known = ", ".join(other for other in aic_metrics() if other)
        raise ValueError(
            f"aic_metrics: {group!r}; expected None or one of {known}: "
            "MindSpore's profiler has no other"
        )
    return group
