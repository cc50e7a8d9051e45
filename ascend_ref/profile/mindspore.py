"""From captures to the profiles of MindSpore on disk, and what their JSON files say.

Source: mindspore-present.md 1 to 3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ascend_ref import names
from ascend_ref.atomic import staged
from ascend_ref.capture import Capture, Steps, Switches
from ascend_ref.capture.metric_groups import aic_metrics
from ascend_ref.db.encode.metadata import program_facts
from ascend_ref.derive.mindspore_steps import COPIER
from ascend_ref.spill import Spill
from ascend_spec import document_catalog, layout_catalog, text_catalog

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
NS_PER_S = 1_000_000_000

CURRENT = "viewer"
"""The writer of today."""
VERSIONS: Mapping[str, str] = {
    "viewer": "2.7.0",
    "viewer-2025": "2.7.0",
    "viewer-2025-04": "2.6.0",
    "viewer-2025-02": "2.5.0",
    COPIER: "2.3.0",
}
"""The version of MindSpore that each writer is of."""
PYNATIVE = 1
"""The mode of a program, as profiler_info states it."""


class Program(NamedTuple):
    """The program that was profiled. ``worker``: in the name of its folder, by default the host;
    ``ms_version``: by default that of the writer.

    The others are those of simulated hosts, whose programs launch kernel by kernel: at O2 no steps
    are shown.
    """

    worker: str = ""
    ms_version: str = ""
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
    program: Program = SIMULATED,
    spill: Spill | None = None,
    writer: str = CURRENT,
    raw: bool = True,
    data_process: bool = False,
) -> Path:
    """Write ``{host}_{process}_{time}_ascend_ms`` below ``folder``; returns its path.

    forms: ``db``, the database of the rank, which is that of msprof; ``text``, the text files of
    today's writer; or both. communication_analyzer.db stands next to either where there is
    communication. without_arrows: categories of flows that its timeline lacks. spill: holds long
    columns. writer: of the spec (text/writers.yaml); those before 2025-03 write text alone, and
    those of MindSpore 2.3 and 2.4 call the folder after the rank. raw: whether FRAMEWORK is
    written, and the clocks of a simulated host. data_process: whether profiler_info states that the
    data pipeline was recorded. It appears complete or not at all.

    Raises as :func:`.write.write_pytorch_profile`.
    """
    require_known(forms, MINDSPORE_FORMS)
    day = text_catalog().writers[writer].date
    database = layout_catalog().files["mindspore", "database"]
    if "db" in forms and not database.is_written_on(day):
        raise ValueError(f"db: written since {database.since}, after {writer}; expected text")
    origin = capture.origin
    host = program.worker or origin.host_name
    if writer == COPIER:
        name = names.early_mindspore_folder(origin.rank, host, origin.pid, origin.start)
    else:
        name = names.mindspore_folder(host, origin.pid, origin.start)
    steps = _scheduled(capture)
    with staged(folder / name) as draft:
        write_mindspore_outputs(draft, capture, revision, forms, without_arrows, spill, writer)
        info = mindspore_info(
            capture,
            Schedule.of(steps) if len(steps.number) else None,
            [form for form in MINDSPORE_FORMS if form in forms],
            program,
            writer,
            data_process=data_process,
        )
        place = draft / layout_catalog().file("mindspore", "profiler_info", copy=rank_of(capture))
        write_json(place, info, indent=4)
        facts = program_facts(capture)
        if facts:
            write_json(draft / layout_catalog().file("mindspore", "profiler_metadata"), facts)
        if writer != COPIER:
            _write_collection(draft, capture, day, raw=raw)
    return folder / name


def _scheduled(capture: Capture) -> Steps:
    return capture.steps if capture.origin.scheduled is None else capture.origin.scheduled


def _write_collection(folder: Path, capture: Capture, day: str, *, raw: bool) -> None:
    """What the framework recorded, and of the collection what shows the clock and the devices."""
    from ascend_ref.raw.encode.side import write_host_clocks  # slow: numpy and the spec
    from ascend_ref.raw.framework.mindspore import write_mindspore_framework
    from ascend_ref.raw.moments import MOMENTS
    from ascend_ref.raw.tree import FRAMEWORK, HOST

    origin = capture.origin
    if raw:
        write_mindspore_framework(folder / FRAMEWORK, capture, day, rank_of(capture))
    if capture.switches.npu:
        prof = folder / prof_folder(origin)
        prof.mkdir()
        write_machine(prof, [origin])
        if raw:
            write_host_clocks(prof / HOST, origin, MOMENTS)


def write_mindspore_outputs(
    folder: Path,
    capture: Capture,
    revision: str,
    forms: Collection[str],
    without_arrows: Collection[str] = (),
    spill: Spill | None = None,
    writer: str = CURRENT,
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
        analysis = layout_catalog().files["mindspore", "analysis"]
        if analysis.is_written_on(text_catalog().writers[writer].date):
            place = output / analysis.name.of()
            write_database_of(place, capture, revision, "analysis", alone=True)
    kinds = TEXTS if "text" in forms else [kind for kind in TEXTS if kind in forms]
    if kinds:
        from .text import write_framework_texts  # slow: the spec of all files

        write_framework_texts(output, capture, "mindspore", revision, without_arrows, kinds, writer)


def rank_of(capture: Capture) -> int:
    """The rank in names: that of a program without communication is 0."""
    return max(capture.origin.rank, 0)


def mindspore_info(
    capture: Capture,
    schedule: Schedule | None,
    forms: Sequence[Form],
    program: Program,
    writer: str = CURRENT,
    *,
    data_process: bool = False,
) -> dict[str, Any]:
    """profiler_info: the switches of a capture (mindspore-present.md 3), as of the writer's day.

    schedule: ``None`` where none was set. Raises ``ValueError`` for a group of metrics that the
    framework's profiler does not have.
    """
    version = program.ms_version or VERSIONS[writer]
    if writer == COPIER:
        return _copied_info(capture, version)
    devices = capture.origin.devices
    schema = document_catalog().schema_of("profiler_info", writer)
    parameters = {**_parameters(capture.switches, schedule, forms), "data_process": data_process}
    info = {
        "profiler_parameters": _known(parameters, schema["$defs"]["parameters"]),
        "ms_profiler_info": {
            "rank_id": str(rank_of(capture)),
            "device_id": str(devices[0] if devices else 0),
        },
        "cann_profiler_info": {},
        "analysis_cost_time": {},
        "ms_version": version,
        "cann_version": program.cann_version,
        "context_mode": PYNATIVE,
        "jit_level": program.jit_level,
    }
    return _known(info, schema)


def _known(members: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The members that an object of a writer has."""
    return {key: value for key, value in members.items() if key in schema["properties"]}


