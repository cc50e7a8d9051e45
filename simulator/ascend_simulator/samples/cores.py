"""The cores themselves: AICORE_FREQ, SAMPLE_PMU_TIMELINE, SAMPLE_PMU_SUMMARY."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ascend_ref.capture import Integers, Reals
from ascend_ref.capture.model import NONE
from ascend_ref.derive.pmu import FIRST_INTERVAL, core_load
from ascend_spec import catalog, raw_catalog, text_catalog
from ascend_spec.text.model import Mode

from ..hardware.model import Chip
from ..program.counters import CORES, metric_names, metric_values
from ..program.model import Core, Kernel, Launch
from ..world.timeline import RankTimeline
from .scene import FIRST_US, MICROSECOND, Columns, DeviceScene, kept
from .traffic import Curve, Flow

LOAD = "SAMPLE_PMU_TIMELINE"
SAMPLED: Mode = "sample-based"
AMOUNTS = ("operations", "volume", "count")
"""Kinds of metrics that are sums over blocks."""
RUNS_AT_ONCE = 1 << 16
MAIN: dict[Core, str] = {
    "AI_CORE": "AIC",
    "MIX_AIC": "AIC",
    "AI_VECTOR_CORE": "AIV",
    "MIX_AIV": "AIV",
}
BUSY_SHARE = 1 << 16


@dataclass(frozen=True, slots=True)
class Load:
    """All runs of the kernels that keep a type of core busy with the same number of blocks.

    kernel: row of ``kernels`` per run. cycles: that one of its longest working cores counts. clock:
    in force, MHz.
    """

    kind: str
    blocks: int
    kernels: tuple[Kernel, ...]
    start: Integers
    end: Integers
    kernel: Integers
    cycles: Integers
    clock: Integers


def aicore_freq(scene: DeviceScene) -> Columns:
    """The clock as :func:`clock_changes` has it, of each die where dies are sampled apart."""
    time, clock = clock_changes(scene)
    valid = kept(time, "AICORE_FREQ", scene)
    time, clock = time[valid], clock[valid]
    dies = scene.machine.chip.dies or (NONE,)
    return {
        "timestampNs": np.repeat(time, len(dies)),
        "freq": np.repeat(clock, len(dies)),
        "dieId": np.tile(np.array(dies, np.int64), len(time)),
    }


def clock_changes(scene: DeviceScene) -> tuple[Integers, Integers]:
    """When the clock holds from, and which: at the start of the session, soon after, at each
    change, and at the end.

    A session that ends abnormally has no row at its end.
    """
    timeline, nominal = scene.timeline, scene.machine.chip.frequency
    start, end = timeline.session
    changed = timeline.frequency != np.append(nominal, timeline.frequency[:-1])
    soon = min(start + scene.draws("noise", "AICORE_FREQ").one(*FIRST_US) * MICROSECOND, end)
    soon = min(soon, int(timeline.step_starts[0]))
    ended = not scene.disturbances.ends_abnormally(timeline.rank)
    last = slice(0, int(ended))
    moments = [start, soon], timeline.step_starts[changed], np.array([end], np.int64)[last]
    clocks = [nominal] * 2, timeline.frequency[changed], timeline.frequency[-1:][last]
    time, clock = np.concatenate(moments), np.concatenate(clocks)
    valid = np.append(np.diff(time) > 0, True)
    return time[valid], clock[valid]


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
    clock = np.broadcast_to(timeline.frequency[:, None], ran.shape)
    return Load(kind, blocks, kernels, start[ran], end[ran], kernel[ran], cycles[ran], clock[ran])


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

    The exporter relates the first sample of a core to an interval of 1 ns (E48), and all cycles to
    the clock of info.json.
    """
    grid, timeline = scene.grids[LOAD], scene.timeline
    chip = scene.machine.chip
    counts = cores(chip)
    cycles = {kind: np.zeros((count, len(grid)), np.int64) for kind, count in counts.items()}
    for load in loads(timeline, chip):
        flow = Flow(load.start, load.end, load.cycles, load.cycles)
        moved = np.diff(Curve(flow, grid).read(grid), prepend=0)
        each, most = waves(load.blocks, counts[load.kind])
        cycles[load.kind] += moved * each[:, None] // most
    interval = np.append(FIRST_INTERVAL, np.diff(grid))[: len(grid)]
    worked = np.concatenate(list(cycles.values()))
    kinds = np.repeat(scene.texts.numbers(counts), list(counts.values()))
    identity = np.concatenate([numbers(chip, kind) for kind in counts])
    return {
        "timestampNs": np.tile(grid, len(worked)),
        "totalCycle": worked.reshape(-1),
        "usage": core_load(worked, interval, chip.frequency).reshape(-1),
        "freq": np.full(worked.size, chip.frequency),
        "coreId": np.repeat(identity, len(grid)),
        "coreType": np.repeat(kinds, len(grid)),
    }


