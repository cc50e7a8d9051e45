"""The cores themselves: AICORE_FREQ, SAMPLE_PMU_TIMELINE, SAMPLE_PMU_SUMMARY."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers, Reals
from ascend_ref.capture.model import NONE

from ..hardware.model import Chip
from ..program.model import Core, Kernel, Launch
from ..world.timeline import RankTimeline
from .scene import FIRST_US, MICROSECOND, Columns, DeviceScene, kept
from .traffic import Curve, Flow

PIPES = {
    ("AIC", True): ("mac", "scalar", "mte1", "mte2", "fixpipe"),
    ("AIV", True): ("vec", "scalar", "mte2", "mte3"),
    ("AIC", False): ("vec", "mac", "scalar", "mte1", "mte2", "mte3"),
}
"""Pipes that a type of core has, where cube and vector cores are split and where they are not."""
MAIN: dict[Core, str] = {
    "AI_CORE": "AIC",
    "MIX_AIC": "AIC",
    "AI_VECTOR_CORE": "AIV",
    "MIX_AIV": "AIV",
}
PIPE_GROUP = "PipeUtilization"
BUSY_SHARE = 1 << 16


@dataclass(frozen=True, slots=True)
class Load:
    """All runs of the kernels that keep a type of core busy with the same number of blocks.

    kernel: row of ``kernels`` per run. cycles: that one of its longest working cores counts.
    """

    kind: str
    blocks: int
    kernels: tuple[Kernel, ...]
    start: Integers
    end: Integers
    kernel: Integers
    cycles: Integers


def aicore_freq(scene: DeviceScene) -> Columns:
    """The clock at the start of the session, soon after, at each change, and at the end.

    A session that ends abnormally has no row at its end.
    """
    timeline, nominal = scene.timeline, scene.machine.chip.frequency
    start, end = timeline.session
    changed = timeline.frequency != np.append(nominal, timeline.frequency[:-1])
    soon = min(start + scene.noise("AICORE_FREQ").one(*FIRST_US) * MICROSECOND, end)
    soon = min(soon, int(timeline.step_starts[0]))
    ended = not scene.disturbances.ends_abnormally(timeline.rank)
    last = slice(0, int(ended))
    moments = [start, soon], timeline.step_starts[changed], np.array([end], np.int64)[last]
    clocks = [nominal] * 2, timeline.frequency[changed], timeline.frequency[-1:][last]
    time, clock = np.concatenate(moments), np.concatenate(clocks)
    valid = np.append(np.diff(time) > 0, True) & kept(time, "AICORE_FREQ", scene)
    time, clock = time[valid], clock[valid]
    dies = scene.machine.chip.dies or (NONE,)
    return {
        "timestampNs": np.repeat(time, len(dies)),
        "freq": np.repeat(clock, len(dies)),
        "dieId": np.tile(np.array(dies, np.int64), len(time)),
    }


def loads(timeline: RankTimeline, chip: Chip) -> list[Load]:
    """What the kernels did to the cores, by type of core and number of blocks."""
    runs: dict[tuple[str, int], list[tuple[int, int, Kernel]]] = {}
    for place, item in enumerate(timeline.program.items):
        if not isinstance(item, Launch):
            continue
        for variant, kernel in enumerate(item.variants):
            for kind, blocks in _occupied(kernel, chip):
                runs.setdefault((kind, blocks), []).append((place, variant, kernel))
    return [_load(timeline, *key, found) for key, found in sorted(runs.items())]


def _occupied(kernel: Kernel, chip: Chip) -> Iterator[tuple[str, int]]:
    main = MAIN.get(kernel.core)
    if main is None:
        return
    if not chip.split:
        yield "AIC", max(kernel.blocks, 1)
        return
    yield main, max(kernel.blocks, 1)
    if kernel.mix_blocks:
        yield "AIV" if main == "AIC" else "AIC", kernel.mix_blocks


def _load(
    timeline: RankTimeline, kind: str, blocks: int, found: list[tuple[int, int, Kernel]]
) -> Load:
    places = np.array([place for place, _, _ in found], np.int64)
    variants = np.array([variant for _, variant, _ in found], np.int64)
    busy = np.array([kernel.busy for _, _, kernel in found], np.int64)
    start, end = timeline.start[:, places], timeline.end[:, places]
    ran = timeline.variant[:, places] == variants
    cycles = (end - start) * busy // BUSY_SHARE * timeline.frequency[:, None] // 1_000
    kernel = np.broadcast_to(np.arange(len(found)), ran.shape)
    kernels = tuple(kernel for _, _, kernel in found)
    return Load(kind, blocks, kernels, start[ran], end[ran], kernel[ran], cycles[ran])


def cores(chip: Chip) -> dict[str, int]:
    """How many cores of each type report; without a split the vector units are parts of them."""
    if chip.split:
        return {"AIC": chip.cube_cores, "AIV": chip.vector_cores}
    return {"AIC": chip.cube_cores}


def waves(blocks: int, count: int) -> tuple[Integers, int]:
    """How many blocks each core works through, and the most that any does."""
    each = -((np.arange(count, dtype=np.int64) - blocks) // count)
    return np.maximum(each, 0), -(-blocks // count)


def sample_pmu_timeline(scene: DeviceScene) -> Columns:
    """Cycles and load of each core since the sample before.

    The exporter relates the first sample of a core to an interval of 1 ns (E48).
    """
    grid, timeline = scene.grids["SAMPLE_PMU_TIMELINE"], scene.timeline
    chip = scene.machine.chip
    counts = cores(chip)
    cycles = {kind: np.zeros((count, len(grid)), np.int64) for kind, count in counts.items()}
    for load in loads(timeline, chip):
        flow = Flow(load.start, load.end, load.cycles, load.cycles)
        moved = np.diff(Curve(flow, grid).read(grid), prepend=0)
        each, most = waves(load.blocks, counts[load.kind])
        cycles[load.kind] += moved * each[:, None] // most
    step = np.searchsorted(timeline.step_starts, grid, "right")
    clock = np.append(chip.frequency, timeline.frequency)[step]
    interval = np.append(1, np.diff(grid))[: len(grid)]
    worked = np.concatenate(list(cycles.values()))
    kinds = np.repeat(scene.texts.numbers(counts), list(counts.values()))
    identity = np.concatenate([np.arange(count, dtype=np.int64) for count in counts.values()])
    return {
        "timestampNs": np.tile(grid, len(worked)),
        "totalCycle": worked.reshape(-1),
        "usage": (worked * 100_000 / (clock * interval)).reshape(-1),
        "freq": np.tile(clock, len(worked)),
        "coreId": np.repeat(identity, len(grid)),
        "coreType": np.repeat(kinds, len(grid)),
    }


def sample_pmu_summary(scene: DeviceScene, group: str) -> Columns:
    """Means of the metrics of each core, weighted with its cycles; 0 for one that never worked."""
    chip = scene.machine.chip
    counts = cores(chip)
    found = loads(scene.timeline, chip)
    rows = [
        (count, kind, metric, _means(own, values, count))
        for kind, count in counts.items()
        for own in [[load for load in found if load.kind == kind]]
        for metric, values in _metrics(own, PIPES[kind, chip.split], group).items()
    ]
    lengths = [count for count, _, _, _ in rows]
    identity = [np.arange(length, dtype=np.int64) for length in lengths]
    return {
        "metric": np.repeat(scene.texts.numbers(metric for _, _, metric, _ in rows), lengths),
        "value": np.concatenate([np.empty(0), *(values for _, _, _, values in rows)]),
        "coreId": np.concatenate([np.empty(0, np.int64), *identity]),
        "coreType": np.repeat(scene.texts.numbers(kind for _, kind, _, _ in rows), lengths),
    }


def _metrics(own: list[Load], pipes: tuple[str, ...], group: str) -> dict[str, list[list[int]]]:
    """For each metric of a group, its value of every kernel of every load, in 1/65536."""
    found: dict[str, list[list[int]]] = {}
    if group == PIPE_GROUP:
        for pipe in pipes:
            found[f"{pipe}_ratio"] = [
                [kernel.pipes.get(pipe, 0) for kernel in load.kernels] for load in own
            ]
    rates = dict.fromkeys(name for load in own for kernel in load.kernels for name in kernel.rates)
    for name in rates:
        found[name] = [
            [int(kernel.rates.get(name, 0) * BUSY_SHARE) for kernel in load.kernels] for load in own
        ]
    return found


def _means(own: list[Load], values: list[list[int]], count: int) -> Reals:
    """The sums are of whole numbers, so that they are the same on every platform."""
    weighted, weight = np.zeros(count), np.zeros(count)
    for load, value in zip(own, values, strict=True):
        each, most = waves(load.blocks, count)
        cycles = np.zeros(len(load.kernels), np.int64)
        np.add.at(cycles, load.kernel, load.cycles)
        total = sum(worked * share for worked, share in zip(cycles.tolist(), value, strict=True))
        weighted += each * (total / most)
        weight += each * (int(cycles.sum()) / most)
    means: Reals = np.divide(weighted, weight * BUSY_SHARE, out=np.zeros(count), where=weight > 0)
    return means
