"""From folders of older generations to profiles of the present one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ascend_ref.atomic import staged
from ascend_ref.profile.mindspore import NOT_KNOWN, Program, write_mindspore_profile
from ascend_ref.profile.write import write_msprof_outputs
from ascend_ref.raw.damage import Unreadable
from ascend_ref.spill import Spill
from ascend_spec import catalog, layout_catalog, mindspore_catalog

from ..analyse.files import INNER, Folder, folders_of
from ..folder import RawCapture, find_captures
from ..generation import find_generation
from ..parse.framework import framework_of
from ..parse.operator import Framework
from ..parse.parse import INCOMPLETE, Progress
from ..parse.pipeline import write_pipeline
from ..parse.run import Run
from .clock import TICK, UNIX, known_zero, unknown_zero
from .exported import iterations_exported, operators_and_runs
from .found import Found, Runs, earliest, placed
from .intermediate import (
    cpu_runs_in,
    fetches_in,
    first_tick,
    iterations_in,
    operators_in,
    runs_in,
)
from .lost import lost_of
from .operators import operators_of
from .precision import cpu_runs_in_turn, precision_of, runs_in_turn
from .raw_collectives import collectives_of
from .raw_runs import cpu_runs_of, runs_of
from .raw_steps import fetches_of, iterations_of
from .recording import capture_of

FORMS = ("db", "text")
LOST = "lost.txt"
"""File in a profile: what of the old files is not in it, and why, a line each."""

_PRESUMED = "G3m"
"""The last generation that wrote intermediate files: they show no day."""

READ = frozenset(
    {
        *("hwts", "training_trace", "ts_track", "aicpu", "minddata_aicpu", "minddata_pipeline"),
        *("task_desc_info", "graph_desc_info", "point"),
        *("task_desc_records", "tensor_data_records", "step_records", "hash_dic"),
        *("host_start", "device_start", "hccl_trace"),
    }
)
"""Kinds of raw files that are converted."""

LOG = "hwts"
EXPORTED = frozenset({"op_summary", "step_trace"})
"""Kinds of exported files that are converted, where there is no log of the scheduler."""

RECORDS = frozenset(
    {
        *("HWTS_TASK", "TRAINING_TRACE", "TS_TRACK", "AICPU"),
        *("TASK_DESC_INFO", "TENSOR_DATA_INFO", "STEP_INFO"),
    }
)
"""Declarations of which something is converted."""


@dataclass(frozen=True, slots=True)
class Converted:
    """What was made of one device. ``source``: the folder of its job or of its intermediate files.

    ``day``: of whose parsers the facts were taken. ``profile``: the folder that was written.
    ``lost``: what of the old files is not in it. ``damage``: what of them cannot be read.
    """

    source: Path
    device: str
    day: str
    profile: Path
    lost: tuple[str, ...]
    damage: tuple[str, ...]


def convert(
    source: Path,
    folder: Path,
    forms: Collection[str] = FORMS,
    generation: str | None = None,
    progress: Progress | None = None,
) -> list[Converted]:
    """Write a ``*_ascend_ms`` of each device below ``source`` into the new ``folder``.

    Raw files are read or, where there are none, intermediate files. forms: of :data:`FORMS`.
    generation: an id of generations.yaml or a day (ISO); by default found from raw files. What is
    not in a profile is stated in :data:`LOST`, what cannot be read in ``incomplete.txt``.
    ``folder`` appears complete or not at all.

    Raises ``Unreadable`` where there is neither, ``KeyError`` for an unknown generation,
    ``FileExistsError`` for a folder that exists, ``OSError``.
    """
    day = None if generation is None else mindspore_catalog().day_of(generation)
    sources = _sources(source)
    names = _names(sources)
    done = []
    with staged(folder) as draft:
        for number, (one, name) in enumerate(zip(sources, names, strict=True)):
            if progress:
                progress(number, len(sources), name)
            made = _convert(one, draft, name, forms, day)
            done.append(replace(made, profile=folder / made.profile.relative_to(draft)))
    return done


def _sources(path: Path) -> Sequence[RawCapture | Folder]:
    """What there is of each device: raw files or, where these are gone, intermediate files."""
    try:
        captures = find_captures(path)
    except Unreadable as none:
        found = _folders(path)
        if not found:
            raise Unreadable(f"{none}, and no intermediate file") from none
        return found
    # Parsers leave files of the dataset engine next to those that they make.
    files = mindspore_catalog().files
    if all(files[kind].target == "host" for one in captures for kind in one.files):
        return _folders(path) or captures
    return captures


def _folders(path: Path) -> Sequence[Folder]:
    """Intermediate files of a job, or of several in folders of their own, as parsers leave them."""
    if not path.is_dir():
        return ()
    below = sorted(one for one in path.iterdir() if one.is_dir())
    return folders_of(path) or [found for one in below for found in folders_of(one)]


def _names(sources: Sequence[RawCapture | Folder]) -> list[str]:
    """What profiles are called after: job and device, numbered where several have the same."""
    found: dict[str, int] = {}
    names = []
    for one in sources:
        name = f"{_job(one)}-{one.device}"
        found[name] = found.get(name, 0) + 1
        names.append(name if found[name] == 1 else f"{name}-{found[name]}")
    return names


def _job(source: RawCapture | Folder) -> str:
    if isinstance(source, RawCapture):
        return source.job
    return source.path.parent.name if source.path.name == INNER else source.path.name


def _convert(
    source: RawCapture | Folder, draft: Path, name: str, forms: Collection[str], day: str | None
) -> Converted:
    spill = Spill()
    pipeline: Run | None = None
    if isinstance(source, RawCapture):
        run = Run(source, day or find_generation(source).day, draft)
        is_gone = run.takes == "msprof" and LOG not in source.files
        found = _of_export(run) if is_gone else _of_raw(run, spill)
        used, damage = run.day, run.damage
        pipeline = run
    else:
        used = day or mindspore_catalog().generations[_PRESUMED].day
        found, damage = _of_folder(source, used), source.damage
    lost = list(found.lost)
    capture = capture_of(found, int(source.device), spill)
    if not len(capture.tasks):
        forms = [one for one in forms if one != "db"]
        lost.append("no file has a run of a task: there is no database")
    revision = catalog().revisions[-1].id
    profile = write_mindspore_profile(
        draft,
        capture,
        revision,
        forms,
        program=Program(name, NOT_KNOWN, NOT_KNOWN, ""),
        spill=spill,
        raw=False,
    )
    if "text" in forms:
        write_msprof_outputs(_prof(profile), capture, revision, ["csv"], spill=spill)
        if pipeline is not None:
            output = profile / layout_catalog().folder("mindspore", "output")
            write_pipeline(replace(pipeline, folder=output))
    lines = tuple(str(one) for one in damage)
    _state(profile / LOST, lost)
    _state(profile / INCOMPLETE, lines)
    return Converted(source.path, source.device, used, profile, tuple(lost), lines)


def _prof(profile: Path) -> Path:
    """The folder of CANN's profiler in that of a framework."""
    return next(one for one in profile.iterdir() if one.name.startswith("PROF_"))


