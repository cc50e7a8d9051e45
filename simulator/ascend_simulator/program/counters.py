"""The performance counters of kernels: names and values of every group, on every product.

TASK_PMU_INFO holds all columns of the metric table that CANN makes for a group (db-schema.md 7.9),
so the columns that a text file of the product would leave out are there, as 0. Cycles that a pipe
works follow from the kernel alone; cycles in total follow from how long it ran at which clock. So a
slow run shows the same work in a smaller share of the time. Loads and stores are the exception:
they fill the time that there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ascend_ref.capture import Integers, Reals
from ascend_spec import per_spec, text_catalog
from ascend_spec.text import PmuMetric
from ascend_spec.text.model import Core as PmuCore
from ascend_spec.text.pmu import time_of

from ..hardware.model import Chip
from .cost import WHOLE
from .model import Kernel

MEMORY_PIPES = frozenset(("mte2", "mte3", "fixpipe"))
CORES: Mapping[str, PmuCore | None] = {"aic_": "aic", "aiv_": "aiv", "": None}
"""Kind of core of a prefix."""
MADE = frozenset(("total-time", "cycles", "time"))
"""Kinds of metrics that follow from how long a kernel ran, and from its shares."""
CONFLICTS = {
    "vec_bankgroup_cflt_ratio": 9,
    "vec_bank_cflt_ratio": 21,
    "vec_resc_cflt_ratio": 4,
}
"""Of the vector unit's cycles, so many thousandths are lost to each conflict (inferred)."""
LINE = 256
"""Byte of an instruction of the vector unit."""
CACHE_LINE = 128
"""Byte of L2 that one event counts."""
KIBI = 1024
GIBI = 1 << 30
CUBE_FLOPS = 8192
SINGLE_FLOPS = 64
HALF_FLOPS = 128
"""Operations for each cycle that an event counts."""
FRACTAL_BYTES = 512
L0_BYTES = 256
"""Byte per cycle that the cube reads of each operand, and that loading L0 moves."""
CHUNK = 2048


Form = Literal["steady", "filling", "constant", "rate"]
"""How a metric depends on the run. steady: cycles that are always the same, as a share of all.
filling: 1/65536 of all cycles, as a share. constant: a value. rate: per second of the run."""
FORMS: Mapping[str, Form] = {"ratio": "steady", "bandwidth": "rate"}
"""By kind of metric; the others are constant."""


@dataclass(frozen=True, slots=True)
class Side:
    """A kernel on one kind of core. pipes: 1/65536 of its cycles.

    worked: cycles over all blocks at the nominal clock. cube: these cores multiply matrices here.
    """

    kernel: Kernel
    pipes: Mapping[str, int]
    worked: int
    cube: bool

    def cycles(self, pipe: str) -> int:
        """Cycles that a pipe works, over all blocks."""
        return self.pipes.get(pipe, 0) * self.worked // WHOLE


@dataclass(frozen=True, slots=True)
class Metric:
    """A column. time: its name where the time of the pipe stands next to the share.

    counted: whether the product has it; else its column holds 0.
    """

    name: str
    form: Form
    value: Callable[[Side], float]
    time: str
    counted: bool


def metric_groups(chip: Chip) -> tuple[str, ...]:
    """The groups that a chip can count."""
    return tuple(
        name
        for name, group in text_catalog().pmu.groups.items()
        if chip.product in group.families and any(order.metrics for order in group.orders)
    )


def metric_names(group: str, chip: Chip) -> tuple[str, ...]:
    """Columns of a group, in the exporter's order. ``ValueError`` for one the chip cannot count."""
    if group not in metric_groups(chip):
        raise ValueError(f"{chip.product} cannot count {group}")
    groups = text_catalog().pmu
    return tuple(
        f"{block.prefix}{metric.shown}"
        for block in groups.blocks("task-based", chip.product)
        for metric in groups.table_metrics(groups.groups[group], chip.product, block.core)
    )


def metric_values(
    kernels: Sequence[Kernel],
    kind: Integers,
    durations: Integers,
    frequencies: Integers,
    group: str,
    chip: Chip,
) -> Reals:
    """The metrics of runs, shape (runs, metrics). kind: which of the kernels ran.

    durations: ns of each run; frequencies: clock in force, MHz. Times are ns, bandwidths in the
    unit of the table (erratum E55).
    """
    names = metric_names(group, chip)
    out = np.empty((len(kind), len(names)))
    sides = [_Table(kernels, prefix, group, chip) for prefix in _prefixes(chip)]
    busy = np.array([kernel.busy for kernel in kernels], np.int64)
    for first in range(0, len(kind), CHUNK):
        part = slice(first, first + CHUNK)
        chosen = kind[part]
        worked = durations[part] * busy[chosen] // WHOLE
        columns: list[Reals] = []
        for side in sides:
            columns += side.columns(chosen, worked, frequencies[part])
        out[part] = np.stack(columns, axis=1)
    return out