def _copied_info(capture: Capture, version: str) -> dict[str, Any]:
    """profiler_info of MindSpore 2.3 and 2.4 (mindspore-profiler.md 3.5)."""
    switches, origin = capture.switches, capture.origin
    words = {True: "on", False: "off"}
    options = {
        "output": "./data",
        "fp_point": "",
        "bp_point": "",
        "training_trace": "on",
        "task_trace": "on",
        "aic_metrics": metrics_of(switches),
        "aicpu": "on",
        "profile_memory": words[switches.memory],
        "hccl": words[switches.level > 0],
        "l2_cache": words[switches.l2],
        "hbm_ddr": "off",
        "pcie": "off",
        "parallel_strategy": "off",
        "op_time": "on",
        "profile_framework": "all",
        "profiler_level": f"Level{switches.level}",
        "with_stack": words[switches.stack],
    }
    begun, ended = (
        datetime.fromtimestamp(moment // NS_PER_S, UTC) + names.HOST_ZONE
        for moment in (origin.start, origin.end or origin.start)
    )
    return {
        "context_mode": "pynative",
        "rank_id": str(rank_of(capture)),
        "ms_version": version,
        "parallel_mode": "stand_alone" if origin.rank < 0 else "data_parallel",
        "stage_num": 1,
        "profiling_options": options,
        "profiling_start_time": f"{begun:%Y-%m-%d %H:%M:%S}",
        "system_time": origin.start,
        "profiling_stop_time": f"{ended:%Y-%m-%d %H:%M:%S}",
        "is_heterogeneous": False,
        "data_simplification": True,
    }


def _parameters(
    switches: Switches, schedule: Schedule | None, forms: Sequence[Form]
) -> dict[str, Any]:
    return {
        "is_set_schedule": schedule is not None,
        "output_path": "./data",
        "profiler_level": f"Level{switches.level}",
        "activities": [name for name, on in (("CPU", switches.cpu), ("NPU", switches.npu)) if on],
        # Two names of one option, of which each writer knows one.
        "aic_metrics": metrics_of(switches),
        "aicore_metrics": metrics_of(switches),
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
