"""Chips from the chip file and from the products that the whole-run simulator knows."""

from __future__ import annotations

from functools import cache
from typing import Any

from ascend_spec.core import packaged

from ...hardware import products
from .model import KIBI, CacheShape, KernelChip

CHIPS = "chips.yaml"
MEBI = 1 << 20
GIGA_PER_TERA = 1000
_OF_PRODUCT = ("cube_cores", "vector_cores", "cube_flops", "start", "start_block")


@cache
def chip_names() -> tuple[str, ...]:
    """The chips of the chip file, in its order."""
    return tuple(packaged(__package__, CHIPS)["chips"])


@cache
def chip(name: str) -> KernelChip:
    """One chip. Raises ``KeyError`` for a name that the chip file does not hold."""
    document = packaged(__package__, CHIPS)["chips"][name]
    sheet = {**packaged(__package__, CHIPS)["defaults"][document["family"]], **document}
    shape = packaged(__package__, CHIPS)["defaults"][document["family"]]["cache"] | document.get(
        "cache", {}
    )
    product: dict[str, Any] = products()[sheet["product"]] if "product" in sheet else {}
    machine = {key: product[key] for key in _OF_PRODUCT} if product else sheet["machine"]
    return KernelChip(
        name=name,
        family=sheet["family"],
        frequency=sheet.get("frequency") or product["frequency"],
        gm_bandwidth=sheet.get("gm_bandwidth") or product["hbm_bandwidth"] / GIGA_PER_TERA,
        l2_bandwidth=sheet.get("l2_bandwidth") or product["l2_bandwidth"] / GIGA_PER_TERA,
        cache=CacheShape(
            sets=shape.get("sets") or product["l2"] * MEBI // (shape["ways"] * shape["line"]),
            ways=shape["ways"],
            line=shape["line"],
        ),
        buffers={memory: size * KIBI for memory, size in sheet["buffers"].items()},
        transfer=sheet["transfer"],
        **machine,
    )
