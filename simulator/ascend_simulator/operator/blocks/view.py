"""The counters as a report shows them, by block, or in one sum on 310P; and what follows from them
for memories: the rows of 0x09, and the paths of 0x08.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

from ascend_ref.capture import Integers
from ascend_spec import bin_catalog
from ascend_spec.bin.model import PathSet
from ascend_spec.bin.sentinels import MAIN_MEMORY, NOT_AVAILABLE
from ascend_spec.core import packaged

from ..chip import GIBI
from ..counters import Counters, Pipe
from ..world import EPOCH, World
from .numbers import six

Core = Literal["cube", "vector"]
CORES: tuple[Core, ...] = get_args(Core)

ROWS = "memory_rows.yaml"
SECOND = "_2"
OF_VECTORS = ("UB Read Vector", "UB Write Vector", "Vector Read UB", "Vector Write UB")
"""Rows that the exporter leaves empty for operators with SIMT threads (950)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests; their bandwidth (2^30 Byte/s) and its share of the peak, as the file holds them."""

    requests: int | None = None
    bandwidth: str = NOT_AVAILABLE
    peak: str = NOT_AVAILABLE

    @property
    def request_text(self) -> str:
        """The number of requests."""
        return NOT_AVAILABLE if self.requests is None else str(self.requests)


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
        return self.world.microseconds(self.world.task_cycles)

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
            cores = tuple(one for one in CORES if self.world.chip.unified or name.startswith(one))
            vector = number - 1 if self.mixed and number else None
            yield Unit(name, cores, vector, (block, number))

    def cycles(self, unit: Unit) -> int:
        """Cycles of a sub-core."""
        return int(self.counters.total_cycles[unit.place])

    def amount(self, unit: Unit, name: str) -> int:
        """One of its amounts."""
        return int(self.counters.amount(name)[unit.place])

    def busy(self, unit: Unit, pipe: str) -> int:
        """Cycles in which one of its pipes worked."""
        return int(self.counters.pipe(pipe).busy[unit.place])

    def waits(self, unit: Unit, pipe: str) -> int:
        """Cycles in which one of its pipes waited for a flag."""
        return int(self.counters.pipe(pipe).wait[unit.place])

    @cached_property
    def memory_tables(self) -> Mapping[str, Any]:
        """The tables of a block, by name."""
        return bin_catalog().memory.tables(self.family, self.op_type, EPOCH)

    @cached_property
    def memory_paths(self) -> list[int]:
        """The paths of a block, ascending."""
        option = "transfers" if self.family == "910B" else "detail"
        extra = self._path_set.extra.get(option, ()) if self.memory_detail else ()
        return sorted((*self._path_set.paths, *extra))

    @cached_property
    def _path_set(self) -> PathSet:
        found = bin_catalog().memory.path_set(self.family, self.op_type, EPOCH)
        if found is None:
            raise LookupError(f"no memory paths are known for {self.op_type}")
        return found

    @property
    def memory_detail(self) -> bool:
        """Whether the run was instrumented."""
        return self.world.scenario.capture.memory_detail

    def memory_row(self, block: int, table: str, name: str) -> Asked:
        """A row of a table about memories."""
        unit = self.table_unit(block, table)
        if self.world.program.simt is not None and name in OF_VECTORS:
            return Asked()
        target = self._rows[name].get("as", name)
        facts, size = self._rows[target], self._row_bytes[target]
        amount = sum(self.amount(unit, one) for one in facts["amounts"])
        return self._asked(unit, -(-amount // size), size, facts.get("peak"))

    def memory_path(self, block: int, number: int) -> Asked:
        """A path."""
        if number in MAIN_MEMORY and self.family != "310P":
            return self._main_memory(block, number)
        place = self._places.get(number)
        apart = self.memory_detail and number in self._path_set.apart_with_detail
        if place is not None and not apart:
            found = self.memory_row(block, *place)
            with_peak = "peak(%)" in self.memory_tables[place[0]].headers
            return found if with_peak else replace(found, peak=NOT_AVAILABLE)
        units = list(self.units(block))
        name = self.path_names[number]
        amounts = packaged(__package__, ROWS)[self.family]["paths"][number]
        unit = units[0]
        if self.mixed and name.startswith(("UB_", "DCACHE_", "L1_TO_UB")):
            unit = units[2 if name.endswith(SECOND) else 1]
        size = self.request_bytes(number)
        amount = sum(self.amount(unit, one) for one in amounts)
        return self._asked(unit, -(-amount // size), size)

    def request_bytes(self, path: int) -> int:
        """Bytes of one request of a path."""
        size = bin_catalog().memory.request_bytes(self.family, path, EPOCH)
        if size is None:
            raise LookupError(f"the size of a request on path {path} is not known")
        return size

    def _main_memory(self, block: int, number: int) -> Asked:
        """Main memory is read for every miss; it is written when a changed line leaves L2."""
        size = self.request_bytes(number)
        if number == 0:
            _, requests = self.cache(block, "read")
        else:
            requests = self.written_back(block)
            if self.family == "950":
                requests *= self.world.chip.cache.line // size
        return self._asked(next(self.units(block)), requests, size)

    def written_back(self, block: int) -> int:
        """Lines that a block made L2 write back: an equal share, at most what missed."""
        share = self.counters.written_lines // len(self.block_ids)
        return min(self.cache(block, "write")[1], share)

    def _asked(self, unit: Unit, requests: int, size: int, peak: str | None = None) -> Asked:
        # Those of the whole task for a mix operator.
        time = self.duration if self.mixed else self.cycles(unit) / self.world.frequency
        bandwidth = requests * size * 1e6 / time / GIBI if time else 0.0
        limit = self.world.chip.transfer.get(peak) if peak else None
        shown = six(min(bandwidth, limit) * 100 / limit) if limit else NOT_AVAILABLE
        return Asked(requests, six(bandwidth), shown)

    def table_unit(self, block: int, table: str) -> Unit:
        """The sub-core that a table is about."""
        units = list(self.units(block))
        return units[1 + int(table[-1])] if table[:-1].endswith("Core") else units[0]

    @property
    def _rows(self) -> Mapping[str, Any]:
        rows: Mapping[str, Any] = packaged(__package__, ROWS)[self.family]["rows"]
        return rows

    @cached_property
    def _places(self) -> Mapping[int, tuple[str, str]]:
        """Table and name of the row that each path stands for."""
        return {
            path: (table, self.memory_tables[table].rows[number])
            for path, (table, number) in self._path_set.rows.items()
            if number < len(self.memory_tables[table].rows)
        }

    @cached_property
    def _row_bytes(self) -> Mapping[str, int]:
        """Bytes of a request, by name of the row."""
        known = {name: facts["bytes"] for name, facts in self._rows.items() if "bytes" in facts}
        for path, (_, name) in self._places.items():
            known[self._rows[name].get("as", name)] = self.request_bytes(path)
        return known

    @cached_property
    def path_names(self) -> Mapping[int, str]:
        """The names of all paths, by number."""
        members = bin_catalog().enums["memory_paths"].members
        return {int(one.value): str(one.name) for one in members}


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
