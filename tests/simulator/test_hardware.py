"""Machines: their figures against the data sheets, and the paths between ranks."""

from __future__ import annotations

import pytest

from ascend_simulator.choices import HardwareChoice, ProductName
from ascend_simulator.hardware import machine, path, products
from ascend_spec import catalog

PRODUCTS: tuple[ProductName, ...] = ("A2", "A3", "910A", "310P", "200I-500-A2", "950")
each_product = pytest.mark.parametrize("product", PRODUCTS)
# TFLOPS of FLOAT16 and GB/s of memory, from the data sheets; per die on A3.
SHEETS = {
    "A2": (313, 376, 1600),
    "A3": (313, 376, 1600),
    "910A": (256, 265, 1200),
    "310P": (70, 72, 204),
    "200I-500-A2": (9, 11, 51),
    # There is no sheet; half of the 1 PFLOPS of FP8 that are announced, at twice the rate.
    "950": (471, 501, 1600),
}


def test_every_product_of_a_scenario_has_a_machine() -> None:
    assert set(products()) == set(PRODUCTS)


@each_product
def test_is_the_peak_that_of_the_data_sheet(product: ProductName) -> None:
    chip = machine(HardwareChoice(product)).chip
    least, most, memory = SHEETS[product]
    assert least <= chip.cube_cores * chip.cube_flops * chip.frequency / 1e6 <= most
    assert chip.hbm_bandwidth == memory * 1000


@each_product
def test_is_the_chip_one_that_the_spec_knows(product: ProductName) -> None:
    found = catalog().products[product]
    name = machine(HardwareChoice(product)).chip.name
    # A3 reports the platform number of A2 and so the same name; none of its own is known.
    assert name in (found.chips or ["Ascend910B"])


@each_product
def test_do_every_figure_and_its_source_stand_in_the_product_file(product: ProductName) -> None:
    assert len(products()[product]["source"]) > 60


def test_does_a_scenario_change_only_what_it_names() -> None:
    plain = machine(HardwareChoice("A2"))
    other = machine(HardwareChoice("A2", hbm_bandwidth=2000, link_bandwidth=30, host_bandwidth=12))
    assert other.chip.hbm_bandwidth == 2_000_000
    assert (other.inside.bytes_per_microsecond, other.outside.bytes_per_microsecond) == (
        30_000,
        12_000,
    )
    assert other.inside.latency == plain.inside.latency
    assert other.chip.frequency == plain.chip.frequency
    assert machine(HardwareChoice("A2", frequency=700)).chip.frequency == 700


@each_product
def test_paths_are_the_same_both_ways_and_end_at_home(product: ProductName) -> None:
    found = machine(HardwareChoice(product))
    for first in range(20):
        assert path(found, first, first) == found.local
        for second in range(20):
            assert path(found, first, second) == path(found, second, first)


@pytest.mark.parametrize(
    ("product", "ranks", "transport"),
    [
        ("A2", (0, 7), "HCCS"),
        ("A2", (7, 8), "RDMA"),
        ("A2", (0, 1), "HCCS"),
        ("A3", (0, 1), "SIO"),
        ("A3", (1, 2), "HCCS"),
        ("A3", (15, 16), "RDMA"),
        ("910A", (3, 4), "HCCS"),
        ("310P", (0, 1), "PCIE"),
        ("310P", (0, 8), "RDMA"),
        ("200I-500-A2", (0, 1), "RDMA"),
    ],
)
def test_what_joins_two_ranks(product: ProductName, ranks: tuple[int, int], transport: str) -> None:
    assert path(machine(HardwareChoice(product)), *ranks).transport == transport


def test_more_hosts_when_fewer_devices_stand_in_one() -> None:
    small = machine(HardwareChoice("A2", devices_per_host=2))
    assert path(small, 0, 1).transport == "HCCS"
    assert path(small, 1, 2).transport == "RDMA"


@each_product
def test_are_pieces_aligned_as_the_library_does(product: ProductName) -> None:
    """16 KiB on 910B and A3, else 128 Byte."""
    wide = product in ("A2", "A3")
    assert machine(HardwareChoice(product)).chip.piece_alignment == (16_384 if wide else 128)
