"""From a folder of raw files to one of intermediate files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ascend_ref.atomic import staged
from ascend_ref.raw.damage import Damage
from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import LineEnd

from ..folder import RawCapture, find_captures
from ..generation import Written, find_generation, generation_of
from .aicore import write_aicore
from .aicpu import write_aicpu
from .cluster import write_cluster
from .exported_communication import write_exported_communication
from .exported_operations import write_exported_operations
from .exported_operators import write_exported_operators
from .exported_steps import write_exported_steps
from .exported_timeline import write_exported_timeline
from .flops import write_flops
from .framework import write_framework
from .gpu_step_trace import write_gpu_steps
from .hccl import write_hccl
from .hwts import write_hwts
from .memory_usage import write_memory
from .minddata import write_fetches, write_queues, write_utilization
from .operators import write_operators
from .pipeline import write_pipeline
from .readable_times import write_readable_times
from .run import Parser, Run
from .shares import Shared, ranks_of
from .step_trace import write_steps

OF_DEVICE: Sequence[Parser] = (
    write_hwts,
    write_framework,
    write_operators,
    write_aicore,
    write_readable_times,
    write_steps,
    write_aicpu,
    write_hccl,
    write_cluster,
    write_flops,
)
"""Those whose files are made of what msprof exports, where that is."""

PARSERS: Sequence[Parser] = (
    *OF_DEVICE,
    write_exported_operators,
    write_exported_steps,
    write_exported_operations,
    write_exported_timeline,
    write_exported_communication,
    write_gpu_steps,
    write_fetches,
    write_pipeline,
    write_queues,
    write_utilization,
    write_memory,
)
"""In the order in which they run."""

INCOMPLETE = "incomplete.txt"
"""File next to what was made of raw files that could not all be read: what is missing."""

Progress: TypeAlias = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was made of one capture.

    ``written``: when its files were written. ``files``: the intermediate files. ``damage``: what of
    the raw files cannot be read, a line each.
    """

    capture: RawCapture
    written: Written
    files: tuple[Path, ...]
    damage: tuple[str, ...]


def parse(
    source: Path,
    folder: Path,
    generation: str | None = None,
    progress: Progress | None = None,
    line_end: LineEnd = "crlf",
    shared: Shared | None = None,
) -> list[Parsed]:
    """Write the intermediate files of every job and device below ``source`` into ``folder``.

    generation: an id of generations.yaml or a day (ISO); by default found from the files. Of
    several jobs each gets a folder of its own. What cannot be read is left out, and stated in
    :data:`INCOMPLETE` next to the files. line_end: of files of CSV. shared: the jobs are those of
    the ranks of one run, which share its work so; their files come into ``folder`` itself, with the
    number of the rank. ``folder`` appears complete or not at all.

    Raises ``Unreadable`` where there are no raw files, or two captures of one rank, ``KeyError``
    for an unknown generation, ``FileExistsError`` for a folder that exists, ``OSError``.
    """
    day = None if generation is None else mindspore_catalog().day_of(generation)
    captures = find_captures(source)
    ranks = {} if shared is None else ranks_of(captures, shared)
    names = _names(captures) if shared is None else ["."] * len(captures)
    done = []
    with staged(folder) as draft:
        for number, (capture, name) in enumerate(zip(captures, names, strict=True)):
            if progress:
                progress(number, len(captures), f"{capture.job} {capture.device}")
            written = find_generation(capture)
            if day is not None:
                written = Written(generation_of(day, exports=capture.exports(day)), day)
            (draft / name).mkdir(exist_ok=True)
            run = Run(capture, written.day, draft / name, line_end, of_rank=ranks.get(number))
            run.damage += _unread(run)
            run_parsers(run)
            damage = tuple(str(one) for one in run.damage)
            _state(draft / name, damage)
            files = tuple(folder / name / one for one in run.written)
            done.append(Parsed(capture, written, files, damage))
    return done


def run_parsers(run: Run, parsers: Sequence[Parser] = PARSERS) -> None:
    """One parser after the other, those of the device where there is no export."""
    for parser in parsers:
        if run.takes == "raw" or parser not in OF_DEVICE:
            parser(run)


def _names(captures: Sequence[RawCapture]) -> list[str]:
    """The folder of each, which is the one that was asked for where there is one job."""
    jobs = list(dict.fromkeys((one.path, one.job) for one in captures))
    if len(jobs) == 1:
        return ["."] * len(captures)
    same = [job for _, job in jobs]
    names = {
        key: key[1] if same.count(key[1]) == 1 else f"{key[1]}_{number}"
        for number, key in enumerate(jobs, 1)
    }
    return [names[one.path, one.job] for one in captures]


def _unread(run: Run) -> list[Damage]:
    """Raw files that parsers read on other days."""
    files = mindspore_catalog().files
    return [
        Damage(one.slices[0].path, f"parsers of {run.day} read no such file", kind=kind)
        for kind, one in run.capture.files.items()
        if files[kind].parser is not None and not run.holds(files[kind])
    ]


def _state(folder: Path, damage: Sequence[str]) -> None:
    """Devices of one job share a folder."""
    if damage:
        with (folder / INCOMPLETE).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(f"{one}\n" for one in damage)