def numbers(chip: Chip, kind: str) -> Integers:
    """The numbers of the cores of a type on a device: cubes before vectors."""
    number = catalog().products[chip.product].platforms[0]
    first = raw_catalog().chips[number].first_vector if kind == "AIV" else 0
    return first + np.arange(cores(chip)[kind], dtype=np.int64)


def sample_pmu_summary(scene: DeviceScene, group: str, timeline: Columns) -> Columns:
    """The metrics of each core over the whole collection; 0 for one that never worked.

    timeline: the samples of the cores. Shares and rates are means, weighted with cycles; amounts
    are those of its blocks.
    """
    chip, texts = scene.machine.chip, scene.texts
    found = loads(scene.timeline, chip)
    parts: list[tuple[str, str, Reals]] = []
    for kind in cores(chip):
        own = timeline["coreType"] == texts.number(kind)
        worked = timeline["totalCycle"][own].reshape(cores(chip)[kind], -1).sum(axis=1)
        loaded = [load for load in found if load.kind == kind]
        parts += [
            (kind, name, values) for name, values in _metrics(chip, kind, group, loaded, worked)
        ]
    lengths = [len(values) for _, _, values in parts]
    identity = [numbers(chip, kind) for kind, _, _ in parts]
    return {
        "metric": np.repeat(texts.numbers(name for _, name, _ in parts), lengths),
        "value": np.concatenate([np.empty(0), *(values for _, _, values in parts)]),
        "coreId": np.concatenate([np.empty(0, np.int64), *identity]),
        "coreType": np.repeat(texts.numbers(kind for kind, _, _ in parts), lengths),
    }


def _metrics(
    chip: Chip, kind: str, group: str, own: list[Load], worked: Integers
) -> Iterator[tuple[str, Reals]]:
    """The metrics of the cores of a type, from those of the runs on them; ``worked``: cycles."""
    pmu = text_catalog().pmu
    prefix = f"{kind.lower()}_" if chip.split else ""
    names = [name.lower() for name in metric_names(group, chip)]
    sums = [_sums(load, group, chip) for load in own]
    every = pmu.table_metrics(pmu.groups[group], chip.product, CORES[f"{kind.lower()}_"], SAMPLED)
    for metric in every:
        name, unit = f"{prefix}{metric.shown}".lower(), pmu.kinds[metric.kind]
        if metric.kind == "total-time":
            values = worked / chip.frequency * unit.in_table(chip.product, SAMPLED)
        elif name in names:
            at = names.index(name)
            values = _of_cores(own, [one[:, at] for one in sums], len(worked), metric.kind)
            values *= unit.in_table(chip.product, SAMPLED) / unit.in_table(chip.product)
        else:
            values = np.zeros(len(worked))
        yield metric.shown, values


def _sums(load: Load, group: str, chip: Chip) -> Reals:
    """Of each metric the sum over the runs of a load, and the sum weighted with their cycles."""
    found = np.zeros((2, len(metric_names(group, chip))))
    for start in range(0, len(load.start), RUNS_AT_ONCE):
        some = slice(start, start + RUNS_AT_ONCE)
        length = load.end[some] - load.start[some]
        values = metric_values(
            load.kernels, load.kernel[some], length, load.clock[some], group, chip
        )
        found += values.sum(axis=0), (values * load.cycles[some, None]).sum(axis=0)
    return found


def _of_cores(own: list[Load], sums: list[Reals], count: int, kind: str) -> Reals:
    """A metric of each core from the sums over the runs of each load."""
    total, weight = np.zeros(count), np.zeros(count)
    for load, (plain, weighted) in zip(own, sums, strict=True):
        each, most = waves(load.blocks, count)
        total += each / load.blocks * plain if kind in AMOUNTS else each / most * weighted
        weight += each / most * float(load.cycles.sum())
    if kind in AMOUNTS:
        return total
    means: Reals = np.divide(total, weight, out=np.zeros(count), where=weight > 0)
    return means
