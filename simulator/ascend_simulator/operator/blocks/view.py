"""The counters as a report shows them: by block, or in one sum on 310P."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ascend_ref.capture import Integers

from ..counters import Counters, Pipe
from ..world import World
from .numbers import NOT_AVAILABLE, single

Core = Literal["cube", "vector"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One sub-core of a block. name: as 0x06 names it; number: of the vector core in a mix block.

    cores: the kinds of core that it is, both on 310P.
    """

    name: str
    cores: tuple[Core, ...]
    number: int | None
    place: tuple[int, int]


@dataclass(frozen=True)
class Report:
    """What the pages of a report are made of. counters: by the blocks of the report."""

    world: World
    counters: Counters

    @classmethod
    def of(cls, world: World) -> Report:
        """The report on a kernel."""
        counters = world.counters
        return cls(world, _summed(world, counters) if world.chip.unified else counters)

    @property
    def family(self) -> str:
        """The chip's family, as the spec names it."""
        return self.world.chip.family

    @property
    def op_type(self) -> str:
        """The kind of operator."""
        return self.world.program.op_type

    @property
    def mixed(self) -> bool:
        """Whether cube and vector cores share the work."""
        return len(self.world.program.units) > 1

    @cached_property
    def block_ids(self) -> list[str]:
        """Names of the blocks of the report."""
        if self.world.chip.unified:
            return [NOT_AVAILABLE]
        return [str(block) for block in range(self.world.program.block_dim)]

    @cached_property
    def duration(self) -> float:
        """Microseconds of the whole task, in single precision."""
        return single(self.world.task_cycles / self.world.frequency)

    def cache(self, block: int, *kinds: str) -> tuple[int, int]:
        """Hits and misses of L2 by the accesses of these kinds, by default of reads and writes."""
        kinds = kinds or ("read", "write")
        hits, misses = (
            sum(int(self.counters.amount(f"{kind}_{what}")[block].sum()) for kind in kinds)
            for what in ("hits", "misses")
        )
        return hits, misses

    def total(self, core: Core, name: str) -> int:
        """An amount of all such cores together."""
        return sum(
            self.amount(unit, name)
            for block in range(len(self.block_ids))
            for unit in self.units(block)
            if core in unit.cores
        )

    def units(self, block: int) -> Iterator[Unit]:
        """The sub-cores of a block, in the order of the report."""
        for number, name in enumerate(self.world.program.units):
            cores: tuple[Core, ...] = (
                ("cube", "vector")
                if self.world.chip.unified
                else ("cube",)
                if name.startswith("cube")
                else ("vector",)
            )
            vector = number - 1 if self.mixed and number else None
            yield Unit(name, cores, vector, (block, number))

    def cycles(self, unit: Unit) -> int:
        """Cycles of a sub-core."""
        return int(self.counters.total_cycles[unit.place])

    def microseconds(self, unit: Unit) -> float:
        """Its duration, in single precision."""
        return single(self.cycles(unit) / self.world.frequency)

    def amount(self, unit: Unit, name: str) -> int:
        """One of its amounts."""
        return int(self.counters.amount(name)[unit.place])

    def busy(self, unit: Unit, pipe: str) -> int:
        """Cycles in which one of its pipes worked."""
        return int(self.counters.pipe(pipe).busy[unit.place])

    def waits(self, unit: Unit, pipe: str) -> int:
        """Cycles in which one of its pipes waited for a flag."""
        return int(self.counters.pipe(pipe).wait[unit.place])

    def memory_time(self, unit: Unit) -> float:
        """Microseconds that bandwidths refer to: those of the whole task for a mix operator."""
        return self.duration if self.mixed else self.cycles(unit) / self.world.frequency


def _summed(world: World, counters: Counters) -> Counters:
    """310P counts for the whole task: amounts add up, cycles are those of a core with its turns."""
    blocks = world.program.block_dim
    turns = -(-blocks // world.program.cores)

    def added(values: Integers) -> Integers:
        total: Integers = values.sum(axis=0, keepdims=True)
        return total

    def mean(values: Integers) -> Integers:
        return added(values) * turns // blocks

    misses = "icache misses"  # which are shown as cycles
    amounts = {name: added(values) for name, values in counters.amounts.items()}
    pipes = {
        name: Pipe(added(one.instructions), mean(one.busy), mean(one.wait), mean(one.stall))
        for name, one in counters.pipes.items()
    }
    return replace(
        counters,
        total_cycles=mean(counters.total_cycles),
        amounts=amounts | {misses: mean(counters.amount(misses))},
        pipes=pipes,
        internuclear={},
    )
