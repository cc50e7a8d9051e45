"""Blocks 0x03 and 0x04: what source lines and instructions cost on each core or on all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ascend_ref.capture import Integers
from ascend_spec import bin_catalog

from ..program.listing import Instruction
from ..timing import ICACHE_MISS_CYCLES, ISSUE_CYCLES
from ..world import World
from .numbers import device_address, ranges, simulator_address, single
from .sampling import samples, sampling_columns
from .timeline import sub_cores

LINES, INSTRUCTIONS = 0x03, 0x04
ALL_CORES = "ALL"
NOT_APPLICABLE = -1
INT32_MAX = (1 << 31) - 1
"""Counts beyond this are cut: viewers read no more than 32 bits (bin-blocks.md 3.4)."""
REAL_STALLS = "RealStallCycles"
HEAD_COLUMNS = ("ICacheCycles", "CcuCycles", "ScalarCycles")
_REGISTER = re.compile(r"R[0-9]+")
_READS_ALL = ("STG", "BRA")
_READ, _WRITTEN = 1, 2


_SUMS = ("executed", "cycles", "stalls", "fetch", "queue")
"""Executions, and cycles: of all, between issue and start, of waiting for the instruction cache,
and for a place before the pipe.
"""
_EXTREMES = ("bytes", "utilization", "read_conflicts", "write_conflicts")
"""Byte to or from global memory; the least share of lanes in use, percent; the most cycles that one
execution lost to banks.
"""


class Listing:
    """The two blocks of one kernel; ``simulator``: in its form, core by core."""

    def __init__(self, world: World, *, simulator: bool) -> None:
        """Sum up the steps of a kernel: instructions by cores.

        What does not apply to an instruction is -1 in the columns of ``_EXTREMES``.
        """
        self.world, self.simulator = world, simulator
        self.address = simulator_address if simulator else device_address
        self.code = world.program.code.instructions
        ran = [core if simulator else ALL_CORES for _, _, core in sub_cores(world)]
        cores, column = np.unique(ran, return_inverse=True)
        self.cores: list[str] = cores.tolist()
        shape = (len(self.code), len(cores))
        self.sums = {name: np.zeros(shape, np.int64) for name in _SUMS}
        self.extremes = {name: np.full(shape, NOT_APPLICABLE, np.int64) for name in _EXTREMES}
        self._add_steps(column.reshape(world.program.block_dim, -1))
        self.used: list[int] = np.flatnonzero(self.sums["executed"].any(axis=1)).tolist()
        self.sampled = samples(world)
        self.hits, self.accesses = (
            np.bincount(world.transfers.code[world.lines.transfer], weights, shape[0])
            for weights in (world.fate.hit, None)
        )

    def lines(self) -> dict[str, Any]:
        """The payload of 0x03."""
        by_line: defaultdict[int, list[int]] = defaultdict(list)
        for place in self.used:
            by_line[self.code[place].line].append(place)
        rows = [self._line(line, by_line[line]) for line in sorted(by_line, key=str)]
        path = self.world.program.code.source.path
        return {
            "Cores": self.cores,
            "Files Dtype": {"Lines": self._declared(LINES, rows)},
            "Files": [{"Source": path, "Lines": rows}],
        }

    def instructions(self) -> dict[str, Any]:
        """The payload of 0x04."""
        rows = [self._instruction(place) for place in self.used]
        rows.sort(key=lambda row: str(row["Address"]))
        if self.simulator:
            for names in ((REAL_STALLS,), HEAD_COLUMNS):
                if not any(any(row[names[-1]]) for row in rows):
                    rows = [
                        {name: cell for name, cell in row.items() if name not in names}
                        for row in rows
                    ]
        return {
            "Cores": self.cores,
            "Instructions Dtype": {"Instructions": self._declared(INSTRUCTIONS, rows)},
            "Instructions": rows,
        }

    def _declared(self, code: int, rows: Sequence[dict[str, Any]]) -> dict[str, int]:
        """Types of the columns that are shown; what was not measured is written, not declared."""
        simt = self.world.program.simt is not None
        hidden = set()
        if not self.simulator:
            if not simt:
                hidden |= {
                    "GPR Count",
                    "GPR Status",
                    "Stall Sampling(All Samples)",
                    "Stall Sampling(Not Issue)",
                }
            if not self.world.scenario.capture.memory_detail:
                hidden.add("Process Bytes")
        columns = bin_catalog().columns[code]
        return {name: columns[name].dtype for name in rows[0] if name not in hidden}

    def _line(self, line: int, places: list[int]) -> dict[str, Any]:
        addresses = [self.code[place].address for place in places]
        found: dict[str, Any] = {
            "Line": line,
            "Address Range": ranges(addresses, self.address),
            "Instructions Executed": _cut(self.sums["executed"][places].sum(axis=0)),
        }
        moved = _moved(self.extremes["bytes"][places])
        registers = max(self.code[place].registers for place in places)
        if self.simulator:
            ran = self.sums["executed"][places].any(axis=0)
            return {
                **found,
                "Cycles": _cut(self.sums["cycles"][places].sum(axis=0)),
                "GPR Count": np.where(ran, registers, 0).tolist(),
                "Process Bytes": moved,
            }
        return {
            **found,
            "GPR Count": registers,
            "Process Bytes": moved[0],
            **self._of_chip(places),
        }

    def _instruction(self, place: int) -> dict[str, Any]:
        one = self.code[place]
        found: dict[str, Any] = {
            "Address": self.address(one.address),
            "AscendC Inner Code": f"{self.world.program.code.source.path}:{one.line}",
            "Source": one.text,
            "Pipe": one.pipe,
            "Instructions Executed": _cut(self.sums["executed"][place]),
        }
        moved = _moved(self.extremes["bytes"][[place]])
        if self.simulator:
            return {**found, **self._of_simulator(place, one), "Process Bytes": moved}
        return {
            **found,
            "GPR Count": one.registers,
            "GPR Status": self._registers(one),
            "Process Bytes": moved[0],
            **self._of_chip([place]),
        }

    def _of_simulator(self, place: int, one: Instruction) -> dict[str, Any]:
        sums = {name: values[place] for name, values in self.sums.items()}
        extremes = {name: values[place] for name, values in self.extremes.items()}
        return {
            "Cycles": _cut(sums["cycles"]),
            REAL_STALLS: _cut(sums["stalls"]),
            "ICacheCycles": _cut(sums["fetch"]),
            "CcuCycles": _cut(sums["queue"]),
            "ScalarCycles": _cut(sums["fetch"] + sums["queue"]),
            "GPR Count": np.where(sums["executed"] > 0, one.registers, 0).tolist(),
            "Vector Utilization Percentage": extremes["utilization"].astype(float).tolist(),
            "UB Read Conflict": _cut(extremes["read_conflicts"]),
            "UB Write Conflict": _cut(extremes["write_conflicts"]),
        }

    def _of_chip(self, places: list[int]) -> dict[str, Any]:
        """Columns that only one family of chips has."""
        if self.world.chip.family == "950":
            return sampling_columns(self.sampled[places].sum(axis=0), self.sampled.sum(axis=0))
        hits, total = (int(one[places].sum()) for one in (self.hits, self.accesses))
        return {"L2Cache Hit Rate": single(100 * hits / total) if total else float(NOT_APPLICABLE)}

    def _registers(self, one: Instruction) -> list[dict[str, Any]]:
        """What an instruction of a thread does to each register that it names."""
        simt = self.world.program.simt
        if simt is None or one not in simt.body:
            return []
        found = []
        reads_all = one.name.startswith(_READS_ALL)
        for number, name in enumerate(dict.fromkeys(_REGISTER.findall(one.operands))):
            last = max(
                place for place, other in enumerate(simt.body) if name in other.operands.split(",")
            )
            written = number == 0 and not reads_all and one.operands.startswith(name)
            found.append(
                {
                    "regIndex": name,
                    "regStatus": _WRITTEN if written else _READ,
                    "survivalTime": max(last - simt.body.index(one), 0),
                }
            )
        return found

    def _add_steps(self, column: Integers) -> None:
        """Add the steps of all tapes; ``column`` of a core, by block and unit."""
        for tape, timing in zip(self.world.program.tapes, self.world.timings, strict=True):
            lengths = timing.end - timing.start
            waits = timing.start - timing.issued
            queued = timing.issued - timing.fetched - ISSUE_CYCLES
            for number, step in enumerate(tape.steps):
                where = (step.instruction.index, column[tape.blocks, step.unit])
                values = {
                    "executed": 1,
                    "cycles": lengths[number],
                    "stalls": waits[number],
                    "fetch": ICACHE_MISS_CYCLES if step.cold else 0,
                    "queue": queued[number],
                }
                for name, value in values.items():
                    np.add.at(self.sums[name], where, value)
                if step.transfers:
                    found = self.extremes["bytes"]
                    found[where] = np.maximum(found[where], 0)
                    np.add.at(found, where, sum(one.size for one in step.transfers))
                if step.lanes is not None:
                    elements, held = step.lanes
                    share = elements * 100 // np.maximum(held, 1)
                    used = np.broadcast_to(share, len(tape.blocks))
                    old = self.extremes["utilization"][where]
                    self.extremes["utilization"][where] = np.where(
                        old < 0, used, np.minimum(old, used)
                    )
                    for name, lost in (
                        ("read_conflicts", step.conflicts - step.conflicts // 2),
                        ("write_conflicts", step.conflicts // 2),
                    ):
                        np.maximum.at(self.extremes[name], where, lost)
        simt = self.world.program.simt
        if simt is not None:
            for one in simt.body:
                self.sums["executed"][one.index] += int(simt.rounds.sum()) * simt.warps


def _cut(values: Integers) -> list[int]:
    cut: list[int] = np.minimum(values, INT32_MAX).tolist()
    return cut


def _moved(values: Integers) -> list[int]:
    """Bytes of some instructions by core; -1 where none of them moves any."""
    moved = np.where(values == NOT_APPLICABLE, 0, values).sum(axis=0)
    return _cut(np.where((values == NOT_APPLICABLE).all(axis=0), NOT_APPLICABLE, moved))
