"""What groups of cores moved and how long their pipes worked, period by period.

Counters of cycles have 12 bits and go on from sample to sample, those of traffic have 24 bits and
are of one period (upstream-msprof BiuCoreParser). By which clock samples have times is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ascend_ref.capture import Capture, Integers, Records
from ascend_ref.capture.model import NONE
from ascend_ref.capture.records import FIRST_VECTOR_CORE, VECTOR_CORES
from ascend_spec import raw_catalog
from ascend_spec.raw.records import CYCLE_BITS, FLOW_BITS

from .instructions import RECORD as INSTRUCTIONS
from .machine import chip_of

FLOW, CYCLES = "biu_flow", "biu_cycles"
CUBE_FILE, VECTOR_FILE = "instr_group_aic", "instr_group_aiv"
CUBE, VECTOR = "aic", "aiv"
FREQUENCIES = ("instrProfilingFreq", "instr_profiling_freq")
"""Keys of sample.json that hold the cycles of a period; of both the first one counts."""
TRAFFIC: Mapping[str, tuple[str, ...]] = {
    "read_bandwidth": ("stat_flux_rd",),
    "write_bandwidth": ("stat_flux_wr",),
    "read_latency": ("stat_rlat_raw",),
    "write_latency": ("stat_wlat_raw_low", "stat_wlat_raw_high"),
}
PIPES: Mapping[str, tuple[str, ...]] = {
    "vector": ("vector_cycles",),
    "scalar": ("scalar_cycles",),
    "cube": ("cube_cycles",),
    "mte1": ("lsu1_cycles",),
    "mte2": ("lsu2_cycles",),
    "mte3": ("lsu3_cycles_low", "lsu3_cycles_high"),
}
"""Columns by the parts of a record that hold them, the lowest bits first."""
OTHERS = {CUBE: "vector", VECTOR: "cube"}
"""The pipe that a kind of core does not have; it counts nothing."""
_CYCLES_MASK, _FLOW_MASK = (1 << CYCLE_BITS) - 1, (1 << FLOW_BITS) - 1


class Core(NamedTuple):
    """A core of a group; ``vector``: which of its vector cores, NONE for the cube core."""

    group: int
    vector: int

    @property
    def type(self) -> str:
        """What the recording calls its kind."""
        return CUBE if self.vector == NONE else VECTOR

    @property
    def number(self) -> int:
        """Its number among all cores."""
        if self.vector == NONE:
            return self.group
        return FIRST_VECTOR_CORE + VECTOR_CORES * self.group + self.vector


class Own(NamedTuple):
    """A core with its rows in both records; of a vector core there is no traffic."""

    core: Core
    cycles: Integers
    flow: Integers


def cores_of(capture: Capture, device: int) -> Iterator[Own]:
    """The cores of a device in order of groups.

    Records of a cube core hold its cycles and the traffic of its group: one without the other is
    left out.
    """
    table = capture.records.get(CYCLES)
    if table is None:
        return
    texts = capture.texts.all
    kinds = np.array([texts[one] for one in table["type"].tolist()], object)
    flow = capture.records.get(FLOW, dict.fromkeys(("device", "group"), table["device"][:0]))
    for group in np.unique(table["group"][table["device"] == device]).tolist():
        moved = np.flatnonzero((flow["device"] == device) & (flow["group"] == group))
        for vector in (NONE, *range(VECTOR_CORES)):
            core = Core(group, vector)
            own = (table["device"] == device) & (table["group"] == group)
            own &= (table["core"] == core.number) & (kinds == core.type)
            rows = np.flatnonzero(own)
            if vector != NONE and len(rows):
                yield Own(core, rows, moved[:0])
            elif len(rows) and len(rows) == len(moved):
                yield Own(core, rows, moved)


def period_of(capture: Capture) -> int | None:
    """The cycles of a period; ``None`` where there are several or none."""
    table = capture.records.get(CYCLES)
    periods = np.unique(table["period"]).tolist() if table else []
    return periods[0] if len(periods) == 1 else None


def held_of_pipes(capture: Capture, lost: list[str]) -> Records:
    """The records as raw files hold them: without times, in the bits of the counters."""
    if chip_of(capture.origin) not in raw_catalog().files[CUBE_FILE].chips:
        return {}
    cores = [one for device in capture.origin.devices for one in cores_of(capture, device)]
    if not cores or period_of(capture) is None:
        return {}
    worked = _taken(capture, CYCLES, [one.cycles for one in cores])
    types = np.repeat([one.core.type for one in cores], [len(one.cycles) for one in cores])
    for kind, pipe in OTHERS.items():
        worked[pipe] = np.where(types == kind, 0, worked[pipe])
    found = {CYCLES: _counted(CYCLES, worked, PIPES, _CYCLES_MASK, lost)}
    if any(len(one.flow) for one in cores):
        moved = _taken(capture, FLOW, [one.flow for one in cores])
        found[FLOW] = _counted(FLOW, moved, TRAFFIC, _FLOW_MASK, lost)
    return found


def _taken(capture: Capture, record: str, rows: Sequence[Integers]) -> dict[str, Integers]:
    every = np.concatenate(rows)
    return {name: column[every] for name, column in capture.records[record].items()}


def _counted(
    record: str,
    columns: Mapping[str, Integers],
    counted: Mapping[str, tuple[str, ...]],
    mask: int,
    lost: list[str],
) -> Mapping[str, Integers]:
    """The record without its times, and with the lowest bits of what was counted."""
    kept: dict[str, Integers] = {}
    beyond = np.zeros(len(columns["device"]), np.bool_)
    for name, column in columns.items():
        if name in counted:
            beyond |= column > mask
            kept[name] = column & mask
        else:
            kept[name] = np.full(len(column), NONE) if name in ("time", "length") else column
    lost.append(f"the times of {record}")
    if beyond.any():
        lost.append(f"multiples of {mask + 1:,} in {record}")
    return kept


def pipe_settings(capture: Capture) -> dict[str, int]:
    """What sample.json states of the periods; a trace of instructions has none of its own."""
    traced = INSTRUCTIONS in capture.records and capture.switches.instr
    period = period_of(capture) or traced
    return {FREQUENCIES[0]: period} if period else {}
