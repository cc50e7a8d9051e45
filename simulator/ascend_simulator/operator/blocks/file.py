"""Which blocks a file holds, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from ascend_ref.bin import Block, canonical
from ascend_spec import bin_catalog
from ascend_spec.bin import PATH_TYPE, VERSIONED_TYPE
from ascend_spec.bin.model import Writer

from ..world import World
from .basic import basic_info
from .device_timeline import device_timeline
from .heat_map import heat_map
from .inter_core import inter_core_load
from .lines import Listing
from .loads import load_figure, load_table
from .records import cache_records, cachelines, memory_trace
from .roofline import roofline
from .sampling import top_stalls
from .simulator_timeline import simulator_timeline
from .tables import memory_tables
from .view import Report

VERSION = 0
"""Of blocks of type 0x04 (bin-blocks.md 3.4)."""

NOT_ON_310P = (0x01, 0x02, 0x03, 0x04, 0x0C)
"""What the exporter does not collect there: hot spots, marks of blocks, loads of single cores."""
ONLY_ON_910B = (0x0E,)
"""What it collects on that family alone, as long as not everything is asked for."""

OF_REPORT: dict[int, Callable[[Report], Any]] = {
    0x05: basic_info,
    0x06: load_figure,
    0x07: load_table,
    0x08: heat_map,
    0x09: memory_tables,
    0x0C: inter_core_load,
    0x0D: roofline,
}
OF_WORLD: dict[int, Callable[[World], Any]] = {
    0x0A: memory_trace,
    0x0B: cache_records,
    0x0E: cachelines,
    0x0F: top_stalls,
}
"""What makes the payload of a block, from the report or from the kernel itself."""


class File:
    """The file of one kernel that ran."""

    def __init__(self, world: World) -> None:
        self.world = world

    def blocks(self) -> Iterator[Block]:
        """Its blocks, in the order of the exporter; each is made when it is asked for."""
        for code in self.codes():
            payload = self._payload(code)
            if payload is None:
                continue
            path = self.world.program.code.source.path.encode() if code == PATH_TYPE else None
            if code == VERSIONED_TYPE:
                yield Block(code, payload, version=VERSION)
            else:
                yield Block(code, payload, path)

    def codes(self) -> list[int]:
        """The types that the file may hold, in their order."""
        mode, family = self.world.scenario.capture.mode, self.world.chip.family
        run: Writer = "simulator" if self._simulated else "device"
        known = bin_catalog().blocks.values()
        written = [block for block in known if run in block.written]
        written.sort(key=lambda block: block.written[run].place)
        left_out: set[int] = set()
        if not self._simulated and family == "310P":
            left_out.update(NOT_ON_310P)
        if mode == "everything":
            written += [block for block in known if block.experimental]
        elif family != "910B":
            left_out.update(ONLY_ON_910B)
        return [block.code for block in written if block.code not in left_out]

    def _payload(self, code: int) -> bytes | memoryview | None:
        made = self._made(code)
        return made if made is None or isinstance(made, bytes | memoryview) else canonical(made)

    def _made(self, code: int) -> Any:
        world = self.world
        match code:
            case 0x01:
                return world.program.code.source.text.encode()
            case 0x02:
                return simulator_timeline(world) if self._simulated else device_timeline(world)
            case 0x03:
                return self._listing.lines()
            case 0x04:
                return self._listing.instructions()
        return OF_REPORT[code](self.report) if code in OF_REPORT else OF_WORLD[code](world)

    @property
    def _simulated(self) -> bool:
        return self.world.scenario.capture.mode == "simulator"

    @cached_property
    def report(self) -> Report:
        """What the pages of figures are made of."""
        return Report.of(self.world)

    @cached_property
    def _listing(self) -> Listing:
        return Listing(self.world, simulator=self._simulated)
