"""Machines from the product file, with what a scenario changes of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ascend_spec import catalog, per_spec
from ascend_spec.core import packaged

from ..choices import HardwareChoice, ProductName
from .model import Chip, Link, Machine

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
