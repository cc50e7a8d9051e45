"""When the pipes of single cores work, block by block (msprof's instruction profiling on 950)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import VECTOR_CORES
from ascend_ref.raw.instructions import pipes

from ..program.model import Kernel
from ..samples.cores import BUSY_SHARE, MAIN, Load, loads, waves
from ..samples.cores import cores as core_counts
from ..samples.scene import Columns
from .pipes import GROUPS
from .scene import RecordScene, stacked

MOST_BLOCKS = 4_096
"""What the buffer of a core holds (inferred)."""
OF_PIPES: Mapping[str, tuple[str, int]] = {
    "SU": ("scalar", 0),
    "VEC": ("vec", 1),
    "CUBE": ("mac", 1),
    "MTE1": ("mte1", 1),
    "MTE2": ("mte2", 0),
    "MTE3": ("mte3", 2),
    "FIXP": ("fixpipe", 2),
}
"""By instruction the pipe of a kernel, and how many halves of the time in which a block does not
use it come before: data are loaded first and stored last (inferred)."""


def biu_perf(scene: RecordScene) -> Columns:
    """When each pipe worked on each block that one of the sampled cores had."""
    found = loads(scene.timeline, scene.machine.chip)
    parts = []
    for group in range(GROUPS):
        for core, kind, place in _cores(group):
            own = [_of_core(scene, one, place) for one in found if one.kind == kind]
            rows = stacked([part for one in own for part in one])
            if len(rows.get("time", ())):
                rows = _held(rows)
                count = len(rows["time"])
                parts.append(
                    {
                        **rows,
                        "group": np.full(count, group),
                        "core": scene.texts.numbers([core] * count),
                        "instruction": scene.texts.numbers(pipes())[rows["instruction"]],
                        "checkpoint": np.full(count, NONE),
                    }
                )
    return stacked(parts)


def _cores(group: int) -> Iterator[tuple[str, str, int]]:
    """The cores of a group: name, kind, and number among those of their kind."""
    yield "aic", "AIC", group
    for number in range(VECTOR_CORES):
        yield f"aiv{number}", "AIV", VECTOR_CORES * group + number


def _of_core(scene: RecordScene, load: Load, place: int) -> Iterator[Columns]:
    """What a core did of a load, wave by wave and pipe by pipe."""
    count = core_counts(scene.machine.chip)[load.kind]
    each, most = waves(load.blocks, count)
    shares = [_shares(load, kernel) for kernel in load.kernels]
    busy = np.array([kernel.busy for kernel in load.kernels], np.int64)[load.kernel]
    worked = (load.end - load.start) * busy // BUSY_SHARE
    for wave in range(int(each[place])):
        start = load.end - worked + worked * wave // most
        length = worked * (wave + 1) // most - worked * wave // most
        for number, pipe in enumerate(pipes()):
            share = np.array([one[pipe] for one in shares], np.int64)[load.kernel]
            used = length * share // BUSY_SHARE
            before = (length - used) * OF_PIPES[pipe][1] // 2
            rows = used > 0
            yield {
                "time": (start + before)[rows],
                "length": used[rows],
                "instruction": np.full(int(rows.sum()), number),
                "block": np.full(int(rows.sum()), wave * count + place),
                "begin": start[rows],
            }


def _shares(load: Load, kernel: Kernel) -> dict[str, int]:
    """Shares of the pipes in 1/65536, on the cores of a load."""
    shares = kernel.pipes if MAIN[kernel.core] == load.kind else kernel.mix_pipes
    return {name: min(shares.get(pipe, 0), BUSY_SHARE) for name, (pipe, _) in OF_PIPES.items()}


def _held(rows: Columns) -> Columns:
    """The first blocks of a core, as many as its buffer holds, in order of the ends."""
    begins = np.unique(rows["begin"])[:MOST_BLOCKS]
    kept = rows["begin"] <= begins[-1]
    order = _by_end(rows, np.flatnonzero(kept))
    return {name: column[order] for name, column in rows.items() if name != "begin"}


def _by_end(rows: Columns, places: Integers) -> Integers:
    end = rows["time"] + rows["length"]
    found: Integers = places[np.lexsort((rows["instruction"][places], end[places]))]
    return found
