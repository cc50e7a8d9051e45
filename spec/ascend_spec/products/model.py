"""Products and sets of data, as immutable objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Capability:
    """Something that some products can do."""

    id: str
    summary: str


@dataclass(frozen=True, slots=True)
class WithoutValue:
    """Counters whose columns are there and hold N/A: names without prefix, of a ratio its own (the
    time that belongs to it is without value as well).
    """

    counters: tuple[str, ...]
    source: tuple[str, ...]
    errata: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Product:
    """A product family.

    ``chips``: the names in NPU_INFO.name that belong to it alone; ``platforms``: the values of
    platform_version in info.json. ``capabilities``: what it can do, with the sources that say so.
    """

    id: str
    name: str
    chips: tuple[str, ...]
    platforms: tuple[int, ...]
    source: tuple[str, ...]
    capabilities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str | None = None
    without_value: WithoutValue | None = None


@dataclass(frozen=True, slots=True)
class DataSet:
    """A row of the matrix: what is collected together.

    ``switches``: each of them collects it; none: it is collected always. ``cells``: by product that
    has it, the sources that say so.
    """

    id: str
    summary: str
    switches: tuple[str, ...]
    cells: Mapping[str, tuple[str, ...]]
    errata: tuple[str, ...] = ()

    @property
    def products(self) -> tuple[str, ...]:
        """The products that have it, in the order of the matrix."""
        return tuple(self.cells)
