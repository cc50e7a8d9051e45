"""The side file of a machine: what info.json states of the host and of a device."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ascend_ref.capture import Origin
from ascend_spec import catalog
from ascend_spec.core import Product

from .moments import MOMENTS, Moments

HOST_DEVICE = 64
"""The number that info.json gives to the host."""
DRIVER_VERSION = 467_473
"""The first driver whose captures are exported completely (raw-prof.md 3.1)."""


def chip_of(origin: Origin) -> int:
    """The number of a machine's chip. Raises ``ValueError`` for a chip that has none."""
    return _product(origin).platforms[0]


def family_of(origin: Origin) -> str:
    """The family of products that a machine's chip is of; of A2 and A3, which share one, A2.

    Raises ``ValueError`` for a chip that is of none.
    """
    return _product(origin).id


def _product(origin: Origin) -> Product:
    product = catalog().products.of_chip(origin.chip)
    if product is None:
        chips = ", ".join(chip for one in catalog().products.values() for chip in one.chips)
        raise ValueError(f"chip: {origin.chip!r}; expected one of {chips}")
    return product


def machine_info(origin: Origin, device: int | None, moments: Moments = MOMENTS) -> dict[str, Any]:
    """info.json of a device, or of the host for None (raw-prof.md 3.1).

    Raises ``ValueError`` for a chip that has no platform number.
    """
    return {
        "version": "1.0",
        "platform_version": str(chip_of(origin)),
        "devices": str(HOST_DEVICE if device is None else device),
        "DeviceInfo": [] if device is None else [_device_info(origin, device, moments)],
        "CPU": [{"Id": 0, "Frequency": _megahertz(moments.host_frequency), "Type": "TaishanV110"}],
        "pid": str(origin.pid),
        "pid_name": "python",
        "hostname": origin.host_name,
        "hostUid": str(origin.host_uid),
        "memoryTotal": 0,
        "netCard": [],
        "drvVersion": DRIVER_VERSION,
        "rank_id": origin.rank,
    }


def _device_info(origin: Origin, device: int, moments: Moments) -> dict[str, Any]:
    found: dict[str, Any] = {"id": device, "hwts_frequency": _megahertz(moments.device_frequency)}
    if origin.facts is not None:
        found |= {
            "ai_cpu_core_num": origin.facts.ai_cpu_cores,
            "ai_core_num": origin.facts.cube_cores,
            "aiv_num": origin.facts.vector_cores,
            "aic_frequency": str(origin.facts.frequency),
            "aiv_frequency": str(origin.facts.frequency),
        }
    return found


def _megahertz(frequency: Fraction) -> str:
    return f"{float(frequency):.6f}"
