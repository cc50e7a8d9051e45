"""Performance counters: the identities of real ones, and the same numbers by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from program_cases import CASES, PRODUCTS, chip_of, kernels, stages
from slices import some

from ascend_ref.capture import Integers, Reals
from ascend_simulator.choices import ProductName
from ascend_simulator.hardware.model import Chip
from ascend_simulator.program.counters import metric_groups, metric_names, metric_values
from ascend_simulator.program.kernels import Kernels, Operand
from ascend_simulator.program.model import Kernel

A2 = chip_of("A2")
GROUPS = [(product, group) for product in PRODUCTS for group in metric_groups(chip_of(product))]
PIPE_METRICS = (
    "aic_total_time aic_total_cycles aic_mac_time aic_mac_ratio aic_scalar_time aic_scalar_ratio "
    "aic_mte1_time aic_mte1_ratio aic_mte2_time aic_mte2_ratio aic_fixpipe_time aic_fixpipe_ratio "
    "aic_icache_miss_rate aiv_total_time aiv_total_cycles aiv_vec_time aiv_vec_ratio aiv_mac_time "
    "aiv_mac_ratio aiv_scalar_time aiv_scalar_ratio aiv_mte1_time aiv_mte1_ratio aiv_mte2_time "
    "aiv_mte2_ratio aiv_mte3_time aiv_mte3_ratio aiv_icache_miss_rate"
)
"""In the order of fixtures-2025-01."""


def counted_kernels(product: ProductName = "A2") -> list[Kernel]:
    found = [
        kernel for case in CASES for program in stages(case, product) for kernel in kernels(program)
    ]
    return [kernel for kernel in found if kernel.blocks]


def nominal(found: list[Kernel], group: str, chip: Chip) -> dict[str, Reals]:
    kind = np.arange(len(found))
    durations = np.array([kernel.duration for kernel in found], np.int64)
    return measured(found, kind, durations, np.full(len(found), chip.frequency), group, chip)


def measured(
    found: list[Kernel],
    kind: Integers,
    durations: Integers,
    frequencies: Integers,
    group: str,
    chip: Chip,
) -> dict[str, Reals]:
    values = metric_values(found, kind, durations, frequencies, group, chip)
    assert values.shape == (len(kind), len(metric_names(group, chip)))
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    return dict(zip(metric_names(group, chip), values.T, strict=True))


def test_are_the_metrics_of_the_pipes_those_of_real_profiles() -> None:
    assert metric_names("PipeUtilization", A2) == tuple(PIPE_METRICS.split())


@pytest.mark.parametrize(("product", "group"), some(GROUPS, every=3))
def test_is_every_group_complete_on_every_product(product: ProductName, group: str) -> None:
    chip = chip_of(product)
    names = metric_names(group, chip)
    assert len(set(names)) == len(names)
    assert all(name.startswith(("aic_", "aiv_")) for name in names) == chip.split
    values = nominal(counted_kernels(product), group, chip)
    assert all(
        (column <= 1).all()
        for name, column in values.items()
        if name.endswith(("_ratio", "_icache_miss_rate"))
    )
    idle = {"vec_ratio", "vec_time"} if product == "200I-500-A2" else set()
    for name in idle & set(values):
        assert not values[name].any()


@pytest.mark.parametrize(
    ("product", "group"),
    [("910A", "L2Cache"), ("310P", "MemoryAccess"), ("A2", "PipelineExecuteUtilization"),
     ("A2", "Nonsense")],
)  # fmt: skip
def test_which_groups_a_chip_cannot_count(product: ProductName, group: str) -> None:
    with pytest.raises(ValueError, match=group):
        metric_names(group, chip_of(product))


@pytest.mark.parametrize("product", PRODUCTS)
def test_is_a_ratio_the_time_of_the_pipe_in_all(product: ProductName) -> None:
    chip = chip_of(product)
    values = nominal(counted_kernels(product), "PipeUtilization", chip)
    for name, column in values.items():
        if name.endswith("_ratio"):
            prefix = name[:4] if chip.split else ""
            total = values[f"{prefix}total_time"]
            time = values[name.removesuffix("ratio") + "time"]
            np.testing.assert_allclose(column * total, time, rtol=4e-16)


@pytest.mark.parametrize("product", PRODUCTS)
def test_do_cycles_follow_from_time_clock_and_blocks(product: ProductName) -> None:
    chip = chip_of(product)
    found = counted_kernels(product)
    values = nominal(found, "PipeUtilization", chip)
    for prefix in ("aic_", "aiv_") if chip.split else ("",):
        cores = chip.vector_cores if prefix == "aiv_" else chip.cube_cores
        time, cycles = values[f"{prefix}total_time"], values[f"{prefix}total_cycles"]
        assert (cycles == np.floor(cycles)).all()
        for place, kernel in enumerate(found):
            cube = kernel.core in ("AI_CORE", "MIX_AIC")
            own = not chip.split or cube == (prefix == "aic_")
            blocks = kernel.blocks if own else kernel.mix_blocks
            waves = -(-blocks // cores) if blocks else 1
            expected = time[place] / 1000 * chip.frequency * blocks / waves
            assert cycles[place] == pytest.approx(expected, rel=1e-12, abs=1e-6)


def test_are_counters_of_the_idle_core_zero() -> None:
    found = counted_kernels()
    values = nominal(found, "PipeUtilization", A2)
    cores = np.array([kernel.core for kernel in found])
    for core, idle in (("AI_CORE", "aiv_"), ("AI_VECTOR_CORE", "aic_"), ("MIX_AIV", "aic_")):
        for name, column in values.items():
            if name.startswith(idle):
                assert not column[cores == core].any()
    mixed = cores == "MIX_AIC"
    assert mixed.any()
    both = [values[f"{prefix}_total_time"][mixed] for prefix in ("aic", "aiv")]
    np.testing.assert_allclose(*both, rtol=1e-4)
    assert (values["aiv_vec_ratio"][mixed] > 0).all()


def test_is_total_time_shorter_than_the_task_by_what_the_start_costs() -> None:
    found = counted_kernels()
    values = nominal(found, "PipeUtilization", A2)
    total = np.maximum(values["aic_total_time"], values["aiv_total_time"])
    lost = np.array([kernel.duration for kernel in found]) - total
    start = np.array([A2.start + A2.start_block * min(kernel.blocks, 48) for kernel in found])
    # Whole ticks of the device and whole cycles lie between the two.
    assert ((lost > start - 2) & (lost < start + 45)).all()


def test_does_a_slower_clock_leave_the_work_as_it_is() -> None:
    operands = [Operand((4096, 4096), "FLOAT16")] * 2
    size = (1, 4096, 4096, 4096)
    product = Kernels(A2).matmul("MatMulV2", "aclnnMm", operands, operands[0], size)
    stretched = product.duration * 1800 // 800
    values = measured(
        [product], np.zeros(2, np.int64), np.array([product.duration, stretched]),
        np.array([1800, 800]), "PipeUtilization", A2,
    )  # fmt: skip
    worked = values["aic_mac_ratio"] * values["aic_total_cycles"]
    assert worked[0] == pytest.approx(worked[1], rel=1e-9)
    assert values["aic_mac_time"][1] == pytest.approx(values["aic_mac_time"][0] * 2.25, rel=1e-3)


def test_is_the_cube_never_used_more_than_wholly() -> None:
    found = counted_kernels()
    values = nominal(found, "PipeUtilization", A2)
    duration = np.array([kernel.duration for kernel in found])
    used = 100 * values["aic_total_cycles"] / (1800 * 24 * duration / 1000)
    assert used.max() <= 100
    assert used.max() > 95


def test_is_what_streams_bound_by_memory_and_what_computes_not() -> None:
    made = Kernels(A2)
    half = Operand((4096, 4096), "FLOAT16")
    large = Operand((1 << 26,), "FLOAT", cold=True)
    product = made.matmul("MatMulV2", "aclnnMm", [half, half], half, (1, 4096, 4096, 4096))
    stream = made.vector("Add", "aclnnAdd", [large, large], [large])
    values = nominal([product, stream], "PipeUtilization", A2)
    assert values["aic_mte2_ratio"][0] / values["aic_mac_ratio"][0] < 1
    assert values["aiv_mte2_ratio"][1] / values["aiv_vec_ratio"][1] > 10


def test_do_bandwidths_move_the_bytes_of_the_kernel() -> None:
    found = counted_kernels()
    memory = nominal(found, "Memory", A2)
    cache = nominal(found, "L2Cache", A2)
    access = nominal(found, "MemoryAccess", A2)
    cycles = nominal(found, "PipeUtilization", A2)
    for place, kernel in enumerate(found):
        prefix = "aic_" if kernel.core in ("AI_CORE", "MIX_AIC") else "aiv_"
        seconds = cycles[f"{prefix}total_cycles"][place] / 1.8e9
        for name, size in (
            ("main_mem_read_bw", kernel.read),
            ("main_mem_write_bw", kernel.written),
            ("l2_read_bw", kernel.loaded),
            ("l2_write_bw", kernel.stored),
        ):
            moved = memory[prefix + name][place] * seconds * 2**30
            assert moved == pytest.approx(size, rel=1e-9)
        assert access[f"{prefix}read_main_memory_datas"][place] * 1024 == kernel.read
        lines = sum(
            cache[f"{prefix}{name}"][place]
            for name in (
                "r0_read_cache_hit",
                "r1_read_cache_hit",
                "r0_read_cache_miss_allocate",
                "r1_read_cache_miss_allocate",
            )
        )
        assert 0 <= kernel.loaded // 128 - lines <= 4


def test_do_counted_operations_match_those_of_a_whole_product() -> None:
    operands = [Operand((4096, 4096), "FLOAT16")] * 2
    size = (1, 4096, 4096, 4096)
    product = Kernels(A2).matmul("MatMulV2", "aclnnMm", operands, operands[0], size)
    values = nominal([product], "ArithmeticUtilization", A2)
    assert values["aic_cube_fops"][0] == pytest.approx(product.flops, rel=0.08)
    assert not values["aiv_vector_fops"].any()


def by_hand(kernel: Kernel, duration: int, frequency: int) -> list[float]:
    """The pipes of a vector kernel that fits one wave, without NumPy."""
    counted = duration * kernel.busy // 65_536
    cycles = counted * frequency * kernel.blocks // 1000
    total = cycles * 1000 / (frequency * kernel.blocks)
    usual = kernel.duration * kernel.busy // 65_536 * A2.frequency * kernel.blocks // 1000
    out: list[float] = [0.0] * 13 + [total, float(cycles)]
    for pipe in ("vec", "mac", "scalar", "mte1", "mte2", "mte3"):
        share = kernel.pipes.get(pipe, 0)
        if pipe in ("mte2", "mte3"):
            worked = share * cycles // 65_536
        else:
            worked = min(share * usual // 65_536, cycles)
        out += [worked / cycles * total, worked / cycles]
    return [*out, kernel.rates["icache_miss_rate"]]


def test_do_the_columns_agree_with_one_row_at_a_time() -> None:
    found = [
        kernel
        for kernel in counted_kernels()
        if kernel.core == "AI_VECTOR_CORE" and kernel.blocks <= 48
    ]
    count = 5000
    kind: npt.NDArray[np.int64] = np.arange(count) * 7 % len(found)
    durations = np.array([found[place].duration for place in kind]) + np.arange(count) % 11 * 20
    frequencies = np.where(np.arange(count) % 3, 1800, 800)
    values = metric_values(found, kind, durations, frequencies, "PipeUtilization", A2)
    for row in range(0, count, 37):
        expected = by_hand(found[kind[row]], int(durations[row]), int(frequencies[row]))
        np.testing.assert_allclose(values[row], expected, rtol=1e-12)


def test_do_more_blocks_than_cores_run_in_waves() -> None:
    (kernel,) = [kernel for kernel in counted_kernels() if kernel.op_type == "Relu"][:1]
    many = replace(kernel, blocks=256)
    values = nominal([many], "PipeUtilization", A2)
    waves = values["aiv_total_cycles"][0] / (values["aiv_total_time"][0] / 1000 * 1800)
    assert waves == pytest.approx(256 / 6)  # 42.67, as of the one real task (db-schema.md 4.12)
