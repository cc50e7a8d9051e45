"""Groups of cores and their parts: biu_group, aic_core_group, aiv_core_group, and Biu Perf.

Of the first three each group and each core is a process. The time of a sample is the number of
cycles before it, as if a cycle took one us. In Biu Perf each core is a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ascend_ref.arrays import dictionary, integers, is_one_of, text_numbers
from ascend_ref.spill import batches
from ascend_spec.timeline import Layer

from ..events import Events, Item
from ..lookup import distinct
from ..notation import reals, wholes
from ..session import Session

FLOW, CYCLES, TRACE = "biu_flow", "biu_cycles", "biu_perf"
"""Extras of a recording."""
GROUPS, CUBES, VECTORS = "biu_group", "aic_core_group", "aiv_core_group"
INSTRUCTIONS = "Biu Perf"
CUBE = "aic"
VECTOR_CORES = 2
"""In a group; the first one has an odd number."""
NS_PER_US = 1000

QUANTITIES: Mapping[str, tuple[str, str]] = {
    "latency-read": ("Latency Read", "read_latency"),
    "latency-write": ("Latency Write", "write_latency"),
    "bandwidth-read": ("Bandwidth Read", "read_bandwidth"),
    "bandwidth-write": ("Bandwidth Write", "write_bandwidth"),
}
"""Thread, name and column of what a group is sampled for."""
PIPES = ("vector", "scalar", "cube", "mte1", "mte2", "mte3")
"""Threads and columns of what a core is sampled for."""


def unit_number(group: int, place: int) -> int:
    """The number of a process of a group (erratum T79): of the cube core 1, of the vector cores 2
    and 3, of the group itself 4.
    """
    return 4 * group + place


def groups(session: Session) -> Iterator[Item]:
    """Traffic of each group."""
    layer, table = session.layer(GROUPS), session.recorded.extras.get(FLOW)
    if layer is None or table is None:
        return
    device, group = integers(table["device"], 0), integers(table["group"], 0)
    cycles = session.recorded.extras.get(CYCLES)
    period = int(integers(cycles["period"])[0]) if cycles is not None and cycles.num_rows else 1
    for home, number in zip(*(one.tolist() for one in distinct(device, group)), strict=True):
        rows = np.flatnonzero((device == home) & (group == number))
        unit = unit_number(number, 4)
        yield from session.process(layer, home, unit, groupId=number)
        for tid, (thread, (name, column)) in enumerate(QUANTITIES.items()):
            yield from session.thread(layer, thread, home, unit)
            yield Events(
                layer=layer,
                kind=layer.event("flow"),
                start=np.arange(len(rows)) * period * NS_PER_US,
                device=home,
                thread=tid,
                unit=unit,
                parts={"quantity": name},
                args={"flow": wholes(integers(table[column], 0)[rows])},
            )


def cores(session: Session) -> Iterator[Item]:
    """How long the pipes of each core worked."""
    table = session.recorded.extras.get(CYCLES)
    if table is None:
        return
    columns = [integers(table[name], 0) for name in ("device", "group", "core")]
    is_cube = is_one_of(table["type"], [CUBE])
    for home, group, core, cube in zip(
        *(one.tolist() for one in distinct(*columns, is_cube.astype(np.int64))), strict=True
    ):
        rows = np.flatnonzero(
            (columns[0] == home) & (columns[1] == group) & (columns[2] == core) & (is_cube == cube)
        )
        second = (core + 1) % VECTOR_CORES
        layer = session.layer(CUBES if cube else VECTORS)
        if layer is not None:
            unit = unit_number(group, 1 if cube else 2 + second)
            parts = {"groupId": group, "coreId": core, "number": str(second)}
            yield from session.process(layer, home, unit, **parts)
            yield from _core(session, layer, home, unit, table.take(pa.array(rows)))


def instructions(session: Session) -> Iterator[Item]:
    """When the pipes of each core worked."""
    layer, table = session.layer(INSTRUCTIONS), session.recorded.extras.get(TRACE)
    if layer is None or table is None:
        return
    names = dictionary(table["core"])
    keys = [integers(table["device"], 0), integers(table["group"], 0), text_numbers(names)]
    cores = names.dictionary.to_pylist()
    every = zip(*(one.tolist() for one in distinct(*keys)), strict=True)
    found = sorted((home, group, cores[core], core) for home, group, core in every)
    for home in sorted({one[0] for one in found}):
        yield from session.process(layer, home)
        own = [one[1:] for one in found if one[0] == home]
        for tid, (group, name, core) in enumerate(own):
            yield from session.thread(layer, "core", home, groupId=group, coreType=name, index=tid)
            same = (keys[0] == home) & (keys[1] == group) & (keys[2] == core)
            rows = table.filter(pa.array(same))
            checkpoint = integers(rows["checkpoint"])
            yield from _instructions(
                session, layer, home, tid, rows.filter(pa.array(checkpoint < 0))
            )
            noted = rows.filter(pa.array(checkpoint >= 0))
            if len(noted):
                yield from _instructions(session, layer, home, tid, noted)


def _instructions(
    session: Session, layer: Layer, device: int, tid: int, table: pa.Table
) -> Iterator[Item]:
    for part in batches(len(table)):
        rows = table.slice(part.start, part.stop - part.start)
        checkpoint = integers(rows["checkpoint"])
        noted = {"Checkpoint Info": wholes(checkpoint)} if (checkpoint >= 0).all() else {}
        yield Events(
            layer=layer,
            kind=layer.event("instruction"),
            start=integers(rows["time"]),
            device=device,
            thread=tid,
            length=integers(rows["length"]),
            parts={"instruction": session.texts(rows, "instruction")},
            args={
                "Core Type": session.texts(rows, "core"),
                "Block Id": wholes(integers(rows["block"])),
                **noted,
            },
        )


def _core(
    session: Session, layer: Layer, device: int, unit: int, table: pa.Table
) -> Iterator[Item]:
    period = integers(table["period"], 1)
    start = (np.cumsum(period) - period) * NS_PER_US
    for tid, pipe in enumerate(PIPES):
        worked = integers(table[pipe], 0)
        yield from session.thread(layer, pipe, device, unit)
        yield Events(
            layer=layer,
            kind=layer.event("cycles"),
            start=start,
            device=device,
            thread=tid,
            unit=unit,
            length=worked * NS_PER_US,
            args={"cycle_num": wholes(worked), "ratio": reals(worked / np.maximum(period, 1))},
        )
