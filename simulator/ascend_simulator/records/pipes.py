"""Samples of the pipes and of the bus interface of a few cores (msprof's instruction profiling)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascend_ref.capture import Integers
from ascend_ref.capture.records import FIRST_VECTOR_CORE, VECTOR_CORES

from ..program.model import Kernel
from ..samples.cores import BUSY_SHARE, MAIN, Load, loads, waves
from ..samples.cores import cores as core_counts
from ..samples.scene import Columns
from ..samples.traffic import Curve, Flow
from .scene import RecordScene, stacked

GROUPS = 2
"""Groups of cores that are sampled: a cube core and its two vector cores each."""
MOST_PERIODS = 4_096
"""What the buffer of a group holds (inferred)."""
PIPES = {
    "vector": "vec",
    "scalar": "scalar",
    "cube": "mac",
    "mte1": "mte1",
    "mte2": "mte2",
    "mte3": "mte3",
}
OUTWARD = "fixpipe"
"""Of a cube core, the pipe that moves data out; it is reported as mte3."""
BURST = 512
"""Byte of one request to the bus."""
WAIT_CYCLES = {"read": 180, "write": 90}
"""For each request (inferred)."""


def _periods(scene: RecordScene) -> Integers:
    """Bounds of the periods, from the start of the first kernel on; ns."""
    timeline, cycles = scene.timeline, scene.scenario.capture.instr
    runs = scene.kernels
    if not len(runs.start):
        return timeline.step_starts[:0]
    begin, end = int(runs.start[0]), int(runs.end.max())
    clock = scene.machine.chip.frequency
    count = min(-((begin - end) * clock // (cycles * 1_000)), MOST_PERIODS)
    return begin + np.arange(count + 1) * cycles * 1_000 // clock


def _core(group: int, kind: str) -> Iterator[tuple[int, int]]:
    """Number of a core among those of its kind, and as the profiler counts them."""
    if kind == "AIC":
        yield group, group
    else:
        for number in range(VECTOR_CORES * group, VECTOR_CORES * (group + 1)):
            yield number, FIRST_VECTOR_CORE + number


def _pipes(load: Load, kernel: Kernel) -> dict[str, int]:
    """Shares of the pipes in 1/65536, on the cores of a load."""
    shares = dict(kernel.pipes if MAIN[kernel.core] == load.kind else kernel.mix_pipes)
    if load.kind == "AIC":
        shares["mte3"] = shares.get(OUTWARD, 0)
    return {name: shares.get(pipe, 0) for name, pipe in PIPES.items()}


def biu_cycles(scene: RecordScene) -> Columns:
    """Cycles of each pipe in each period. A pipe never works for more than the whole period."""
    grid = _periods(scene)
    period = scene.scenario.capture.instr
    found = loads(scene.timeline, scene.machine.chip)
    parts = []
    for group in range(GROUPS if len(grid) else 0):
        for kind, name in (("AIC", "aic"), ("AIV", "aiv")):
            for place, number in _core(group, kind):
                worked = _worked(scene, [one for one in found if one.kind == kind], place, grid)
                count = len(grid) - 1
                parts.append(
                    {
                        "time": grid[:-1],
                        "length": np.diff(grid),
                        "group": np.full(count, group),
                        "core": np.full(count, number),
                        "type": scene.texts.numbers([name] * count),
                        "period": np.full(count, period),
                        **{pipe: np.minimum(cycles, period) for pipe, cycles in worked.items()},
                    }
                )
    return stacked(parts)


def _worked(
    scene: RecordScene, found: list[Load], place: int, grid: Integers
) -> dict[str, Integers]:
    count = len(grid) - 1
    cores = core_counts(scene.machine.chip)
    worked = {pipe: np.zeros(count, np.int64) for pipe in PIPES}
    for load in found:
        each, most = waves(load.blocks, cores[load.kind])
        shares = [_pipes(load, kernel) for kernel in load.kernels]
        for pipe in PIPES:
            share = np.array([one[pipe] for one in shares], np.int64)[load.kernel]
            cycles = load.cycles * share // BUSY_SHARE * each[place] // most
            if cycles.any():
                flow = Flow(load.start, load.end, cycles, cycles)
                worked[pipe] += np.diff(Curve(flow, grid).read(grid))
    return worked


def biu_flow(scene: RecordScene) -> Columns:
    """Byte that the cores of each group moved, and what their requests waited for them."""
    grid = _periods(scene)
    found = loads(scene.timeline, scene.machine.chip)
    parts = []
    for group in range(GROUPS if len(grid) else 0):
        count = len(grid) - 1
        read, written = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for load in found:
            own, everywhere = _share(scene, load, group)
            # A kernel's traffic is that of its main cores.
            amounts = (
                np.array(
                    [
                        getattr(one, name) * (MAIN[one.core] == load.kind) * own // everywhere
                        for one in load.kernels
                    ],
                    np.int64,
                )[load.kernel]
                for name in ("loaded", "stored")
            )
            curve = Curve(Flow(load.start, load.end, *amounts), grid)
            read += np.diff(curve.read(grid))
            written += np.diff(curve.written(grid))
        parts.append(
            {
                "time": grid[:-1],
                "group": np.full(count, group),
                "read_bandwidth": read,
                "write_bandwidth": written,
                "read_latency": -(-read // BURST) * WAIT_CYCLES["read"],
                "write_latency": -(-written // BURST) * WAIT_CYCLES["write"],
            }
        )
    return stacked(parts)


def _share(scene: RecordScene, load: Load, group: int) -> tuple[int, int]:
    """How many of a load's blocks the cores of a group work through, of how many."""
    each, _ = waves(load.blocks, core_counts(scene.machine.chip)[load.kind])
    return sum(int(each[place]) for place, _ in _core(group, load.kind)), max(int(each.sum()), 1)