class _Table:
    """The metrics of one kind of core, for some kernels."""

    def __init__(self, kernels: Sequence[Kernel], prefix: str, group: str, chip: Chip) -> None:
        sides = [_side(kernel, prefix, chip) for kernel in kernels]
        cores = chip.vector_cores if prefix == "aiv_" else chip.cube_cores
        self.blocks = np.array([_blocks(kernel, prefix, chip) for kernel in kernels], np.int64)
        self.waves = np.maximum(-(-self.blocks // cores), 1)
        self.metrics = _metrics(group, prefix, chip.product)
        self.values = [
            np.array(
                [metric.value(side) if side and metric.counted else 0 for side in sides],
                np.float64,
            )
            for metric in self.metrics
        ]
        self.nominal = float(chip.frequency * 1_000_000)

    def columns(self, kind: Integers, worked: Integers, frequency: Integers) -> list[Reals]:
        """Columns of runs; ``worked``: ns that the cores count of each."""
        blocks, waves = self.blocks[kind], self.waves[kind]
        cycles = (worked * frequency * blocks // (1000 * waves)).astype(np.float64)
        total = cycles * waves * 1000 / (frequency * np.maximum(blocks, 1))
        some = np.maximum(cycles, 1.0)
        found = [total, cycles]
        for metric, values in zip(self.metrics, self.values, strict=True):
            value = values[kind]
            if metric.form == "rate":
                value = np.where(cycles > 0, value * self.nominal / some, 0.0)
            elif metric.form == "steady":
                value = np.minimum(value, cycles) / some
            elif metric.form == "filling":
                value = np.floor(value * cycles / WHOLE) / some
            elif metric.form == "constant":
                value = np.where(cycles > 0, value, 0.0)
            if metric.time:
                found.append(value * total)
            found.append(value)
        return found


def _prefixes(chip: Chip) -> tuple[str, ...]:
    return ("aic_", "aiv_") if chip.split else ("",)


def _on_cube(kernel: Kernel) -> bool:
    return kernel.core in ("AI_CORE", "MIX_AIC")


def _blocks(kernel: Kernel, prefix: str, chip: Chip) -> int:
    """Blocks of a kernel on the cores with a prefix."""
    if not chip.split or _on_cube(kernel) == (prefix == "aic_"):
        return kernel.blocks
    return kernel.mix_blocks


def _side(kernel: Kernel, prefix: str, chip: Chip) -> Side | None:
    blocks = _blocks(kernel, prefix, chip)
    if not blocks:
        return None
    own = not chip.split or _on_cube(kernel) == (prefix == "aic_")
    cores = chip.vector_cores if prefix == "aiv_" else chip.cube_cores
    worked = kernel.duration * kernel.busy // WHOLE * chip.frequency * blocks
    pipes = kernel.pipes if own else kernel.mix_pipes
    return Side(kernel, pipes, worked // (1000 * -(-blocks // cores)), "mac" in pipes)


@per_spec
def _metrics(group: str, prefix: str, product: str) -> tuple[Metric, ...]:
    """The metrics of a group without total time and cycles, in order."""
    groups = text_catalog().pmu
    chosen = groups.groups[group]
    absent = groups.not_available.get(product, ())
    return tuple(
        _metric(
            metric, product, chosen.timed and metric.kind == "ratio", metric.shown not in absent
        )
        for metric in groups.table_metrics(chosen, product, CORES[prefix])
        if metric.kind not in MADE
    )


def _metric(metric: PmuMetric, product: str, timed: bool, counted: bool) -> Metric:
    """A metric with a formula of its own, or the share of a pipe."""
    name = metric.shown
    pipe = name.removesuffix("_ratio").removesuffix("_exe")
    form = FORMS.get(metric.kind, "constant")
    value = VALUES.get(metric.id) or VALUES.get(name, lambda side: side.cycles(pipe))
    if pipe in MEMORY_PIPES:
        form, value = "filling", lambda side: side.pipes.get(pipe, 0)
    if form == "rate":
        value = partial(_in_units, value, text_catalog().pmu.kinds[metric.kind].in_table(product))
    return Metric(name, form, value, time_of(name) if timed else "", counted)


def _in_units(value: Callable[[Side], float], units: int, side: Side) -> float:
    """Byte in the units of a table, of which so many are 2^30 Byte."""
    return value(side) * units / GIBI


def _conflict(side: Side, share: int) -> int:
    return side.cycles("vec") * share // 1000


def _type(side: Side) -> str:
    return side.kernel.input_data_types.partition(";")[0]


def _of_type(side: Side, types: tuple[str, ...]) -> int:
    return side.cycles("vec") * 9 // 10 if _type(side) in types else 0


def _vector_flops(side: Side) -> int:
    return side.cycles("vec") * (HALF_FLOPS if _type(side) == "FLOAT16" else SINGLE_FLOPS)


def _if_cube(value: float, side: Side) -> float:
    return value if side.cube else 0


def _unless_cube(value: float, side: Side) -> float:
    return 0 if side.cube else value


VALUES: Mapping[str, Callable[[Side], float]] = {
    "icache_miss_rate": lambda side: side.kernel.rates.get("icache_miss_rate", 0.0),
    "mac_fp16_ratio": lambda side: side.cycles("mac"),
    "mac_int8_ratio": lambda side: 0,
    "vec_fp32_ratio": partial(_of_type, types=("FLOAT", "DT_BF16")),
    "vec_fp16_ratio": partial(_of_type, types=("FLOAT16",)),
    "vec_int32_ratio": partial(_of_type, types=("INT32",)),
    "vec_misc_ratio": lambda side: side.cycles("vec") // 10,
    "cube_fops": lambda side: side.cycles("mac") * CUBE_FLOPS,
    "vector_fops": _vector_flops,
    **{name: partial(_conflict, share=share) for name, share in CONFLICTS.items()},
    "vec_resc_cflt_ratio_v6": lambda side: (
        CONFLICTS["vec_resc_cflt_ratio"] / 1000 if side.cycles("vec") else 0.0
    ),
    "ub_read_bw": lambda side: _unless_cube(side.kernel.stored, side),
    "ub_write_bw": lambda side: _unless_cube(side.kernel.loaded, side),
    "l1_read_bw": lambda side: side.cycles("mte1") * L0_BYTES,
    "l1_write_bw": lambda side: _if_cube(side.kernel.loaded, side),
    "main_mem_read_bw": lambda side: side.kernel.read,
    "main_mem_write_bw": lambda side: side.kernel.written,
    "l2_read_bw": lambda side: side.kernel.loaded,
    "l2_write_bw": lambda side: side.kernel.stored,
    "l0a_read_bw": lambda side: side.cycles("mac") * FRACTAL_BYTES,
    "l0a_write_bw": lambda side: side.cycles("mte1") * L0_BYTES // 2,
    "l0b_read_bw": lambda side: side.cycles("mac") * FRACTAL_BYTES,
    "l0b_write_bw": lambda side: side.cycles("mte1") * L0_BYTES // 2,
    "l0c_read_bw": lambda side: 0,
    "l0c_write_bw": lambda side: 0,
    "l0c_read_bw_cube": lambda side: side.cycles("mac") * 2 * FRACTAL_BYTES,
    "l0c_write_bw_cube": lambda side: side.cycles("mac") * 2 * FRACTAL_BYTES,
    "ub_read_bw_vector": lambda side: side.cycles("vec") * 2 * LINE,
    "ub_write_bw_vector": lambda side: side.cycles("vec") * LINE,
    "ub_read_bw_scalar": lambda side: _unless_cube(side.cycles("scalar") // 8, side),
    "ub_write_bw_scalar": lambda side: _unless_cube(side.cycles("scalar") // 32, side),
    "fixp2ub_write_bw": lambda side: 0,
    "read_local_l2_hit": lambda side: (side.kernel.loaded - side.kernel.read) // CACHE_LINE,
    "read_local_l2_miss": lambda side: side.kernel.read // CACHE_LINE,
    "read_local_l2_victim": lambda side: 0,
    "write_local_l2_hit": lambda side: (side.kernel.stored - side.kernel.written) // CACHE_LINE,
    "write_local_l2_miss": lambda side: side.kernel.written // CACHE_LINE,
    "write_local_l2_victim": lambda side: 0,
    "write_cache_hit": lambda side: (side.kernel.stored - side.kernel.written) // CACHE_LINE,
    "write_cache_miss_allocate": lambda side: side.kernel.written // CACHE_LINE,
    "r0_read_cache_hit": lambda side: (side.kernel.loaded - side.kernel.read) // CACHE_LINE // 2,
    "r0_read_cache_miss_allocate": lambda side: side.kernel.read // CACHE_LINE // 2,
    "r1_read_cache_hit": lambda side: (side.kernel.loaded - side.kernel.read) // CACHE_LINE // 2,
    "r1_read_cache_miss_allocate": lambda side: side.kernel.read // CACHE_LINE // 2,
    "read_main_memory_datas": lambda side: side.kernel.read / KIBI,
    "write_main_memory_datas": lambda side: side.kernel.written / KIBI,
    "GM_to_L1_datas": lambda side: _if_cube(side.kernel.loaded / KIBI, side),
    "L0C_to_L1_datas": lambda side: 0,
    "L0C_to_GM_datas": lambda side: _if_cube(side.kernel.stored / KIBI, side),
    "GM_to_UB_datas": lambda side: _unless_cube(side.kernel.loaded / KIBI, side),
    "UB_to_GM_datas": lambda side: _unless_cube(side.kernel.stored / KIBI, side),
}
"""Formulas of metrics; those of MemoryAccess are in KB, bandwidths in Byte over the run."""
