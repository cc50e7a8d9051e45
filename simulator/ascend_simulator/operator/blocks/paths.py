"""How often the memories of a core were asked: the rows of 0x09, and the paths of 0x08."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ascend_spec import bin_catalog
from ascend_spec.bin.model import PathSet
from ascend_spec.core import packaged

from ..chip import GIBI
from ..world import EPOCH
from .numbers import NOT_AVAILABLE, six
from .view import Report, Unit

ROWS = "memory_rows.yaml"
MAIN_MEMORY = (0, 1)
"""Paths between L2 and main memory, whose requests L2 counts itself (bin-blocks.md H6)."""
SECOND = "_2"
OF_VECTORS = ("UB Read Vector", "UB Write Vector", "Vector Read UB", "Vector Write UB")
"""Rows that the exporter leaves empty for operators with SIMT threads (950)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests and their bandwidth; texts as the file holds them. bytes: of one request."""

    requests: int | None
    bandwidth: float
    peak: str = NOT_AVAILABLE
    bytes: int = 0

    @property
    def request_text(self) -> str:
        """The number of requests."""
        return NOT_AVAILABLE if self.requests is None else str(self.requests)

    @property
    def bandwidth_text(self) -> str:
        """2^30 Byte/s."""
        return NOT_AVAILABLE if self.requests is None else six(self.bandwidth)


class MemoryFlows:
    """Requests of a report, by row and by path."""

    def __init__(self, report: Report) -> None:
        self.report = report

    @cached_property
    def tables(self) -> Mapping[str, Any]:
        """The tables of a block, by name."""
        return bin_catalog().memory.tables(self.report.family, self.report.op_type, EPOCH)

    @cached_property
    def paths(self) -> list[int]:
        """The paths of a block, ascending."""
        option = "transfers" if self.report.family == "910B" else "detail"
        extra = self._set.extra.get(option, ()) if self._detail else ()
        return sorted((*self._set.paths, *extra))

    @cached_property
    def _set(self) -> PathSet:
        found = bin_catalog().memory.path_set(self.report.family, self.report.op_type, EPOCH)
        if found is None:
            raise LookupError(f"no memory paths are known for {self.report.op_type}")
        return found

    @property
    def _detail(self) -> bool:
        return self.report.world.scenario.capture.memory_detail

    def row(self, block: int, table: str, name: str) -> Asked:
        """A row of a table about memories."""
        unit = self.unit(block, table)
        hidden = self.report.world.program.simt is not None and name in OF_VECTORS
        target = self._rows[name].get("as", name)
        facts = self._rows[target]
        if hidden:
            return Asked(None, 0.0)
        size = self._bytes[target]
        amount = sum(self.report.amount(unit, one) for one in facts["amounts"])
        return self._asked(unit, -(-amount // size), size, facts.get("peak"))

    def path(self, block: int, number: int) -> Asked:
        """A path."""
        if number in MAIN_MEMORY and self.report.family != "310P":
            return self._main_memory(block, number)
        place = self._places.get(number)
        apart = self._detail and number in self._set.apart_with_detail
        if place is not None and not apart:
            found = self.row(block, *place)
            with_peak = "peak(%)" in self.tables[place[0]].headers
            return found if with_peak else replace(found, peak=NOT_AVAILABLE)
        units = list(self.report.units(block))
        name = self._path_names[number]
        amounts = packaged(__package__, ROWS)[self.report.family]["paths"][number]
        unit = units[0]
        if self.report.mixed and name.startswith(("UB_", "DCACHE_", "L1_TO_UB")):
            unit = units[2 if name.endswith(SECOND) else 1]
        size = self.request_bytes(number)
        amount = sum(self.report.amount(unit, one) for one in amounts)
        return self._asked(unit, -(-amount // size), size, None)

    def request_bytes(self, path: int) -> int:
        """Bytes of one request of a path."""
        size = bin_catalog().memory.request_bytes(self.report.family, path, EPOCH)
        if size is None:
            raise LookupError(f"the size of a request on path {path} is not known")
        return size

    def _main_memory(self, block: int, number: int) -> Asked:
        """Main memory is read for every miss; it is written when a changed line leaves L2."""
        size = self.request_bytes(number)
        if number == 0:
            _, requests = self.report.cache(block, "read")
        else:
            requests = self.written_back(block)
            if self.report.family == "950":
                requests *= self.report.world.chip.cache.line // size
        return self._asked(next(self.report.units(block)), requests, size, None)

    def written_back(self, block: int) -> int:
        """Lines that a block made L2 write back: an equal share, at most what missed."""
        share = self.report.counters.written_lines // len(self.report.block_ids)
        return min(self.report.cache(block, "write")[1], share)

    def _asked(self, unit: Unit, requests: int, size: int, peak: str | None) -> Asked:
        time = self.report.memory_time(unit)
        bandwidth = requests * size * 1e6 / time / GIBI if time else 0.0
        limit = self.report.world.chip.transfer.get(peak) if peak else None
        shown = six(min(bandwidth, limit) * 100 / limit) if limit else NOT_AVAILABLE
        return Asked(requests, bandwidth, shown, size)

    def unit(self, block: int, table: str) -> Unit:
        """The sub-core that a table is about."""
        units = list(self.report.units(block))
        return units[1 + int(table[-1])] if table[:-1].endswith("Core") else units[0]

    @property
    def _rows(self) -> Mapping[str, Any]:
        rows: Mapping[str, Any] = packaged(__package__, ROWS)[self.report.family]["rows"]
        return rows

    @cached_property
    def _places(self) -> Mapping[int, tuple[str, str]]:
        """Table and name of the row that each path stands for."""
        return {
            path: (table, self.tables[table].rows[number])
            for path, (table, number) in self._set.rows.items()
            if number < len(self.tables[table].rows)
        }

    @cached_property
    def _bytes(self) -> Mapping[str, int]:
        """Bytes of a request, by name of the row."""
        known = {name: facts["bytes"] for name, facts in self._rows.items() if "bytes" in facts}
        for path, (_, name) in self._places.items():
            known[self._rows[name].get("as", name)] = self.request_bytes(path)
        return known

    @cached_property
    def _path_names(self) -> Mapping[int, str]:
        members = bin_catalog().enums["memory_paths"].members
        return {int(one.value): str(one.name) for one in members}
