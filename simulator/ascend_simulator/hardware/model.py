"""Machines: what a product can do, by the product file, and what a scenario changes of it.

Units: MHz, Byte, Byte per microsecond (= 10^6 Byte/s), ns.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from ascend_spec import catalog, per_spec
from ascend_spec.core import packaged
from ascend_spec.raw.records import CORE_DIES

from ..choices import HardwareChoice, ProductName

Transport = Literal["HCCS", "PCIE", "RDMA", "SIO", "ON_CHIP"]


@dataclass(frozen=True, slots=True)
class Link:
    """A path between two devices (RDMA: a link of type ROCE).

    latency: ns. port: Byte per microsecond of a device over all its links of this kind together; 0
    where each of them has what it needs.
    """

    transport: Transport
    bytes_per_microsecond: int
    latency: int
    port: int


@dataclass(frozen=True, slots=True)
class Chip:
    """One device.

    product: the family, as in a scenario. name: NPU_INFO.name. cube_cores, vector_cores: AI Core
    and AI Vector Core counts; the same cores where they are not ``split``. frequency: nominal MHz.
    cube_flops, vector_flops: floating point operations per core
    and cycle (FLOAT16). core_bytes, core_hbm_bytes: Byte per cycle that one core moves when they
    lie in L2 or in memory. hbm_bandwidth, l2_bandwidth, local_bandwidth: Byte per microsecond of
    the memory, of L2, and of a copy on the device. memory, l2: Byte. start, start_block: ns from
    the beginning of a task until its cores count, and how many more for each block. ffts: small
    communication tasks run as sub-tasks of an FFTS+ task on one stream (910B); else on streams of
    their own (910A). unique_tasks: numbers of tasks are alone over all streams of the device.
    dies: those with cores, which are sampled apart; none where they are not. random_unit: random
    masks come from a unit of their own (DSA), not from AI CPU. trains: made for training; on the
    other chips a network for images only answers.
    piece_alignment: the pieces of a collective but the last are multiples of so many Byte.
    """

    product: ProductName
    name: str
    cube_cores: int
    vector_cores: int
    ai_cpu_cores: int
    frequency: int
    cube_flops: int
    vector_flops: int
    core_bytes: int
    core_hbm_bytes: int
    hbm_bandwidth: int
    l2_bandwidth: int
    local_bandwidth: int
    memory: int
    l2: int
    start: int
    start_block: int
    memory_kind: Literal["HBM", "DDR"]
    split: bool
    ffts: bool
    unique_tasks: bool
    dies: tuple[int, ...]
    random_unit: bool
    trains: bool
    piece_alignment: int


@dataclass(frozen=True, slots=True)
class Machine:
    """A chip, and how devices are joined to hosts and to each other.

    devices_per_host: devices of one host, all joined by ``inside``. Devices of two hosts talk over
    ``outside``. paired: devices 2n and 2n+1 are dies of one package and joined by it. local: copies
    on one device.
    """

    chip: Chip
    devices_per_host: int
    inside: Link
    outside: Link
    local: Link
    paired: Link | None = None


def path(machine: Machine, rank_a: int, rank_b: int) -> Link:
    """How data get from one rank to another, where ranks fill the hosts in order."""
    if rank_a == rank_b:
        return machine.local
    if rank_a // machine.devices_per_host != rank_b // machine.devices_per_host:
        return machine.outside
    device_a, device_b = rank_a % machine.devices_per_host, rank_b % machine.devices_per_host
    if machine.paired is not None and device_a // 2 == device_b // 2:
        return machine.paired
    return machine.inside


GIGA = 1000
"""10^9 Byte/s are so many Byte per microsecond."""
MEBI = 1 << 20
LOCAL_LATENCY_NS = 700


def products() -> dict[ProductName, dict[str, Any]]:
    """The product file, by product."""
    loaded: dict[ProductName, dict[str, Any]] = packaged(__package__, "products.yaml")
    return loaded


@per_spec
def machine(choice: HardwareChoice) -> Machine:
    """The machine that a scenario chooses."""
    sheet, spec = products()[choice.product], catalog().products
    frequency = choice.frequency or sheet["frequency"]
    figures = {item.name: sheet[item.name] for item in fields(Chip) if item.name in sheet}
    chip = Chip(
        **figures
        | {
            "product": choice.product,
            "name": spec.chip_name(choice.product),
            "split": spec[choice.product].can("split-cores"),
            "ffts": spec[choice.product].can("ffts"),
            "unique_tasks": spec[choice.product].can("unique-tasks"),
            "dies": CORE_DIES if spec[choice.product].can("dies") else (),
            "frequency": frequency,
            "hbm_bandwidth": (choice.hbm_bandwidth or sheet["hbm_bandwidth"]) * GIGA,
            "l2_bandwidth": sheet["l2_bandwidth"] * GIGA,
            "local_bandwidth": sheet["local_bandwidth"] * GIGA,
            "memory": sheet["memory"] * MEBI,
            "l2": sheet["l2"] * MEBI,
        }
    )
    paired = sheet.get("paired")
    return Machine(
        chip=chip,
        devices_per_host=choice.devices_per_host or sheet["devices_per_host"],
        inside=_link(sheet["inside"], choice.link_bandwidth),
        outside=_link(sheet["outside"], choice.host_bandwidth),
        local=Link("ON_CHIP", chip.local_bandwidth, LOCAL_LATENCY_NS, 0),
        paired=_link(paired, None) if paired else None,
    )


def _link(entry: dict[str, Any], bandwidth: int | None) -> Link:
    rate = bandwidth or entry["bandwidth"]
    one_for_all = entry["transport"] in ("PCIE", "RDMA")
    port = rate if one_for_all else max(rate, entry["port"]) if "port" in entry else 0
    return Link(entry["transport"], rate * GIGA, entry["latency"], port * GIGA)
