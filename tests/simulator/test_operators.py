"""The cost of kernels: limits of the hardware, monotonicity, and how work is shared out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from program_cases import CASES, PRODUCTS, chip_of, kernels, stages

from ascend_simulator.choices import ProductName
from ascend_simulator.hardware.model import Chip
from ascend_simulator.program.cost import blocks_for, kinds
from ascend_simulator.program.kernels import Kernels, Operand
from ascend_simulator.program.model import Kernel
from ascend_spec import catalog

A2 = chip_of("A2")
EVERYTHING = [(case, product) for case in CASES for product in PRODUCTS]
LENGTHS = st.integers(1, 5000)


def product_of(
    chip: Chip, m: int, n: int, k: int, *, data_type: str = "FLOAT16", cold: bool = False
) -> Kernel:
    inputs = [Operand((m, k), data_type, cold=cold), Operand((k, n), data_type, cold=cold)]
    return Kernels(chip).matmul(
        "MatMulV2", "aclnnMm", inputs, Operand((m, n), data_type), (1, m, n, k)
    )


def sum_of(chip: Chip, elements: int, *, cold: bool = False) -> Kernel:
    one = Operand((elements,), "FLOAT", cold=cold)
    return Kernels(chip).vector("Add", "aclnnAdd", [one, one], [replace(one, cold=False)])


def saved(kind: str, small: Kernel, large: Kernel) -> int:
    """ns that a larger kernel saves because it comes out even on fewer blocks."""
    per_block = A2.start_block + kinds()[kind].block
    return per_block * max(0, small.blocks - large.blocks)


@pytest.mark.parametrize(("case", "product"), EVERYTHING)
def test_is_no_kernel_faster_than_the_chip(case: str, product: ProductName) -> None:
    chip = chip_of(product)
    peak = chip.cube_cores * chip.cube_flops * chip.frequency / 1000
    for program in stages(case, product):
        for kernel in kernels(program):
            if kernel.core in ("AI_CPU", "DSA_SQE"):
                continue
            assert kernel.flops <= kernel.duration * peak
            assert kernel.read + kernel.written <= kernel.duration * chip.hbm_bandwidth / 1000
            assert kernel.loaded >= kernel.read
            assert kernel.stored >= kernel.written


def test_does_a_large_product_reach_most_of_the_peak() -> None:
    kernel = product_of(A2, 8192, 8192, 8192)
    peak = A2.cube_cores * A2.cube_flops * A2.frequency / 1000
    assert 0.6 < kernel.flops / kernel.duration / peak < 0.9


def test_does_a_large_sum_reach_most_of_the_bandwidth() -> None:
    kernel = sum_of(A2, 1 << 28, cold=True)
    moved = 3 * 4 * (1 << 28)
    assert 0.6 < moved / kernel.duration / (A2.hbm_bandwidth / 1000) < 0.9


@given(m=LENGTHS, n=LENGTHS, k=LENGTHS, axis=st.integers(0, 2))
@settings(deadline=None)
def test_is_a_larger_product_never_faster(m: int, n: int, k: int, axis: int) -> None:
    lengths = [m, n, k]
    small = product_of(A2, *lengths)
    lengths[axis] *= 2
    large = product_of(A2, *lengths)
    assert large.duration + 20 >= small.duration - saved("MatMulV2", small, large)


@given(elements=st.integers(1, 1 << 26), more=st.integers(0, 1 << 26))
@settings(deadline=None)
def test_is_a_larger_sum_not_faster(elements: int, more: int) -> None:
    small, large = sum_of(A2, elements), sum_of(A2, elements + more)
    assert large.duration + 20 >= small.duration - saved("Add", small, large)


@given(elements=st.integers(1, 1 << 24))
@settings(deadline=None)
def test_is_memory_never_faster_than_l2(elements: int) -> None:
    assert sum_of(A2, elements, cold=True).duration >= sum_of(A2, elements).duration


def test_does_a_partial_wave_cost_a_whole_one() -> None:
    full = product_of(A2, 24 * 128, 256, 4096)
    more = product_of(A2, 48 * 128 + 128, 256, 4096)
    twice = product_of(A2, 48 * 128, 256, 4096)
    most = product_of(A2, 72 * 128, 256, 4096)
    assert full.blocks == 24
    assert twice.duration < more.duration <= most.duration
    # One tile more than two full waves costs smaller tiles for all, not 1/24 of a wave.
    wave = twice.duration - full.duration
    assert more.duration - twice.duration > wave // 5


def test_do_faster_chips_run_faster() -> None:
    base = product_of(A2, 4096, 4096, 4096)
    assert product_of(replace(A2, frequency=900), 4096, 4096, 4096).duration > base.duration * 1.8
    assert product_of(replace(A2, cube_cores=12), 4096, 4096, 4096).duration > base.duration * 1.7
    slow = replace(A2, hbm_bandwidth=A2.hbm_bandwidth // 2)
    assert product_of(slow, 4096, 4096, 4096).duration == base.duration
    large = 1 << 26
    assert sum_of(slow, large, cold=True).duration > sum_of(A2, large, cold=True).duration * 1.8


def test_what_follows_the_clock() -> None:
    assert product_of(A2, 4096, 4096, 4096).clock_bound > 950
    assert sum_of(A2, 1 << 27, cold=True).clock_bound < 50


def test_how_much_slower_wide_types_are() -> None:
    half = product_of(A2, 4096, 4096, 4096)
    full = product_of(A2, 4096, 4096, 4096, data_type="FLOAT")
    assert 3 < full.duration / half.duration < 5


@given(elements=st.integers(1, 1 << 30), cores=st.integers(1, 64))
def test_do_blocks_share_out_all_elements(elements: int, cores: int) -> None:
    blocks = blocks_for(elements, 1024, cores)
    assert 1 <= blocks <= cores
    assert blocks == 1 or elements / blocks > 512


@pytest.mark.parametrize(
    ("elements", "blocks"),
    [(32 * 4096, 47), (4096, 4), (1000, 1), (64 * 3 * 121, 23), (32 * 64 * 55 * 55, 48), (160, 1)],
)
def test_how_real_kernels_were_split(elements: int, blocks: int) -> None:
    assert blocks_for(elements, 1024, 48) == blocks


def test_is_every_kind_of_a_known_unit() -> None:
    units = {"vector", "cube", "mix_vector", "attention", "ai_cpu", "random"}
    for kind in kinds().values():
        assert kind.unit in units
        assert kind.head > 0
        assert (kind.rate > 0) or kind.unit not in ("ai_cpu", "random")
        assert (kind.efficiency > 0) == (kind.unit in ("cube", "attention"))


@pytest.mark.parametrize("product", PRODUCTS)
def test_which_engine_runs_an_operator(product: ProductName) -> None:
    chip = chip_of(product)
    one = Operand((4096,), "FLOAT")
    made = Kernels(chip)
    found = {
        kind: made.vector(kind, "aclnnX", [one], [one])
        for kind in ("Relu", "ReduceSum", "Unique", "DSAGenBitMask")
    }
    assert found["Unique"].task_type == "KERNEL_AICPU"
    assert found["Unique"].blocks == 0
    if chip.split:
        assert (found["Relu"].core, found["Relu"].task_type) == ("AI_VECTOR_CORE", "KERNEL_AIVEC")
        assert found["ReduceSum"].core == "MIX_AIV"
        within = found["ReduceSum"].task_type, found["ReduceSum"].subtask
        ffts = catalog().products[product].can("ffts")
        assert within == (("KERNEL_AICORE", True) if ffts else ("KERNEL_MIX_AIV", False))
        assert found["DSAGenBitMask"].task_type == "STARS_COMMON"
    else:
        assert found["Relu"].core == found["ReduceSum"].core == "AI_CORE"
        assert not found["ReduceSum"].subtask
