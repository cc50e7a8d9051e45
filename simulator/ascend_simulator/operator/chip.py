"""Chips as a kernel sees them: what one can do in a cycle. Units: MHz, Byte, Byte per cycle, ns.

They come from the chip file and from the products that the whole-run simulator knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal

from ascend_spec.core import packaged

from ..hardware import products

Family = Literal["910B", "310P", "950"]
Memory = Literal["L1", "L0A", "L0B", "L0C", "UB"]

GIBI = 1 << 30
MEBI = 1 << 20
KIBI = 1 << 10
GIGA_PER_TERA = 1000

CHIPS = "chips.yaml"
_OF_PRODUCT = ("cube_cores", "vector_cores", "cube_flops", "start", "start_block")


@dataclass(frozen=True, slots=True)
class CacheShape:
    """A set-associative cache; line: Byte."""

    sets: int
    ways: int
    line: int


@dataclass(frozen=True, slots=True)
class KernelChip:
    """One chip.

    name: its SoC name. frequency: rated MHz. cube_cores, vector_cores: the same cores on 310P.
    cube_flops: floating point operations per core and cycle (FLOAT16). gm_bandwidth, l2_bandwidth:
    nominal 10^12 Byte/s. buffers: Byte of each memory of one core. transfer: 2^30 Byte/s that one
    core reaches at most on a path. start, start_block: ns until the first block runs, and for each
    further one.
    """

    name: str
    family: Family
    frequency: int
    cube_cores: int
    vector_cores: int
    cube_flops: int
    gm_bandwidth: float
    l2_bandwidth: float
    cache: CacheShape
    buffers: Mapping[Memory, int]
    transfer: Mapping[str, float]
    start: int
    start_block: int

    @property
    def unified(self) -> bool:
        """Whether cube and vector unit share a core, its pipes and its scalar unit (310P)."""
        return self.family == "310P"

    @property
    def vectors_per_cube(self) -> int:
        """Vector cores that belong to each cube core in a mix operator."""
        return self.vector_cores // self.cube_cores

    def port(self, path: str) -> Fraction:
        """Byte per cycle that one core moves at most on a path of :attr:`transfer`."""
        return _rate(Fraction(str(self.transfer[path])) * GIBI / (self.frequency * 10**6))

    def share(self, bandwidth: float, cores: int, frequency: int) -> Fraction:
        """Byte per cycle of one of so many active cores at a clock of so many MHz.

        They have equal shares of a ``bandwidth`` in 10^12 Byte/s.
        """
        return _rate(Fraction(str(bandwidth)) * 10**6 / (frequency * cores))


def _rate(exact: Fraction) -> Fraction:
    """A rate that 64-bit integers can multiply sizes with."""
    return exact.limit_denominator(1000)


@cache
def chip_names() -> tuple[str, ...]:
    """The chips of the chip file, in its order."""
    return tuple(packaged(__package__, CHIPS)["chips"])


@cache
def chip(name: str) -> KernelChip:
    """One chip. Raises ``KeyError`` for a name that the chip file does not hold."""
    document = packaged(__package__, CHIPS)["chips"][name]
    defaults = packaged(__package__, CHIPS)["defaults"][document["family"]]
    sheet, shape = {**defaults, **document}, defaults["cache"] | document.get("cache", {})
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