def _of_raw(run: Run, spill: Spill) -> Found:
    framework = framework_of(run) or Framework({}, {}, ())
    operators = operators_of(framework.rows)
    numbers = {one.name: place for place, one in enumerate(operators)}
    runs, of_runs = runs_of(run, framework.names, numbers, spill)
    cpu_runs, of_cpu = placed(cpu_runs_of(run, framework.names), runs)
    iterations, of_steps = iterations_of(run)
    fetches, collectives = fetches_of(run), collectives_of(run)
    first = earliest(runs, cpu_runs, iterations, fetches, collectives)
    zero, of_clock = known_zero(run.capture, first) or unknown_zero(first, run.day)
    lost = [*of_clock, *lost_of(run.capture.files, READ, RECORDS), *of_runs, *of_cpu, *of_steps]
    return Found(operators, runs, cpu_runs, iterations, fetches, collectives, zero, lost)


def _of_export(run: Run) -> Found:
    """Of what msprof exported alone."""
    operators, runs, cpu_runs, lost = operators_and_runs(run)
    iterations = iterations_exported(run)
    fetches = fetches_of(run)
    if fetches:
        lost.append(f"{len(fetches):,} readings of data, at times of a counter that no file states")
    kinds = [one for one in run.capture.files if one not in EXPORTED]
    lost = [*lost_of(kinds, READ, RECORDS), *lost]
    return Found(operators, runs, cpu_runs, iterations, (), (), 0, lost)


def _of_folder(folder: Folder, day: str) -> Found:
    operators, tasks = operators_in(folder)
    runs, of_runs = runs_in(folder, operators, tasks)
    cpu_runs, of_cpu = placed(cpu_runs_in(folder), runs)
    iterations, fetches = iterations_in(folder), fetches_in(folder)
    lost = [*of_runs, *of_cpu]
    begun = first_tick(folder)
    if len(runs) and int(runs.start[0]) == 0:
        if begun is not None:
            runs = runs.later(begun * TICK)
        elif iterations or cpu_runs or fetches:
            lost.append(
                "output_timeline_data: times count from the first execution, and no file states "
                "when it was; it stands at the start of the others"
            )
            runs = runs.later(earliest(Runs(), cpu_runs, iterations, fetches))
    if len(runs) and int(runs.start[0]) >= UNIX and any(one.start < UNIX for one in fetches):
        lost.append(f"{len(fetches):,} readings of data, at times of a counter that no file states")
        fetches = []
    latest = max([0, *runs.start[-1:].tolist(), *(one.start for one in cpu_runs)])
    precision = precision_of(latest)
    runs, late = runs_in_turn(runs, precision)
    cpu_runs, late_on_cpu = cpu_runs_in_turn(cpu_runs, precision)
    if late or late_on_cpu:
        lost.append(
            f"times are doubles of us and of ms, known to {precision:,} ns: {late + late_on_cpu:,} "
            "tasks that would overlap the next one on their stream by no more end where it begins"
        )
    first = earliest(runs, cpu_runs, iterations, fetches)
    if first >= UNIX:
        return Found(operators, runs, cpu_runs, iterations, fetches, (), 0, lost)
    zero, of_clock = unknown_zero(first, day)
    return Found(operators, runs, cpu_runs, iterations, fetches, (), zero, [*of_clock, *lost])


def _state(path: Path, lines: Sequence[str]) -> None:
    if lines:
        text = "".join(f"{one}\n" for one in lines)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
