"""What paths between ranks cost, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from world_cases import world_of

from ascend_simulator.choices import (
    Algorithm,
    HardwareChoice,
    Parallelism,
    ProductName,
    Scenario,
)
from ascend_simulator.hardware.model import path
from ascend_simulator.program.model import Collective
from ascend_simulator.world.network import Journey
from ascend_simulator.world.wires import LINK_NAMES, wires

ELEMENTS = 1 << 20


def journey(
    product: ProductName, algorithm: Algorithm, ranks: int, per_host: int, kind: str = "allGather"
) -> Journey:
    hardware = HardwareChoice(product=product, algorithm=algorithm, devices_per_host=per_host)
    world = world_of(Scenario("x", hardware=hardware, parallelism=Parallelism(ranks)), 1)
    item = Collective(0, kind, "world", ELEMENTS, "FP32")  # type: ignore[arg-type]
    return world.network.journey(item, np.arange(ranks)[None], range(1))


@pytest.mark.parametrize("product", ["A2", "A3", "910A", "310P", "200I-500-A2", "950"])
def test_tables_tell_every_path(product: ProductName) -> None:
    hardware = HardwareChoice(product=product, devices_per_host=6)
    machine = world_of(Scenario("x", hardware=hardware, parallelism=Parallelism(1)), 1).machine
    found = wires(machine, 14)
    for one in range(14):
        for other in range(14):
            link = path(machine, one, other)
            assert found.rate[one, other] == link.bytes_per_microsecond
            assert found.latency[one, other] == link.latency
            assert found.port[one, other] == link.port
            name = LINK_NAMES[int(found.link[one, other])]
            assert name == {"RDMA": "ROCE"}.get(link.transport, link.transport)
            assert found.remote[one, other] == (one // 6 != other // 6)


def test_peers_share_the_port_to_other_hosts_and_have_a_link_each_within() -> None:
    found = journey("A2", "mesh", 6, 2, "reduceScatter")
    size, took = int(found.sizes[0, 0, 0, 0, 0]), found.lengths[0, :, 0, 0]
    away = found.plan.rounds[0].peer // 2 != np.arange(6) // 2
    assert away.sum(axis=0).tolist() == [4] * 6
    assert set(took[away].tolist()) == {6_000 + size * 4 * 1000 // 22_000}
    assert set(took[~away].tolist()) == {1_500 + size * 1000 // 20_000}


def test_peers_share_the_bus() -> None:
    alone = journey("310P", "mesh", 2, 8, "reduceScatter").lengths[0].max() - 4_000
    crowded = journey("310P", "mesh", 5, 8, "reduceScatter").lengths[0].max() - 4_000
    assert abs(int(crowded) - 4 * int(alone)) <= 4


def test_links_of_a_switch_share_what_its_port_carries() -> None:
    """A3: 392 GB/s per die, by its data sheet; neighbours on one package have their own link."""
    found = journey("A3", "mesh", 16, 16, "reduceScatter")
    size, took = int(found.sizes[0, 0, 0, 0, 0]), found.lengths[0, :, 0, 0]
    beside = found.plan.rounds[0].peer // 2 == np.arange(16) // 2
    assert set(took[beside].tolist()) == {900 + size * 1000 // 200_000}
    assert set(took[~beside].tolist()) == {1_800 + size * 1000 // (392_000 // 14)}


def test_one_lane_has_the_port_for_itself() -> None:
    for algorithm in ("ring", "nhr", "pairwise"):
        found = journey("A2", algorithm, 3, 1)  # type: ignore[arg-type]
        size = int(found.sizes[0, 0, 0, 0, 0])
        assert int(found.lengths[0, 0, 0, 0, 0]) == size * 1000 // 22_000 + 6_000


@pytest.mark.parametrize(
    ("product", "ranks", "per_host", "names"),
    [
        ("A2", 8, 8, {"allReduce": "MESH-RING", "alltoallv": "MESH-RING"}),
        ("A2", 8, 4, {"allReduce": "HD-MESH", "alltoallv": "PAIRWISE-RING"}),
        ("A2", 6, 4, {"allReduce": "NA-NHR", "broadcast": "NA-PIPELINE"}),
        ("910A", 8, 8, {"allReduce": "RING-RING", "alltoallv": "PAIRWISE-RING"}),
        ("310P", 2, 8, {"allReduce": "RING-RING", "send": "PAIRWISE-RING"}),
    ],
)
def test_algorithms_that_are_chosen(
    product: ProductName, ranks: int, per_host: int, names: dict[str, str]
) -> None:
    for kind, name in names.items():
        size = 2 if kind == "send" else ranks
        assert journey(product, "auto", size, per_host, kind).plan.name == name
